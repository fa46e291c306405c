"""The messages of the Debug Adapter Protocol: framing, requests dispatched by name, responses and events. No kernels here."""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, TypeVar

MOST_BYTES = 2**20  # of a message from a client
_MOST_HEADER = 200  # bytes of a line of a header
_MOST_LINES = 8  # of a header
_MOST_WORDS = 200  # characters of a client's own text that a message repeats
_Method = TypeVar("_Method", bound=Callable[..., Any])


class FramingError(ValueError):
    """What was read is no message, and it is not known where the next one begins: the connection ends."""


class RequestError(ValueError):
    """A request cannot be answered. The message is one line for the user."""


def read_message(stream: IO[bytes]) -> bytes | None:
    """Return the next message's content, None at the end of the stream.

    A header has Content-Length, and perhaps Content-Type. Any other line is refused, so that a web page's request to the port is
    never taken for a message.

    Raises:
        FramingError: There is no header, or the message is longer than MOST_BYTES, or cut short.
    """
    length = None
    for _ in range(_MOST_LINES):
        line = stream.readline(_MOST_HEADER)
        if not line and length is None:
            return None
        name, colon, value = line.partition(b":")
        if line in (b"\r\n", b"\n") and length is not None:
            break
        match name.strip().lower(), value.strip():
            case b"content-length", digits if colon and digits.isdigit() and len(digits) < 16:
                length = int(digits)
            case b"content-type", _ if colon and line.endswith(b"\n"):
                pass
            case _:
                raise FramingError("This is no message of the Debug Adapter Protocol: it begins with “Content-Length: N”.")
    else:
        raise FramingError(f"A header has at most {_MOST_LINES} lines.")
    if length > MOST_BYTES:
        raise FramingError(f"A message has at most {MOST_BYTES:,} bytes, not {length:,}.")
    content = stream.read(length)
    if len(content) < length:
        raise FramingError("The stream ended within a message.")
    return content


def frame(message: dict[str, Any]) -> bytes:
    """Return a message's bytes, with its header."""
    content = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(content), content)


class Arguments:
    """The arguments of a request. Each method returns one of them by name, and raises RequestError if it has another type."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def _get(self, name: str, type_: type, default: Any, words: str) -> Any:
        value = self.values.get(name, default)
        if value is None and default is not None:
            value = default
        if not isinstance(value, type_) or (type_ is int and isinstance(value, bool)):
            raise RequestError(f"“{name}” must be {words}.")
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        """Return a whole number from 0; a missing one is `default`, or refused if that is None."""
        value = self._get(name, int, default, "a whole number from 0")
        if not 0 <= value < 2**53:
            raise RequestError(f"“{name}” must be a whole number from 0.")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; a missing one is `default`, or refused if that is None."""
        return self._get(name, str, default, "a text")

    def flag(self, name: str) -> bool:
        """Return whether a flag is set."""
        return self._get(name, bool, False, "true or false")

    def part(self, name: str) -> "Arguments":
        """Return an object; a missing one is empty."""
        return Arguments(self._get(name, dict, {}, "an object"))

    def parts(self, name: str) -> list["Arguments"]:
        """Return a list of objects; a missing one is empty."""
        values = self._get(name, list, [], "a list")
        if not all(isinstance(value, dict) for value in values):
            raise RequestError(f"“{name}” must be a list of objects.")
        return [Arguments(value) for value in values]

    def texts(self, name: str) -> list[str]:
        """Return a list of texts; a missing one is empty."""
        values = self._get(name, list, [], "a list")
        if not all(isinstance(value, str) for value in values):
            raise RequestError(f"“{name}” must be a list of texts.")
        return values


@dataclass(frozen=True)
class Reply:
    """The body of a response, and the events that follow it, by name with their bodies."""

    body: dict[str, Any] | None = None
    events: tuple[tuple[str, dict[str, Any]], ...] = ()


def request(command: str, *, in_background: bool = False) -> Callable[[_Method], _Method]:
    """Make a method answer the requests of a name. It takes Arguments and returns a Reply.

    If it runs in the background, other requests are read and answered meanwhile.
    """

    def mark(method: _Method) -> _Method:
        method.request = (command, in_background)  # ty: ignore[missing-attribute]
        return method

    return mark


class Connection:
    """One client. Threads may send at the same time; messages are numbered in the order in which they are written."""

    def __init__(self, reading: IO[bytes], writing: IO[bytes]) -> None:
        self._reading, self._writing = reading, writing
        self._lock = threading.Lock()
        self._sent = 0

    def serve(self, session: Any) -> None:
        """Read requests and have `session` answer them, by its methods with `@request`, until it `has_ended` or the stream does."""
        marked = [(getattr(session, name), method) for name, method in vars(type(session)).items() if hasattr(method, "request")]
        methods = {method.request[0]: (bound, method.request[1]) for bound, method in marked}
        while not session.has_ended:
            try:
                content = read_message(self._reading)
            except FramingError as error:
                self.output(str(error), "stderr")
                return
            if content is None:
                return
            self._take(content, methods)

    def _take(self, content: bytes, methods: dict[str, tuple[Callable[[Arguments], Reply], bool]]) -> None:
        try:
            message = json.loads(content)
        except (ValueError, RecursionError):
            message = None
        match message:
            case {"type": "request", "seq": int(number), "command": str(command)}:
                method, in_background = methods.get(command, (None, False))
            case {"type": "response" | "event"}:
                return
            case _:
                self.output("A message that is no request was left out: it needs “seq”, “type” and “command”.", "stderr")
                return
        answer = partial(self._answer, number, command, method, message.get("arguments"))
        if in_background:
            threading.Thread(target=answer, daemon=True).start()
        else:
            answer()

    def _answer(self, number: int, command: str, method: Callable[[Arguments], Reply] | None, values: Any) -> None:
        try:
            if method is None:
                raise RequestError(f"There is no request “{command[:_MOST_WORDS]}” here.")
            if not isinstance(values, dict | None):
                raise RequestError("“arguments” must be an object.")
            reply = method(Arguments(values or {}))
        except RequestError as error:
            self._fail(number, command, str(error))
        except Exception as error:  # nothing that a client sends may end the session
            self._fail(number, command, f"This could not be answered: {type(error).__name__}: {error}")
        else:
            self._send({"type": "response", "request_seq": number, "success": True, "command": command}, reply.body)
            for name, body in reply.events:
                self.event(name, body)

    def _fail(self, number: int, command: str, words: str) -> None:
        line = " ".join(words.split())
        head = {"type": "response", "request_seq": number, "success": False, "command": command, "message": line}
        self._send(head, {"error": {"id": 1, "format": line.replace("{", "(").replace("}", ")"), "showUser": True}})

    def event(self, name: str, body: dict[str, Any] | None = None) -> None:
        """Tell the client of an event."""
        self._send({"type": "event", "event": name}, body)

    def output(self, line: str, category: str = "console") -> None:
        """Show a line in the client's console."""
        self.event("output", {"category": category, "output": f"{line}\n"})

    def _send(self, message: dict[str, Any], body: dict[str, Any] | None) -> None:
        if body is not None:
            message["body"] = body
        with self._lock:
            self._sent += 1
            with suppress(OSError, ValueError):  # the client has gone, which reading finds out, too
                self._writing.write(frame({"seq": self._sent} | message))
                self._writing.flush()
