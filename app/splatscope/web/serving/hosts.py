"""The names under which the server answers.

A page of another site can have its own name resolved to this machine, and would then be of the same origin as the app (DNS
rebinding). So the server answers only to names that nobody else can have: addresses, names without a dot, names of the local
network, this machine's own name, and those that the operator gives.
"""

import os
import re
import socket
from collections.abc import Collection, Iterable
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address

NAMES = "SPLATSCOPE_HOSTS"  # an environment variable: further names of this server, separated by spaces, or `*` for all
_LOCAL = (".localhost", ".local", ".lan", ".internal", ".home.arpa")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:\d{1,5})?", re.IGNORECASE)


def name_of(host: str) -> str:
    """Return the name in a Host header, in lower case and without the port; "" if it is malformed."""
    match = _HOST.fullmatch(host)
    name = match[1].strip("[]").lower() if match else ""
    return name.removesuffix(".") if "." in name.removesuffix(".") else name  # `ai.` may be a domain of its own, unlike `ai`


def answers_to(name: str, own_names: Collection[str], loopback: bool) -> bool:
    """Return whether the server answers to this name.

    Args:
        name: A name as from `name_of`.
        own_names: The names that the operator gave; `*` stands for all.
        loopback: Whether only this machine can reach the server.
    """
    if "*" in own_names or (name and name in own_names):
        return True
    address = _address(name)
    if loopback:
        return name == "localhost" or name.endswith(".localhost") or (address is not None and address.is_loopback)
    return address is not None or (bool(name) and "." not in name) or name.endswith(_LOCAL) or name in _machine_names()


def given_names() -> set[str]:
    """Return the names in the environment, in lower case."""
    return set(os.environ.get(NAMES, "").lower().split())


def is_loopback(sockets: Iterable[socket.socket]) -> bool:
    """Return whether all of these listening sockets are TCP sockets that only this machine can reach."""
    listeners = list(sockets)
    return bool(listeners) and all(
        listener.family in (socket.AF_INET, socket.AF_INET6) and ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback
        for listener in listeners
    )


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None


@cache
def _machine_names() -> set[str]:
    return {socket.gethostname().lower(), socket.getfqdn().lower()}
