"""A client of the Debug Adapter Protocol: sends requests, waits for their responses, and keeps the events."""

import json
from typing import IO, Any

# By command: what the specification requires of a response's body.
REQUIRED: dict[str, dict[str, type]] = {
    "threads": {"threads": list},
    "stackTrace": {"stackFrames": list},
    "scopes": {"scopes": list},
    "variables": {"variables": list},
    "source": {"content": str},
    "loadedSources": {"sources": list},
    "setBreakpoints": {"breakpoints": list},
    "setDataBreakpoints": {"breakpoints": list},
    "breakpointLocations": {"breakpoints": list},
    "dataBreakpointInfo": {"description": str},
    "evaluate": {"result": str, "variablesReference": int},
    "exceptionInfo": {"exceptionId": str, "breakMode": str},
}
# The same of the objects in a body's list.
REQUIRED_IN: dict[str, dict[str, type]] = {
    "threads": {"id": int, "name": str},
    "stackFrames": {"id": int, "name": str, "line": int, "column": int},
    "scopes": {"name": str, "variablesReference": int, "expensive": bool},
    "variables": {"name": str, "value": str, "variablesReference": int},
    "breakpoints": {},
    "sources": {"name": str},
}


class Refused(Exception):  # noqa: N818
    """A response without success; its message."""


class DapClient:
    def __init__(self, reading: IO[bytes], writing: IO[bytes]):
        self.reading, self.writing = reading, writing
        self.sent = self.received = 0
        self.refusal = ""
        self.events: list[dict[str, Any]] = []

    def send(self, command: str, arguments: Any = None) -> int:
        self.sent += 1
        message = {"seq": self.sent, "type": "request", "command": command}
        self.write(json.dumps(message if arguments is None else message | {"arguments": arguments}).encode())
        return self.sent

    def write(self, content: bytes) -> None:
        self.writing.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.writing.flush()

    def read(self) -> dict[str, Any] | None:
        """The next message, checked for what every message must have; None at the end."""
        header = self.reading.readline()
        if not header:
            return None
        assert header.startswith(b"Content-Length: ")
        assert self.reading.readline() == b"\r\n"
        message = json.loads(self.reading.read(int(header.split()[1])))
        self.received += 1
        assert message["seq"] == self.received
        assert message["type"] in ("response", "event")
        if message["type"] == "event":
            assert isinstance(message["event"], str)
            self.events.append(message)
        else:
            assert isinstance(message["success"], bool)
            assert message["success"] or "\n" not in message["message"]
        return message

    def ask(self, command: str, arguments: Any = None) -> dict[str, Any]:
        """Send a request and return its response's body, {} if it has none. Raises Refused."""
        number = self.send(command, arguments)
        while (message := self.read()) is not None:
            if message["type"] == "response" and message["request_seq"] == number:
                assert message["command"] == command
                if not message["success"]:
                    self.refusal = message["message"]
                    raise Refused(self.refusal)
                body = message.get("body", {})
                for name, type_ in REQUIRED.get(command, {}).items():
                    assert isinstance(body[name], type_), f"{command}: {name}"
                for name, fields in REQUIRED_IN.items():
                    for part in body.get(name, ()):
                        assert all(isinstance(part[field], kind) for field, kind in fields.items()), f"{command}: {part}"
                        assert name != "breakpoints" or command == "breakpointLocations" or isinstance(part["verified"], bool)
                return body
        raise AssertionError(f"no answer to {command}")

    def event(self, name: str) -> dict[str, Any]:
        """The body of the next event of this name, which is taken away."""
        while True:
            for event in self.events:
                if event["event"] == name:
                    self.events.remove(event)
                    return event.get("body", {})
            if self.read() is None:
                raise AssertionError(f"no event {name}")

    def begin(self, configuration: dict[str, Any], breakpoints: dict[str, list[dict[str, Any]]] | None = None) -> dict[str, Any]:
        """Go through the protocol's beginning, and return the first stop."""
        self.capabilities = self.ask("initialize", {"adapterID": "splatscope", "pathFormat": "path"})
        self.ask("launch", configuration)
        self.event("initialized")
        self.answers = [
            self.ask("setBreakpoints", {"source": {"path": path}, "breakpoints": lines})["breakpoints"]
            for path, lines in (breakpoints or {}).items()
        ]
        self.ask("configurationDone")
        return self.event("stopped")

    def move(self, command: str, thread: int = 1, **more: Any) -> dict[str, Any]:
        """Step or run, and return the stop."""
        self.ask(command, {"threadId": thread, **more})
        stop = self.event("stopped")
        assert isinstance(stop["reason"], str)
        return stop

    def top(self, thread: int = 1) -> dict[str, Any]:
        """The uppermost frame of a thread."""
        return self.ask("stackTrace", {"threadId": thread, "startFrame": 0, "levels": 1})["stackFrames"][0]

    def line(self, thread: int = 1) -> tuple[str, int]:
        """The function and the line where a thread is."""
        frame = self.top(thread)
        return frame["name"], frame["line"]

    def value(self, expression: str, thread: int = 1) -> str:
        return self.ask("evaluate", {"expression": expression, "frameId": self.top(thread)["id"], "context": "watch"})["result"]
