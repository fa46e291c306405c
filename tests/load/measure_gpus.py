"""Measure training runs side by side: measure_gpus.py [RUNS …], by default 1, 2 and 40 at once. No server is needed.

Each run asks for slices as a training page does. The figures are iterations a second of wall time, of each run and of all.
"""

import asyncio
import statistics
import sys
import time
from pathlib import Path

from splatscope.gpu.device import adapter_names
from splatscope.services.training import TrainingRun
from splatscope.splat.files.images import read_picture
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings
from splatscope.workers.pool import Pool

PICTURE = Path(__file__).parents[2] / "assets" / "astronaut.jpg"
SIZE, BLOBS, ITERATIONS = 512, 40_960, 1_000_000
SLICE = 0.1  # seconds of device time
SECONDS = 15.0  # that all runs train for


async def train(run: TrainingRun, until: float) -> int:
    """Train until then; return the number of iterations."""
    before = (await run.advance(0)).iteration
    while time.monotonic() < until:
        report = await run.advance(ITERATIONS, SLICE)
    return report.iteration - before


async def side_by_side(pool: Pool, count: int) -> None:
    """Train `count` runs at once and print what they reach."""
    pixels = read_picture(PICTURE.read_bytes(), PICTURE.name, SIZE).pixels
    settings = Settings(size=SIZE, blobs=BLOBS, iterations=ITERATIONS)
    runs = [TrainingRun(pool, start_state(settings, pixels, PICTURE.name)) for _ in range(count)]
    await asyncio.gather(*(run.advance(20) for run in runs))
    start = time.monotonic()
    done = await asyncio.gather(*(train(run, start + SECONDS) for run in runs))
    rates = [n / (time.monotonic() - start) for n in done]
    print(
        f"{count:3} at once: {sum(rates):8,.0f} it/s in all; each {statistics.median(rates):,.0f} in the middle, "
        f"{min(rates):,.0f} to {max(rates):,.0f}",
        flush=True,
    )
    for run in runs:
        await run.close()


async def main() -> None:
    """Measure the counts that the command line names."""
    pool = Pool()
    await pool.run(time.sleep, 0.0)
    await asyncio.sleep(5.0)  # until the workers have said which device they open
    connection = await pool._connection()
    print("Adapters:", ", ".join(adapter_names()))
    print("Workers:", *(f"\n  {worker.address} opens {worker.device}" for worker in connection.scheduler.workers.values()))
    for count in map(int, sys.argv[1:] or ("1", "2", "40")):
        await side_by_side(pool, count)
    await pool.close()


if __name__ == "__main__":
    asyncio.run(main())
