"""Every request that readers send, and what came of it."""

import asyncio
import re
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PATIENCE = 180.0  # seconds after which a request counts as lost: a check and a recording may take 80 s each by their own limits
DOCUMENTED = (
    # workers/connection.py
    r"The process that compiled and ran this kernel was lost: ",
    r"The kernel ran longer than [\d.]+ s and was stopped\. ",
    r"The process was lost while it was (?:reading the (?:picture|state file)|opening this recording)",
    r"The server was too busy: this took longer than [\d.]+ s and was stopped\. ",
    r"The server's kernels are starting again\. ",
    # workers/sandbox/failure_messages.py and supervisor.py
    r"The process in which this kernel was compiled and run died",
    r"The compiler or the driver died on this kernel as it is written",
    r"This kernel compiles, but the compiler or the driver died on its recorded form",
    r"The process died when the driver compiled the recorded kernel or ran it",
    r"The kernel was recorded to its end; the process died when it ran as it is written",
    r"The compiler died on this source",
    r"The process ended while .*, without an error of its own",
    r"The compiler took longer than ",
    r"The kernel took longer than ",
    r"After \d+ s (?:the|this) ",
    r"The process died while it was (?:opening|exporting) this recording",
    r"The recorded kernel ended, but the kernel as it is written did not within ",
    r"The sandbox for sources from pages does not start: ",
    # web/training/training_session.py
    r"The worker process of this run was (?:lost|stopped, because .*)\. The run continues from iteration [\d,]+ on a new one\.",
)
_DOCUMENTED = re.compile("|".join(DOCUMENTED))


class RefusedError(Exception):
    """The app answered with one line that says why it could not do what was asked."""


def is_documented(words: str) -> bool:
    """Return whether this is one line of those that the app says when a process that it needs was lost."""
    return "\n" not in words.strip() and bool(_DOCUMENTED.match(words))


class Ledger:
    """The requests of all readers.

    Attributes:
        sent: Of each kind of request how many were sent.
        answered: Of each kind the seconds that answers took.
        refused: How often each line was the answer, its numbers left out.
        dropped: Of each kind how many were given up by their reader.
        up: Set while the server is there, or should be.
        faults: What may not happen: requests that were lost, undocumented errors, broken connections.
    """

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self.answered: defaultdict[str, list[float]] = defaultdict(list)
        self.refused: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self.up = asyncio.Event()
        self.up.set()
        self.faults: list[str] = []
        self._open: dict[object, tuple[str, float]] = {}

    @asynccontextmanager
    async def request(self, kind: str, patience: float = PATIENCE) -> AsyncIterator[None]:
        """Count a request that is sent and answered within. One that is refused raises nothing.

        Raises:
            CancelledError: Its reader left.
        """
        began, key = time.monotonic(), object()
        self.sent[kind] += 1
        self._open[key] = kind, began
        try:
            async with asyncio.timeout(patience):
                yield
            self.answered[kind].append(time.monotonic() - began)
        except RefusedError as error:
            words = str(error)
            self.refused[re.sub(r"\d[\d,.]*", "N", words)[:120]] += 1
            if not is_documented(words):
                self.faults.append(f"{kind}: {words[:300]!r} is not documented")
        except TimeoutError:
            self.faults.append(f"{kind}: no answer within {patience:.0f} s")
        except asyncio.CancelledError:
            self.dropped[kind] += 1
            raise
        except Exception as error:
            self.faults.append(f"{kind}: {type(error).__name__}: {str(error)[:300]}")
        finally:
            del self._open[key]

    @property
    def waiting(self) -> list[str]:
        """What is not answered yet, with how long that has been."""
        now = time.monotonic()
        return [f"{kind} for {now - began:.0f} s" for kind, began in self._open.values()]

    @property
    def requests(self) -> int:
        """How many requests were sent in all."""
        return self.sent.total()

    @property
    def unaccounted(self) -> int:
        """Requests that were sent and have neither an answer nor a line, were not given up, and are no fault of their own."""
        ended = sum(map(len, self.answered.values())) + self.refused.total() + self.dropped.total()
        return self.requests - ended - len(self._open) - sum("is not documented" not in fault for fault in self.faults)
