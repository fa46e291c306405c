"""Find out whether other machines can reach this server."""

import ipaddress

import psutil


def open_to_others() -> bool:
    """Return whether this process listens on an address other than loopback. A proxy on this machine goes undetected."""
    listening = [c.laddr.ip for c in psutil.Process().net_connections("inet") if c.status == psutil.CONN_LISTEN]
    return any(not ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in listening)
