"""Who can reach the server that this process is."""

import ipaddress

import psutil


def open_to_others() -> bool:
    """Whether this process listens where other machines can call. A proxy on this machine that passes calls on is not seen."""
    listening = [c.laddr.ip for c in psutil.Process().net_connections("inet") if c.status == psutil.CONN_LISTEN]
    return any(not ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in listening)
