"""Whether other machines can reach this server."""

import ipaddress

import psutil


def open_to_others() -> bool:
    """Return whether this process listens on an address that is not loopback; a proxy on this machine is not noticed."""
    listening = [c.laddr.ip for c in psutil.Process().net_connections("inet") if c.status == psutil.CONN_LISTEN]
    return any(not ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in listening)
