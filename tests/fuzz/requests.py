"""Forged requests to a served app: `python -m tests.fuzz.requests --count 100000 --seed 1`. Exits with 1 if a judgement fails.

Requests come over raw sockets: methods, paths, queries, headers, bodies, and messages on a page's socket. Of each the server must
make an answer or a refusal. It is judged that

- no answer is an error of the server, except a 503 with `Retry-After`,
- no markup of a request is in an answer, neither in a document nor in what a page shows as HTML, and no header,
- the log has no traceback and no line for which no reason is known, and grows by few bytes a request,
- the server answers at the end as promptly as at the start, and has not grown by more than `MOST_GROWTH`.

A case is made from the seed and its number alone. One that fails is made smaller and printed: `--seed S --case N` repeats it.
"""

import argparse
import asyncio
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import psutil

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from soak.judge import EXPLAINED, LEFT, records  # noqa: E402

from helpers.serving import QUIET, ROOT, serving  # noqa: E402

from .judged_answers import injected  # noqa: E402
from .request_cases import Case, Request, Talk, case  # noqa: E402
from .wire_client import Answer, Client, talk  # noqa: E402

ROUND = 250  # requests between two looks at the log
CLIENTS = 8
MOST_FAULTS = 20
MOST_GROWTH = 300 * 2**20  # bytes: the caches of pages and recordings fill
MOST_LOG = 200  # bytes of log per request
PROMPT = 5.0  # seconds: between a cached page's answer, and a server that has choked
REASONS = (
    *EXPLAINED,
    r"^\d{4}-\d\d-\d\d [\d:,]+ (?:4\d\d|503) [A-Z]+ \S* ?\([\d.:]+\) [\d.]+ms$",  # a refusal
    r"Malformed HTTP (?:message|request|body) from|Closed a connection that sent |Bokeh Server protocol error: ",
    r"Invalid (?:Host|Origin)|Refusing websocket connection",
)


def unexplained(log: str) -> list[str]:
    """Return the records of a log for which no reason is known, and every traceback."""
    explained = re.compile("|".join(REASONS), re.MULTILINE)
    found = [record for record in records(log) if record and not LEFT.search(record)]
    return [record for record in found if "Traceback" in record or not explained.search(record)]


@dataclass
class Fuzz:
    """A run of many cases against one server.

    Attributes:
        faults: What failed, in a line each, with its smallest reproducer.
        outcomes: How often each kind of case ended in each status.
    """

    port: int
    log: Path
    seed: int
    faults: list[str] = field(default_factory=list)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    _read: int = 0
    _logged: set[str] = field(default_factory=set)  # what has been reported

    async def run(self, cases: Iterable[Case], rate: float) -> None:
        """Send cases, at most `rate` a second, and look at the log after each round."""
        self.new_records()
        clients = [Client(self.port, number) for number in range(CLIENTS)]
        cases = iter(cases)
        while (batch := list(islice(cases, ROUND))) and len(self.faults) < MOST_FAULTS:
            began, shared = time.monotonic(), iter(batch)
            await asyncio.gather(*(self._send_all(client, shared) for client in clients))
            await asyncio.sleep(0.05)
            await self._explain(batch)
            await asyncio.sleep(max(0.0, len(batch) / rate - (time.monotonic() - began)))
        for client in clients:
            client.close()

    async def _send_all(self, client: Client, cases: Iterator[Case]) -> None:
        for made in cases:
            wrong, status = await self._judge(client, made)
            self.outcomes[made.kind, status] += made.weight
            if wrong:
                await self._report(made, wrong, lambda smaller: self._fails(smaller))

    async def _judge(self, client: Client, made: Case) -> tuple[str, str]:
        """Send a case. Return what is wrong with its answer, "" for nothing, and its status."""
        if isinstance(made, Talk):
            return await talk(self.port, made), "messages"
        answer = await client.send(made)
        return fault_of(made, answer), str(answer.status or answer.failure)

    async def _fails(self, made: Case) -> bool:
        client = Client(self.port, 0)
        try:
            return bool((await self._judge(client, made))[0])
        finally:
            client.close()

    async def _explain(self, cases: list[Case]) -> None:
        """Find the cases of a round that made the log say something unexplained."""
        if not (lines := self.new_records()):
            return
        for what in {*map(_short, lines)} - self._logged:
            self._logged.add(what)
            await asyncio.sleep(1.0)  # what others have begun ends
            self.new_records()
            is_logged = partial(self._is_logged, what)
            for made in cases:
                if await is_logged(made):
                    await self._report(made, f"logged {what}", is_logged)
                    break
            else:
                self.faults.append(f"--seed {self.seed}, one of {cases[0].number} to {cases[-1].number}: logged {what}")
                print(self.faults[-1], flush=True)

    async def _is_logged(self, what: str, made: Case) -> bool:
        await self._fails(made)
        await asyncio.sleep(0.02)
        return what in map(_short, self.new_records())

    async def _report(self, made: Case, wrong: str, fails: Callable[[Case], object]) -> None:
        smallest = await _smallest(made, fails)
        self.faults.append(f"--seed {self.seed} --case {made.number}: {wrong}\n  {_short(smallest.words(), 400)}")
        print(self.faults[-1], flush=True)

    def new_records(self) -> list[str]:
        """Return what the log says unexplained since the last call."""
        with self.log.open("rb") as file:
            file.seek(self._read)
            text = file.read()
            while text and (more := _after(0.05, file.read)):  # a traceback is written in parts
                text += more
        self._read += len(text)
        return unexplained(text.decode(errors="replace"))


async def _smallest(made: Case, fails: Callable[[Case], object], attempts: int = 40) -> Case:
    """Return a case that still fails, with parts left out and cut as long as it does."""
    while True:
        for smaller in made.smaller():
            attempts -= 1
            if attempts < 0:
                return made
            if await fails(smaller):
                made = smaller
                break
        else:
            return made


def fault_of(request: Request, answer: Answer) -> str:
    """Return what is wrong with an answer; "" for nothing."""
    if answer.failure:
        return "" if request.is_malformed and answer.failure == "closed" else answer.failure
    if answer.status >= 500 and not (answer.status == 503 and "retry-after" in answer.headers):
        return f"answered {answer.status}"
    accepts = [value for name, value in request.headers if name == "Accept-Encoding"]
    if answer.headers.get("content-encoding") == "gzip" and accepts in ([], ["gzip;q=0"], ["br"]) and not request.damage:
        return "answered in gzip, which was not accepted"
    return injected(answer)


def _after(seconds: float, read: Callable[[], bytes]) -> bytes:
    time.sleep(seconds)
    return read()


def _short(text: str, most: int = 300) -> str:
    """Return a text in one line, without its time; of a traceback, what was raised."""
    text = re.sub(r"^[\d-]+ [\d:,]+ ", "", text)
    raised = [line for line in text.splitlines() if re.match(r"[\w.]+(Error|Exception|Warning)\b", line)]
    line = " | ".join([text.splitlines()[0][:120], *raised[-1:]]) if raised else " ".join(text.split())
    return line[:most]


async def promptness(port: int) -> float:
    """Return the median time, in seconds, in which a section's document is answered."""
    times = []
    for number in range(9):
        client, began = Client(port, number % CLIENTS), time.monotonic()
        answer = await client.send(Request(-1, "document", "GET", "/app", [("page", "undo")], [], b""))
        times.append(time.monotonic() - began if answer.status == 200 else float("inf"))
        client.close()
    return statistics.median(times)


def resident(port: int) -> tuple[int, psutil.Process]:
    """Return the memory of the server that listens on a port, in bytes, and its process."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any(one.laddr.port == port for one in process.net_connections("tcp") if one.status == psutil.CONN_LISTEN):
                return process.memory_info().rss, process
    raise LookupError(port)


def fuzz(cases: Iterable[Case], seed: int, log: Path, rate: float = float("inf"), port: int = 0) -> Fuzz:
    """Serve the app, send it cases that were made from a seed, and return what was judged."""
    command = [sys.executable, "-m", "panel", "serve", "app"]
    with serving(command, log, ROOT, os.environ | QUIET, port) as address:
        return asyncio.run(_fuzz(int(address.rpartition(":")[2]), log, cases, seed, rate))


async def _fuzz(port: int, log: Path, cases: Iterable[Case], seed: int, rate: float) -> Fuzz:
    run = Fuzz(port, log, seed)
    await promptness(port)
    before, (held, process) = log.stat().st_size, resident(port)
    began = time.monotonic()
    await run.run(cases, rate)
    seconds = time.monotonic() - began
    took, grown, logged = await promptness(port), process.memory_info().rss - held, log.stat().st_size - before
    sent = sum(run.outcomes.values())
    print(f"{sent:,} requests and messages in {seconds:.0f} s with seed {seed}; a page takes {took * 1000:.0f} ms afterwards")
    print(f"the server grew by {grown / 2**20:.0f} MiB from {held / 2**20:.0f}, its log by {logged:,} bytes")
    if took > PROMPT:
        run.faults.append(f"a page takes {took:.1f} s at the end")
    if grown > MOST_GROWTH:
        run.faults.append(f"the server grew by {grown / 2**20:.0f} MiB")
    if logged > MOST_LOG * sent + 20_000:
        run.faults.append(f"the log grew by {logged:,} bytes in {sent:,} requests")
    return run


def main() -> int:
    """Send the requests, and print how they ended and what failed."""
    parser = argparse.ArgumentParser(prog="tests.fuzz.requests", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100_000, help="how many cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="only the case of this number")
    parser.add_argument("--rate", type=float, default=float("inf"), help="the most cases a second")
    parser.add_argument("--log", type=Path, help="where the server's log is kept")
    parser.add_argument("--port", type=int, default=0, help="of the server; by default a free one")
    options = parser.parse_args()
    numbers = range(options.count) if options.case is None else range(options.case, options.case + 1)
    with tempfile.TemporaryDirectory() as folder:
        cases = (case(options.seed, number) for number in numbers)
        run = fuzz(cases, options.seed, options.log or Path(folder) / "server.log", options.rate, options.port)
    for kind in sorted({kind for kind, _ in run.outcomes}):
        ends = {status: times for (of, status), times in run.outcomes.most_common() if of == kind}
        print(f"{kind:>12}: {', '.join(f'{status} {times:,}' for status, times in ends.items())}")
    for fault in run.faults:
        print(fault)
    print(f"{len(run.faults)} faults")
    return int(bool(run.faults))


if __name__ == "__main__":
    sys.exit(main())
