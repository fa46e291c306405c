"""What browsers send, forged: any values, messages to components, drafts, and their encoding on a page's socket."""

import base64
import gzip
import json
import math
import random
from typing import Any

from splatscope.web.runtime.receivers import Receiver

KINDS = [
    "apart",
    "ask",
    "check",
    "chunk",
    "clock",
    "compare",
    "drawn",
    "fix",
    "go",
    "join",
    "kernel",
    "lead",
    "measure",
    "open",
    "pause",
    "reset",
    "run",
    "save",
    "save-film",
    "save-gaussians",
    "save-picture",
    "save-state",
    "search",
    "set",
    "start",
    "step",
]
KEYS = [
    "adapter",
    "apart",
    "arguments",
    "array",
    "base",
    "buffer",
    "conformances",
    "constants",
    "count",
    "data",
    "defines",
    "draft",
    "entry",
    "example",
    "file",
    "filename",
    "files",
    "fill",
    "followed",
    "from",
    "functions",
    "group",
    "groups",
    "groups_said",
    "inputs",
    "key",
    "name",
    "number",
    "offset",
    "page",
    "recorded",
    "room",
    "same",
    "sampler",
    "seed",
    "sequence",
    "settings",
    "show",
    "source",
    "step",
    "stop",
    "text",
    "textures",
    "total",
    "type",
    "value",
    "what",
    "words",
]
WORDS = [
    "home",
    "train",
    "debugger",
    "bitonic-sort",
    "zeros",
    "file",
    "picture",
    "random",
    "noise",
    "formula",
    "number",
    "list",
    "index",
    "recording",
    "array:keys",
    "keys",
    "tint",
    "project",
    "page",
    "python",
    "perfetto",
    "linear",
    "8",
    "16",
    "-3",
    "0.5",
    "1e999",
    "nan",
    "inf",
]
ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 7, 2**31, 2**63, 10**400, 0.5, 1e308, math.inf, -math.inf, math.nan),
    *("", "\ud800", "\0", "a" * 5000, "1" * 5000, "[" * 300, "../../x", "<script>", "float4x4 m; //"),
    *(b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"\x89PNG\r\n", b"\xff\xd8\xff", b"x" * 100),
]
SOURCE = """RWStructuredBuffer<float> keys;
[shader("compute")]
[numthreads(4, 1, 1)]
void main(uint i : SV_GroupIndex) { keys[i] = 1; }
"""


class Forger:
    """Makes values and messages. The same seed makes the same ones."""

    def __init__(self, seed: object):
        self.random = random.Random(str(seed))
        self.names: list[str] = []  # of what the page at hand has

    def value(self, depth: int = 0) -> Any:
        """Return any value, small ones more often."""
        kind = self.random.random()
        if depth > 3 or kind < 0.6:
            return self.random.choice([self.random.choice(ODD), self.random.choice(WORDS + self.names)])
        if kind < 0.75:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return self.map(depth + 1)

    def map(self, depth: int = 0) -> dict[str, Any]:
        """Return a map from texts to any values."""
        keys = self.random.choices(KEYS + self.names, k=self.random.randrange(6))
        return {key: self.value(depth + 1) for key in keys}

    def message(self, receivers: dict[str, Receiver]) -> dict[str, Any]:
        """Return a message to a component: most of a kind that one of its receivers takes, with fields of the right types."""
        if not receivers or self.random.random() < 0.2:
            message = self.map() | {"type": self.random.choice(KINDS)}
            return message | ({"name": self.random.choice(self.names)} if self.names and self.random.random() < 0.5 else {})
        kind, receiver = self.random.choice(list(receivers.items()))
        fields = {name: self.typed(expected) for name, expected in receiver.fields.items() if self.random.random() < 0.95}
        if fields.pop("message", None) is not None:
            fields = self.random.choice([self.draft, self.chunk])() | fields
        return fields | {"type": kind}

    def typed(self, expected: Any) -> Any:
        """Return a value of a type, or any other now and then."""
        if self.random.random() < 0.1:
            return self.value()
        if expected is bool:
            return self.random.random() < 0.5
        if expected is int:
            return self.random.choice([0, 1, 2, 7, 300, -1, 2**31, 2**53, 2**63, 10**20, 10**400])
        if expected is float:
            return self.random.choice([0, 1.5, 7, -1, 1e30, 1e308, math.inf, math.nan, 10**400])
        if expected is str:
            return self.random.choice([*(odd for odd in ODD if isinstance(odd, str)), *WORDS, *self.names])
        return self.value() if expected is Any else self.map()

    def change(self) -> dict[str, Any]:
        """Return a change of a section's inputs, as JSON can hold it."""
        change = {"set": {self.random.choice(self.names): self.value() for _ in range(2)}, "fix": self.value(4)}
        return json.loads(json.dumps(change, default=str))

    def draft(self) -> dict[str, Any]:
        """Return a draft of the debugger's page, with a source that compiles in half of them."""
        draft = self.map() | {"inputs": {name: self.value(1) for name in ("keys", "tint", "picture", "linear")}}
        if self.random.random() < 0.5:
            draft["source"] = SOURCE
        return draft

    def chunk(self) -> dict[str, Any]:
        """Return the first part of a file, most often the only one."""
        data = self.random.choice([odd for odd in ODD if isinstance(odd, bytes)])
        total = len(data) if self.random.random() < 0.8 else self.value()
        name = self.random.choice(["recording", "array:keys", "picture", *self.names])
        return {"name": name, "filename": self.typed(str), "offset": 0, "total": total, "data": data}


def encoded(value: Any) -> Any:
    """Return a value as Bokeh encodes it for the socket."""
    match value:
        case bytes():
            return {"type": "bytes", "data": base64.b64encode(gzip.compress(value, 1)).decode()}
        case float() if not math.isfinite(value):
            return {"type": "number", "value": "nan" if math.isnan(value) else f"{'+' if value > 0 else '-'}inf"}
        case dict():
            return {"type": "map", "entries": [[name, encoded(part)] for name, part in value.items()]}
        case list():
            return [encoded(part) for part in value]
    return value
