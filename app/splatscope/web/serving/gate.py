"""The gate of the server: how many connections and how much of what they send it holds, and which requests it passes to handlers.

A connection has one request at a time, as those of browsers do. Requests begin in turns of the visitors, whatever they ask for.

Tornado's server lets each connection send 100 MB and take an hour for it. No request of the app's pages has more than a few
kilobytes: files travel through the socket of a page, in pieces.
"""

import asyncio
import logging
import socket
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import unquote
from weakref import WeakKeyDictionary

from cachetools import LRUCache
from tornado.http1connection import HTTP1Connection
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPConnection, HTTPHeaders, HTTPMessageDelegate, RequestStartLine, ResponseStartLine
from tornado.ioloop import PeriodicCallback
from tornado.iostream import IOStream

from splatscope.web.serving.hosts import answers_to, given_names, is_loopback, name_of
from splatscope.web.turnstile import steps
from splatscope.workers import visitor

log = logging.getLogger(__name__)

IDLE_LIMIT = 30.0  # seconds for the headers of a request, and between two requests of a connection
BODY_LIMIT = 20.0  # seconds for the body of a request
MOST_HEADERS = 32 * 1024  # bytes
MOST_BODY = 32 * 1024  # bytes
MOST_UNHANDLED = 16 * 2**20  # bytes that an address has sent and no handler has taken, over all its connections
BACKLOG = 4096  # connections that the system holds until they are accepted, if it holds so many; Tornado would have 128
MOST_CONNECTIONS = 2000  # of one address, which may be that of a whole school
SEND_BUFFER = 128 * 1024  # bytes that the system holds of what a connection is sent
LOOK_EVERY = 5.0  # seconds
UNREAD_LOOKS = 6  # looks without a byte read after which a connection is closed
SPARE_FILES = 200  # descriptors that are left for files, workers and the sandbox
ROOM = 16_384  # connections in all, where the system allows as many
MOST_ADDRESSES = 4096  # whose visitors are remembered
MOST_HOSTS = 64  # Host headers that are remembered


@lru_cache(MOST_ADDRESSES)
def visitor_of(ip: str) -> str:
    """Return the visitor at a network address. Whoever has an IPv6 address has 2⁶⁴ of them: their network is the visitor."""
    with suppress(ValueError):
        address = ip_address(ip.partition("%")[0])
        if address.version == 6:
            mapped = address.ipv4_mapped
            return str(mapped) if mapped else str(ip_network((address, 64), strict=False).network_address)
    return ip


class Inflow:
    """The bytes that clients have sent and that no handler has taken yet, by visitor."""

    def __init__(self) -> None:
        self._held: dict[str, WeakKeyDictionary[Any, int]] = defaultdict(WeakKeyDictionary)
        self._sums: Counter[str] = Counter()

    def add(self, visitor: str, source: Any, count: int) -> bool:
        """Count bytes from a source, a stream or a socket. Return False if it is to be closed, since it holds most of too many.

        If another of the visitor's sources holds more, that one is closed in its place.
        """
        counts = self._held[visitor]
        counts[source] = counts.get(source, 0) + count
        self._sums[visitor] += count
        if self._sums[visitor] > MOST_UNHANDLED:
            self._sums[visitor] = sum(counts.values())  # without the sources that are gone
        while self._sums[visitor] > MOST_UNHANDLED:
            largest = max(counts, key=counts.__getitem__)
            if counts[largest] == counts[source]:
                return False
            log.warning("Closed a connection: it held most of the %d MB that an address may have under way.", MOST_UNHANDLED >> 20)
            self.taken(visitor, largest)
            largest.close()
        return True

    def move(self, source: Any, before: str, after: str) -> None:
        """Count what a source has sent for another visitor."""
        count = self._held[before].get(source, 0)
        self.taken(before, source)
        if count:
            self._held[after][source] = count
            self._sums[after] += count

    def taken(self, visitor: str, source: Any) -> None:
        """Note that what a source has sent was taken."""
        self._sums[visitor] -= self._held[visitor].pop(source, 0)
        if not self._held[visitor]:
            del self._held[visitor], self._sums[visitor]


inflow = Inflow()
# By connection, the visitor in `inflow`. Behind a proxy it is that of the last request, and "" before the first.
peers: WeakKeyDictionary[IOStream, str] = WeakKeyDictionary()


class Gate(HTTPServer):
    """A Tornado server with limits for each visitor and for all together."""

    def initialize(self, request_callback: Any, *args: Any, **options: Any) -> None:
        """Set Tornado's own limits."""
        limits = {"idle_connection_timeout": IDLE_LIMIT, "body_timeout": BODY_LIMIT}
        limits |= {"max_header_size": MOST_HEADERS, "max_body_size": MOST_BODY}
        super().initialize(request_callback, *args, **(options | limits))
        self._peers: dict[IOStream, str] = {}  # of the connections that are open
        self._counts: Counter[str] = Counter()  # of these, by peer
        self._idle: dict[str, dict[IOStream, None]] = defaultdict(dict)  # those without a request, the longest idle first
        self._most = _most_connections()
        self._written: WeakKeyDictionary[IOStream, tuple[int, int]] = WeakKeyDictionary()  # bytes, and looks without more
        self._looking: PeriodicCallback | None = None
        self._hosts: LRUCache[str, bool] = LRUCache(MOST_HOSTS)  # by Host header, whether the server answers to it
        self._names = given_names() | {name_of(origin) or origin for origin in getattr(request_callback, "websocket_origins", ())}

    def add_sockets(self, sockets: Iterable[socket.socket]) -> None:
        """Listen with room for a flood of connections. Those beyond it would be tried again after a second, honest ones as well."""
        sockets = list(sockets)
        for listening in sockets:
            listening.listen(BACKLOG)
        super().add_sockets(sockets)

    def _handle_connection(self, connection: socket.socket, address: Any) -> None:
        """Refuse a connection before anything is made for it, if there are too many: a flood of them must cost little."""
        if self._is_full(self._peer_of(address)) and not self._make_room(self._peer_of(address)):
            connection.close()
        else:
            super()._handle_connection(connection, address)

    def handle_stream(self, stream: IOStream, address: tuple) -> None:
        """Serve a connection."""
        peer = self._peer_of(address)
        self._peers[stream] = peer
        self._counts[peer] += 1
        signal = stream._signal_closed

        def closed() -> None:
            self._forget(stream)
            signal()

        stream._signal_closed = closed  # Tornado's own server has the callback for this
        _bound_inflow(stream, peer)
        with suppress(OSError):  # gone already, or no TCP socket
            assert stream.socket is not None
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        if self._looking is None:
            self._looking = PeriodicCallback(self._close_unread, 1000 * LOOK_EVERY)
            self._looking.start()
        super().handle_stream(stream, address)

    def _peer_of(self, address: Any) -> str:
        return visitor_of(address[0]) if isinstance(address, tuple) and address and not self.xheaders else ""

    def _is_full(self, peer: str) -> bool:
        """Return whether a peer, "" behind a proxy, has too many connections, or all peers together."""
        limit = min(MOST_CONNECTIONS, self._most // 2) if peer else self._most
        return len(self._peers) >= self._most or self._counts[peer] >= limit

    def _make_room(self, peer: str) -> bool:
        """Close the longest idle connection of the peer with most of these, for one with fewer. Return whether that was done.

        Nothing is closed for a peer that is at its own limit.
        """
        most = max(self._idle, key=lambda other: len(self._idle[other]), default=peer)
        if len(self._peers) < self._most or self._counts[most] <= self._counts[peer]:
            return False
        next(iter(self._idle[most])).close()
        return True

    def _forget(self, stream: IOStream) -> None:
        self.begins_request(stream)
        peer = self._peers.pop(stream, None)
        if peer is None:  # Tornado may signal the end of a stream again
            return
        self._counts[peer] -= 1
        if not self._counts[peer]:
            del self._counts[peer]

    def awaits_request(self, stream: IOStream) -> None:
        """Note that a connection has no request."""
        if (peer := self._peers.get(stream)) is not None:
            self._idle[peer][stream] = None

    def begins_request(self, stream: IOStream) -> None:
        """Note that a connection has one."""
        peer = self._peers.get(stream, "")
        if peer in self._idle:
            self._idle[peer].pop(stream, None)
            if not self._idle[peer]:
                del self._idle[peer]

    def stop(self) -> None:
        """Stop accepting connections, and looking after them."""
        if self._looking is not None:
            self._looking.stop()
            self._looking = None
        super().stop()

    def _close_unread(self) -> None:
        """Close connections whose other side reads nothing of what is being written to it."""
        for stream in [stream for stream in self._peers if stream.writing()]:
            written, looks = stream._total_write_done_index, 0
            before = self._written.get(stream)
            if before is not None and before[0] == written:
                looks = before[1] + 1
            self._written[stream] = written, looks
            if looks >= UNREAD_LOOKS:
                stream.close()

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> HTTPMessageDelegate:
        """Return the delegate that gets the parts of the next request."""
        assert isinstance(request_conn, HTTP1Connection)
        if request_conn.stream is not None:
            self.awaits_request(request_conn.stream)
        return _Door(self, super().start_request(server_conn, request_conn), request_conn)

    def refusal(self, start_line: RequestStartLine, headers: HTTPHeaders) -> tuple[int, str, str]:
        """Return why a request reaches no handler, as (status, reason, one line); status 0 if it does."""
        if "\0" in unquote(start_line.path):
            return 400, "Bad Request", "An address cannot contain a zero byte."
        if "Transfer-Encoding" in headers:
            return 411, "Length Required", "A body needs its length at the start: no page sends it in chunks."
        host = headers.get("Host", "")
        if host not in self._hosts:
            loopback = is_loopback(self._sockets.values())
            unix = not loopback and not _has_ports(self)
            self._hosts[host] = unix or answers_to(name_of(host), self._names, loopback)
        if self._hosts[host]:
            return 0, "", ""
        name = name_of(host)[:80] or "this name"
        message = f"This server does not answer to {name}. If that is its name, start it with: splatscope serve --host {name}"
        return 421, "Misdirected Request", message


class _Door(HTTPMessageDelegate):
    """Passes a request on, unless it is refused, and notes whom the work is for."""

    def __init__(self, gate: Gate, delegate: HTTPMessageDelegate, connection: HTTP1Connection) -> None:
        self._gate, self._delegate, self._connection = gate, delegate, connection
        self._refused = (0, "", "")
        self._has_body = True
        self._ended = False

    def headers_received(self, start_line: Any, headers: HTTPHeaders) -> Any:
        if self._connection.stream is not None:
            self._gate.begins_request(self._connection.stream)
        self._refused = self._gate.refusal(start_line, headers)
        self._has_body = start_line.method != "HEAD"
        headers.pop("X-Real-Ip", None)  # Tornado would prefer it, and not every proxy overwrites it
        if not self._refused[0]:
            received = self._delegate.headers_received(start_line, headers)
            if self._gate.xheaders:
                self._is_from(visitor_of(self._remote_ip))
            return received
        if "Transfer-Encoding" in headers:  # before its body is read
            self._refuse()
        return None

    def data_received(self, chunk: bytes) -> Any:
        return None if self._refused[0] or self._ended else self._delegate.data_received(chunk)

    def finish(self) -> None:
        self._ended = True
        stream = self._connection.stream
        assert stream is not None  # only a handler detaches it
        inflow.taken(peers.get(stream, ""), stream)
        if stream._read_buffer_size and not self._refused[0]:
            self._refused = 400, "Bad Request", "A connection sends its next request once it has the answer to the last."
        if self._refused[0]:
            self._refuse()
        else:
            visitor.work_for(visitor_of(self._remote_ip))
            self._beginning = asyncio.ensure_future(self._begin())

    @property
    def _remote_ip(self) -> str:
        return getattr(self._connection.context, "remote_ip", "")

    def _is_from(self, peer: str) -> None:
        """Note whose request it is that a proxy has passed on."""
        stream = self._connection.stream
        assert stream is not None
        inflow.move(stream, peers.get(stream, ""), peer)
        peers[stream] = peer

    async def _begin(self) -> None:
        """Let the handler begin, in its visitor's turn."""
        async with steps.turn():
            stream = self._connection.stream
            if stream is not None and not stream.closed():  # somebody still waits for the answer
                self._delegate.finish()
                await asyncio.sleep(0)  # the handler begins in the event loop's next round

    def _refuse(self) -> None:
        status, reason, message = self._refused
        body = message.encode() + b"\n"
        headers = {
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": str(len(body)),
            "Connection": "close",
            "X-Content-Type-Options": "nosniff",
        }
        chunk = body if self._has_body else None
        self._connection.write_headers(ResponseStartLine("HTTP/1.1", status, reason), HTTPHeaders(headers), chunk)
        self._connection.finish()
        stream = self._connection.stream
        self._connection.close()
        if stream is not None:  # Tornado would answer what it has read, also of a connection that is closed
            stream._read_buffer.clear()
            stream._read_buffer_size = 0

    def on_connection_close(self) -> None:
        self._ended = True
        if not self._refused[0]:
            self._delegate.on_connection_close()


def _bound_inflow(stream: IOStream, peer: str) -> None:
    """Close a connection when its peer has sent too much that is not taken yet."""
    read = stream.read_from_fd
    peers[stream] = peer

    def read_within_bounds(buf: bytearray | memoryview) -> int | None:
        count, peer = read(buf), peers[stream]
        if count and not inflow.add(peer, stream, count):
            log.warning("Closed a connection: its address has sent more than %d MB that nothing has taken.", MOST_UNHANDLED >> 20)
            stream.close()
            inflow.taken(peer, stream)
            return None
        return count

    stream.read_from_fd = read_within_bounds


def _has_ports(server: HTTPServer) -> bool:
    """Return whether a server listens on a TCP port, and not only on a socket file."""
    return any(isinstance(listening.getsockname(), tuple) for listening in server._sockets.values())


def _most_connections() -> int:
    """Return how many connections the process can hold, after raising its limit of open files as far as the system allows."""
    try:
        import resource  # not on Windows
    except ImportError:
        return ROOM
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = ROOM + SPARE_FILES if hard == resource.RLIM_INFINITY else min(hard, ROOM + SPARE_FILES)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < target:
        with suppress(ValueError, OSError):  # macOS allows less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
            soft = target
    return max(32, min(ROOM, soft - SPARE_FILES))
