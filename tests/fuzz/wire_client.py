"""Requests as bytes, and whatever answers them; messages on a page's socket."""

import asyncio
import io
import json
import random
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import parse_headers

from tornado.httpclient import HTTPError
from tornado.websocket import WebSocketClosedError

from helpers.page_socket import PageSocket

from .request_cases import Request, Talk

PATIENCE = 60.0  # seconds for an answer: work for others may come before it
MOST_BODY = 8 * 2**20  # bytes of an answer that are read


@dataclass
class Answer:
    """An answer, or in a word why there is none. `headers` have lower-case names."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    failure: str = ""


class Client:
    """A client with an address of its own, whose connection stays open as long as the server leaves it open."""

    def __init__(self, port: int, number: int):
        self._port, self._number = port, number
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    def close(self) -> None:
        """Leave."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def send(self, request: Request) -> Answer:
        """Send a request and return its answer."""
        reused = self._streams is not None
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await self._exchange(request)
        except TimeoutError:
            self.close()
            return Answer(failure=f"no answer in {PATIENCE:.0f} s")
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            self.close()
            return await self.send(request) if reused else Answer(failure="closed")
        if request.is_malformed or answer.headers.get("connection", "").lower() == "close":
            self.close()
        return answer

    async def _exchange(self, request: Request) -> Answer:
        if self._streams is None:
            source = (f"127.0.0.{2 + self._number}", 0)
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, local_addr=source, limit=2**20)
        reader, writer = self._streams
        writer.write(request.raw(self._port))
        with suppress(OSError):  # a refusal may come before all is sent
            await writer.drain()
            if request.damage:  # it may be incomplete
                writer.write_eof()
        status = 100
        while status // 100 == 1 and status != 101:
            head = io.BytesIO(await reader.readuntil(b"\r\n\r\n"))
            status = int(head.readline().split(maxsplit=2)[1])
            headers = {name.lower(): value for name, value in parse_headers(head).items()}
        return Answer(status, headers, await self._body(request, status, headers))

    async def _body(self, request: Request, status: int, headers: dict[str, str]) -> bytes:
        if request.method == "HEAD" or status in (101, 204, 304):
            if status == 101:
                self.close()
            return b""
        body = bytearray()
        reader = self._streams[0]
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int((await reader.readline()).split(b";")[0], 16):
                body += (await reader.readexactly(size + 2))[:-2]
                if headers.get("cache-control") == "no-store" or len(body) > MOST_BODY:  # goes on: leave
                    self.close()
                    break
            else:
                await reader.readline()
        elif "content-length" in headers:
            body += await reader.readexactly(int(headers["content-length"]))
        else:
            body += await reader.read(MOST_BODY)
            self.close()
        if headers.get("content-encoding") == "gzip":
            return zlib.decompressobj(31).decompress(bytes(body))
        return bytes(body)


async def talk(port: int, made: Talk) -> str:
    """Open a page, send its messages, and return what is wrong: that it does not open. The server may close the connection."""
    address = f"http://localhost:{port}/app"
    try:
        async with asyncio.timeout(2 * PATIENCE):
            visitor = await PageSocket.come(address, made.query)
            listening = asyncio.create_task(_listen(visitor))
            await visitor.event("document_ready", [])
            rng = random.Random(made.number)
            with suppress(WebSocketClosedError):
                for parts in made.parts(visitor, rng):
                    for part in parts:
                        await visitor.socket.write_message(part, binary=isinstance(part, bytes))
                    if rng.random() < 0.1:
                        await asyncio.sleep(0.02)  # what was begun goes on
            listening.cancel()
            visitor.socket.close()
    except TimeoutError:
        return "a page did not open"
    except (HTTPError, OSError, WebSocketClosedError) as error:
        status = getattr(error, "code", 0)
        return "" if status == 503 else f"a page did not open: {json.dumps(str(error))[:100]}"
    return ""


async def _listen(visitor: PageSocket) -> None:
    while await visitor.socket.read_message() is not None:
        pass
