"""The gate of the server: connections and requests that no handler gets to see."""

import asyncio
import contextlib
import gc
import socket

import pytest
from tornado.web import Application, RequestHandler

from splatscope.web.serving import gate
from splatscope.web.serving.gate import BACKLOG, Gate, Inflow, visitor_of
from splatscope.workers import visitor

LARGE = 2**25  # more than the buffers of both sides hold


class Answer(RequestHandler):
    def get(self):
        self.write(bytes(LARGE) if self.request.path == "/large" else visitor.address())

    def post(self):
        self.write(str(len(self.request.body)))


class Client:
    """A connection that sends exactly what it is told to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.reader, self.writer = reader, writer

    async def ask(self, request: str) -> str:
        """Send a request and return status line and body; "" if the connection was closed."""
        with contextlib.suppress(ConnectionError):
            self.writer.write(request.replace("\n", "\r\n").encode())
            await self.writer.drain()
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
            length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0] or 0)
            return head.partition("\r\n")[0] + " | " + (await self.reader.readexactly(length)).decode()
        return ""

    async def is_closed(self) -> bool:
        """Wait until the other side closes the connection."""
        with contextlib.suppress(ConnectionError):
            return not await self.reader.read()
        return True


class Source:
    """A stream or a socket."""

    closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def serve():
    """`serve(scenario, **options)` runs `scenario(connect)` against a server; `connect(address)` opens a connection from there."""

    def run(scenario, **options):
        async def main():
            server = Gate(Application([("/.*", Answer)]), **options)
            listening = socket.create_server(("127.0.0.1", 0))
            listening.setblocking(False)
            server.add_sockets([listening])
            port = listening.getsockname()[1]
            clients = []

            async def connect(address: str = "127.0.0.1") -> Client:
                client = Client(*await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0)))
                clients.append(client)
                return client

            try:
                return await scenario(connect)
            finally:
                for client in clients:
                    client.writer.close()
                server.stop()
                await server.close_all_connections()

        with asyncio.Runner() as runner:
            return runner.run(asyncio.wait_for(main(), 60))

    return run


GET = "GET / HTTP/1.1\nHost: localhost\n\n"


def test_a_flood_of_connections_has_room_to_wait_in():
    listened = []

    class Listening(socket.socket):
        def listen(self, backlog: int = 128) -> None:
            listened.append(backlog)
            super().listen(backlog)

    async def scenario():
        server = Gate(Application([("/.*", Answer)]))
        with Listening() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.setblocking(False)
            server.add_sockets(iter([listening]))
            server.stop()

    asyncio.run(scenario())
    assert listened == [BACKLOG]


def test_work_is_for_the_address_of_the_client(serve):
    async def scenario(connect):
        return [await (await connect(address)).ask(GET) for address in ("127.0.0.1", "127.0.0.2")]

    assert serve(scenario) == ["HTTP/1.1 200 OK | 127.0.0.1", "HTTP/1.1 200 OK | 127.0.0.2"]


def test_behind_a_proxy_it_is_the_forwarded_address_and_otherwise_that_is_ignored(serve):
    async def scenario(connect):
        return await (await connect()).ask("GET / HTTP/1.1\nHost: localhost\nX-Forwarded-For: 9.8.7.6\n\n")

    assert serve(scenario, xheaders=True).endswith("| 9.8.7.6")
    assert serve(scenario).endswith("| 127.0.0.1")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:5006", "", "a b", "localhost\nHost: evil.example"])
def test_a_request_for_another_name_reaches_no_handler(serve, host):
    async def scenario(connect):
        return await (await connect()).ask(f"GET / HTTP/1.1\nHost: {host}\n\n")

    answer = serve(scenario)
    assert answer.startswith(("HTTP/1.1 421", "HTTP/1.1 400")) or answer == ""
    assert "evil" not in answer or "does not answer to" in answer


def test_a_connection_ends_with_a_request_for_another_name(serve):
    async def scenario(connect):
        client = await connect()
        return await client.ask("GET / HTTP/1.1\nHost: evil.example\n\n"), await client.is_closed()

    refused, is_closed = serve(scenario)
    assert refused.startswith("HTTP/1.1 421")
    assert is_closed


def test_the_operator_gives_further_names(serve, monkeypatch):
    monkeypatch.setenv("SPLATSCOPE_HOSTS", "books.example.org other.example.org")

    async def scenario(connect):
        client = await connect()
        return [await client.ask(f"GET / HTTP/1.1\nHost: {name}\n\n") for name in ("Books.example.org", "evil.example")]

    own, other = serve(scenario)
    assert own.startswith("HTTP/1.1 200")
    assert other.startswith("HTTP/1.1 421")


def test_an_address_with_a_zero_byte_reaches_no_handler(serve):
    async def scenario(connect):
        return await (await connect()).ask("GET /static/%00 HTTP/1.1\nHost: localhost\n\n")

    assert serve(scenario) == "HTTP/1.1 400 Bad Request | An address cannot contain a zero byte.\n"


def test_a_body_is_bounded_before_it_is_read(serve):
    async def scenario(connect):
        small = await (await connect()).ask("POST / HTTP/1.1\nHost: localhost\nContent-Length: 5\n\n12345")
        large = await (await connect()).ask(f"POST / HTTP/1.1\nHost: localhost\nContent-Length: {gate.MOST_BODY + 1}\n\n")
        chunked = await connect()
        pieces = "".join(f"2000\n{'x' * 0x2000}\n" for _ in range(gate.MOST_BODY // 0x2000 + 1))
        endless = await chunked.ask("POST / HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n" + pieces)
        return small, large, endless

    small, large, endless = serve(scenario)
    assert small == "HTTP/1.1 200 OK | 5"
    assert "200" not in large
    assert "200" not in endless


def test_a_body_in_chunks_is_refused_before_it_is_read(serve):
    async def scenario(connect):
        client = await connect()
        answer = await client.ask("POST / HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n1\nx\n")
        return answer, await client.is_closed()

    answer, closed = serve(scenario)
    assert answer.startswith("HTTP/1.1 411 ")
    assert closed


def test_unfinished_headers_and_bodies_end_with_their_connection(serve, monkeypatch):
    monkeypatch.setattr(gate, "IDLE_LIMIT", 0.3)
    monkeypatch.setattr(gate, "BODY_LIMIT", 0.3)

    async def scenario(connect):
        for unfinished in ("GET / HTTP/1.1\r\nHost: local", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n1"):
            client = await connect()
            client.writer.write(unfinished.encode())
            assert await client.is_closed()
        assert await (await connect()).is_closed(), "nor does one wait that sends nothing"

    serve(scenario)


def test_one_address_has_some_connections_and_another_has_its_own(serve, monkeypatch):
    monkeypatch.setattr(gate, "MOST_CONNECTIONS", 5)

    async def scenario(connect):
        held = [await connect("127.0.0.2") for _ in range(5)]
        for client in held:
            client.writer.write(b"GET / HTTP/1.1\r\n")
        await asyncio.sleep(0.1)
        assert await (await connect("127.0.0.2")).is_closed()
        assert (await (await connect("127.0.0.1")).ask(GET)).startswith("HTTP/1.1 200")
        for client in held:
            client.writer.close()
        await asyncio.sleep(0.1)
        gc.collect()
        assert (await (await connect("127.0.0.2")).ask(GET)).startswith("HTTP/1.1 200"), "closed connections do not count"

    serve(scenario)


def test_all_connections_together_are_bounded(serve, monkeypatch):
    monkeypatch.setattr(gate, "_most_connections", lambda: 6)

    async def scenario(connect):
        held = [await connect(address) for address in ("127.0.0.2", "127.0.0.3") for _ in range(3)]
        await asyncio.sleep(0.1)
        assert await (await connect("127.0.0.3")).is_closed()
        late = [await connect(f"127.0.0.{number}") for number in (4, 5)]
        await asyncio.sleep(0.1)
        open_ = [client for client in [*held, *late] if not client.reader.at_eof()]
        assert len(open_) == 6

    serve(scenario)


def test_where_there_is_no_room_an_idle_connection_of_whoever_has_most_makes_it(serve, monkeypatch):
    monkeypatch.setattr(gate, "_most_connections", lambda: 8)

    async def scenario(connect):
        many = [await connect("127.0.0.3") for _ in range(4)]
        few = [await connect("127.0.0.4") for _ in range(3)]
        assert (await many[0].ask(GET)).startswith("HTTP/1.1 200")  # it has been idle for less long than the others
        other = await connect("127.0.0.5")
        assert (await other.ask(GET)).startswith("HTTP/1.1 200")
        late = await connect("127.0.0.6")
        assert (await late.ask(GET)).startswith("HTTP/1.1 200")
        assert await many[1].is_closed()
        assert (await many[0].ask(GET)).startswith("HTTP/1.1 200")
        return [(await one.ask(GET))[:12] for one in few]

    assert serve(scenario) == ["HTTP/1.1 200"] * 3


def test_an_address_that_sends_more_than_is_taken_loses_its_connection(serve, monkeypatch):
    monkeypatch.setattr(gate, "MOST_UNHANDLED", 3 * 20_000)

    async def scenario(connect):
        clients = [await connect("127.0.0.2") for _ in range(5)]
        for client in clients:
            client.writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 25000\r\n\r\n" + b"x" * 20_000)
        await asyncio.sleep(0.3)
        gone = [client for client in clients if client.reader.at_eof()]
        assert 1 <= len(gone) <= 3
        assert (await (await connect("127.0.0.1")).ask(GET)).startswith("HTTP/1.1 200")
        for client in clients:
            if client not in gone:
                client.writer.write(b"x" * 5_000)
                assert (await client.reader.readline()).startswith(b"HTTP/1.1 200"), "the others are served"
        finished = await connect("127.0.0.2")
        for _ in range(10):
            assert (await finished.ask(f"POST / HTTP/1.1\nHost: localhost\nContent-Length: 20000\n\n{'x' * 20_000}")).endswith(
                "20000"
            )

    serve(scenario)


def test_who_reads_nothing_of_an_answer_loses_the_connection(serve, monkeypatch):
    monkeypatch.setattr(gate, "LOOK_EVERY", 0.1)

    async def scenario(connect):
        client, slow = await connect(), await connect()
        for one in (client, slow):
            one.writer.transport.pause_reading()
            one.writer.write(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for _ in range(12):
            await asyncio.sleep(0.1)
            slow.writer.transport.resume_reading()
            await slow.reader.read(2**16)
        client.writer.transport.resume_reading()
        received = 0
        with contextlib.suppress(ConnectionError):
            while part := await client.reader.read(2**20):
                received += len(part)
        assert received < LARGE, "it was closed before its end"
        received = 0
        while received < LARGE - 2**21 and (part := await slow.reader.read(2**20)):
            received += len(part)
        assert received >= LARGE - 2**21, "who reads slowly is served"

    serve(scenario)


def test_what_a_source_sent_counts_until_it_is_taken_or_gone():
    inflow, first, second = Inflow(), Source(), Source()
    most = gate.MOST_UNHANDLED
    assert inflow.add("a", first, most)
    assert not inflow.add("a", first, 1)
    assert inflow.add("b", second, most), "each visitor has an account"
    inflow.taken("a", first)
    assert inflow.add("a", second, most - 1)
    del second
    gc.collect()
    assert inflow.add("a", first, most), "what is gone does not count"


def test_the_connection_that_holds_most_is_closed_and_not_the_one_that_sends_next():
    inflow, small, large = Inflow(), Source(), Source()
    assert inflow.add("a", large, gate.MOST_UNHANDLED - 10)
    assert inflow.add("a", small, 20)
    assert (large.closed, small.closed) == (True, False)
    assert inflow.add("a", small, gate.MOST_UNHANDLED - 20), "what was closed does not count"


def test_what_a_proxy_passes_on_counts_for_its_visitor():
    inflow, source, other = Inflow(), Source(), Source()
    inflow.add("", source, gate.MOST_UNHANDLED)
    inflow.move(source, "", "a")
    assert inflow.add("", other, gate.MOST_UNHANDLED)
    assert not inflow.add("a", source, 1)


def test_a_connection_has_one_request_at_a_time(serve):
    async def scenario(connect):
        client = await connect()
        return await client.ask(GET * 50), await client.is_closed()

    refused, is_closed = serve(scenario)
    assert refused.startswith("HTTP/1.1 400 Bad Request | A connection sends its next request once")
    assert is_closed


def test_what_is_left_of_requests_that_nobody_waits_for_is_not_answered(serve, monkeypatch):
    answered = []
    monkeypatch.setattr(Answer, "prepare", lambda self: answered.append(self))

    async def scenario(connect):
        for _ in range(20):
            client = await connect()
            client.writer.write(GET.replace("\n", "\r\n").encode() * 500)
            client.writer.close()
        await asyncio.sleep(0.2)

    serve(scenario)
    assert len(answered) <= 20


def test_the_address_that_a_client_makes_up_itself_is_ignored(serve):
    async def scenario(connect):
        headers = "X-Forwarded-For: 1.1.1.1, 9.8.7.6\nX-Real-Ip: 2.2.2.2"
        return await (await connect()).ask(f"GET / HTTP/1.1\nHost: localhost\n{headers}\n\n")

    assert serve(scenario, xheaders=True).endswith("| 9.8.7.6")


@pytest.mark.parametrize(
    ("ip", "visitor"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("0.0.0.0", "0.0.0.0"),
        ("no address", "no address"),
    ],
)
def test_a_visitor_is_an_address_or_an_ipv6_network(ip, visitor):
    assert visitor_of(ip) == visitor
