"""Files as users give them, damaged and forged: `python -m tests.fuzz.files --kind pictures`. Exits with 1 on a fault.

Each goes through the function that takes it from users, in a process like the one where that runs: pictures and states as on a
worker, Gaussians as in a script, arrays as in the server, recordings in the sandbox, projects through the browser's code and then
the filter of sources. It ends in acceptance or in one line of the documented error, within the time and the memory of its kind.
"""

import argparse
import io
import json
import random
import struct
import sys
import time
import zlib
from collections import Counter
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from PIL import Image

from splatscope.paths import LESSONS
from splatscope.recordings.archive import ArchiveError
from splatscope.services.drafts.array_files import ArrayFile
from splatscope.splat.files.gaussians_file import ENDINGS, from_bytes, to_bytes
from splatscope.splat.files.images import ImageError, read_picture
from splatscope.splat.files.state_file import StateError, load_state
from splatscope.splat.scenes import some_gaussians
from splatscope.workers.sandbox.supervisor import Sandbox

from .bounded import Kind, Verdict, run
from .mutate import array_file, bomb, damaged, lying, members_of, odd_array, odd_text, zipped
from .projects import make_project, take_project
from .sources import make_source, take_source

# Pictures.


@cache
def pictures() -> tuple[bytes, ...]:
    """Return small, valid pictures of all formats and modes."""
    y, x = np.mgrid[:24, :32]
    rgb = Image.fromarray(np.stack([8 * x, 10 * y, x * y], axis=-1).astype(np.uint8))
    found = []
    for mode in ("RGB", "RGBA", "L", "LA", "P", "1", "I;16", "CMYK"):
        image = rgb.convert("L").convert("I;16") if mode == "I;16" else rgb.convert(mode)
        for kind, options in (
            ("PNG", {}),
            ("JPEG", {"quality": 60}),
            ("JPEG", {"progressive": True}),
            ("WEBP", {"lossless": True}),
        ):
            file = io.BytesIO()
            try:
                image.save(file, kind, **options)
            except OSError:
                continue
            found.append(file.getvalue())
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90°
    for kind in ("PNG", "JPEG", "WEBP"):
        file = io.BytesIO()
        rgb.save(file, kind, exif=exif)
        found.append(file.getvalue())
    frames = io.BytesIO()
    rgb.save(frames, "PNG", save_all=True, append_images=[rgb.rotate(90), rgb.rotate(180)])
    return (*found, frames.getvalue())


def make_picture(seed: int) -> bytes:
    """Return a picture that is not what it should be."""
    rng = random.Random(seed)
    data = rng.choice(pictures())
    if data[:4] == b"\x89PNG" and rng.random() < 0.6:
        return _png(data, rng)
    return damaged(data, rng)


def _png(data: bytes, rng: random.Random) -> bytes:
    """Return a PNG with chunks that are changed and then signed again."""
    chunks, at = [], 8
    while at < len(data):
        length = int.from_bytes(data[at : at + 4])
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    match rng.randrange(7):
        case 0:  # another size, depth or kind of colour
            sides = (0, 1, 7, 8, 32, 3000, 8000, 30_000, 65_535, 2**31 - 1, 2**32 - 1)
            depth, colour, interlaced = rng.choice((1, 2, 4, 8, 16, 3)), rng.randrange(8), rng.choice((0, 1, 9))
            shape = struct.pack(">IIBBBBB", rng.choice(sides), rng.choice(sides), depth, colour, 0, 0, interlaced)
            chunks[0] = (b"IHDR", shape)
        case 1:  # many pixels in few bytes
            side, (depth, colour, channels) = rng.choice((1000, 7900, 8100)), rng.choice([(1, 0, 1)] * 9 + [(8, 6, 4)])
            rows = zlib.compress(bytes(depth * channels * side // 8 + 2) * side, 1)
            chunks = [(b"IHDR", struct.pack(">IIBBBBB", side, side, depth, colour, 0, 0, 0)), (b"IDAT", rows), (b"IEND", b"")]
        case 2:  # a text or a profile that unpacks to far more
            packed = zlib.compress(bytes(rng.choice((2**10, 2**20, 2**26))), 9)
            kind, start = rng.choice(((b"zTXt", b"a\0\0"), (b"iCCP", b"a\0\0"), (b"iTXt", b"a\0\1\0\0\0")))
            chunks.insert(1, (kind, start + packed))
        case 3:  # an orientation that is none, tags without end
            chunks.insert(1, (b"eXIf", damaged(b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", rng)))
        case 4:
            rng.shuffle(chunks)
        case 5:
            chunks.insert(rng.randrange(len(chunks) + 1), rng.choice(chunks))
        case 6:
            at = rng.randrange(len(chunks))
            chunks[at] = (chunks[at][0], damaged(chunks[at][1], rng))
    return data[:8] + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def take_picture(data: bytes) -> str:
    """Read a picture as the training page's worker does, to the size of a run."""
    try:
        read_picture(data, "picture.png", 256)
    except ImageError as error:
        return str(error)
    return ""


# Archives of arrays: training states, recordings, arrays.


@cache
def states() -> tuple[bytes, ...]:
    """Return small, valid training states."""
    from splatscope.splat.files.state_file import save_state
    from splatscope.splat.initialise import start_state
    from splatscope.splat.settings import Settings

    target = np.arange(24 * 32 * 3, dtype=np.uint32).astype(np.uint8).reshape(24, 32, 3)
    options = ({}, {"growth": True}, {"model": "shipped", "kernels": "tiled"})
    return tuple(save_state(start_state(Settings(size=32, blobs=20, **one), target, "ramp.png")) for one in options)


@cache
def gaussians() -> tuple[bytes, ...]:
    """Return small, valid files of Gaussians, of all kinds."""
    raw = some_gaussians(12, (48, 32))
    return tuple(to_bytes(raw, (48, 32), ending) for ending in ENDINGS)


@cache
def recordings() -> tuple[bytes, ...]:
    """Return the smallest of the recordings that ship."""
    files = sorted(LESSONS.glob("*/recording*.npz"), key=lambda path: path.stat().st_size)
    return tuple(path.read_bytes() for path in files[:5])


@cache
def arrays() -> tuple[bytes, ...]:
    """Return small, valid array files."""
    found = [
        np.arange(12.0, dtype=np.float32).reshape(3, 4),
        np.zeros((2, 2, 2), np.uint8),
        np.array(5),
        np.asfortranarray(np.eye(4)),
    ]
    file = io.BytesIO()
    np.savez(file, data=found[0], more=found[1])
    packed = io.BytesIO()
    np.savez_compressed(packed, data=found[0])
    return (*map(array_file, found), file.getvalue(), packed.getvalue())


def forged(data: bytes, rng: random.Random) -> bytes:
    """Return an archive of arrays, or one array, that is not what it should be."""
    if data[:2] != b"PK":
        return odd_array(data, rng)
    match rng.randrange(12):
        case 0:
            return damaged(data, rng)
        case 1:
            return lying(data, rng)
        case 2 if rng.random() < 0.1:
            header = array_file(np.zeros(0, np.uint8)).replace(b"(0,)", b"(314572800,)")[:128]
            return bomb(rng.choice(("about.npy", "data.npy", "thread.npy", "x")), rng.choice((header, b"")))
    members = members_of(data)
    for _ in range(rng.choice((1, 1, 2))):
        if not members:
            break
        at = rng.randrange(len(members))
        name, content = members[at]
        match rng.randrange(9):
            case 0:
                del members[at]
            case 1:
                members.append((name, odd_array(content, rng)))
            case 2:
                members[at] = (
                    rng.choice(("../x.npy", "/x.npy", "x", "", "é.npy", "a" * 300 + ".npy", "about.npy", "data.npy")),
                    content,
                )
            case 3:
                members[at] = (name, data)
            case 4:
                members[at] = (name, members[rng.randrange(len(members))][1])
            case 5:
                members += [(f"{number}.npy", array_file(np.zeros(1))) for number in range(rng.choice((1, 200, 2000)))]
            case _:
                text = next((one for one in ("about.npy", "page.npy", "draft.npy") if one == name), "")
                if not text:  # the texts are what is read most closely
                    at = next((number for number, (one, _) in enumerate(members) if one == "about.npy"), at)
                    name, content = members[at]
                members[at] = (name, _odd_member(name, content, rng))
    return zipped(members, rng)


def _odd_member(name: str, content: bytes, rng: random.Random) -> bytes:
    if name not in ("about.npy", "page.npy", "draft.npy") or content[:6] != b"\x93NUMPY" or rng.random() < 0.2:
        return odd_array(content, rng) if content[:6] == b"\x93NUMPY" else damaged(content, rng)
    start = 10 + int.from_bytes(content[8:10], "little")
    return array_file(np.frombuffer(odd_text(content[start:], rng), np.uint8))


def take_state(data: bytes) -> str:
    """Read a training state as the training page's worker does."""
    try:
        load_state(data)
    except StateError as error:
        return str(error)
    return ""


def take_gaussians(data: bytes) -> str:
    """Read Gaussians as `splatscope.load_splats` does."""
    ending = ".ply" if data[:3] == b"ply" else ".npz" if data[:2] == b"PK" else ".splat"
    try:
        from_bytes(data, f"a{ending}", (48, 32) if ending == ".splat" else None)
    except ValueError as error:
        return str(error)
    return ""


def take_array(data: bytes) -> str:
    """Read an array file as the debugger does in the sandbox."""
    try:
        ArrayFile("numbers.npy", data).words("data")
    except ArchiveError as error:
        return str(error)
    return ""


@cache
def _sandbox() -> Sandbox:
    return Sandbox("splatscope.services.sandbox_jobs")


def take_recording(data: bytes) -> str:
    """Open a recording in a sandboxed process, as the debugger does."""
    try:
        answer, _ = _sandbox().run("open", ("recording.npz", data), 30.0)
    except ValueError as error:
        return str(error)
    json.dumps(answer["meta"])
    return ""


def make_state(seed: int) -> bytes:
    """Return a training state that is not what it should be."""
    rng = random.Random(seed)
    return forged(rng.choice(states()), rng)


def make_gaussians(seed: int) -> bytes:
    """Return a file of Gaussians that is not what it should be."""
    rng = random.Random(seed)
    data = rng.choice(gaussians())
    head, mark, body = data.partition(b"end_header\n")
    if data[:3] == b"ply" and rng.random() < 0.7:  # the header is what is read most closely
        return damaged(head, rng) + mark + body
    return forged(data, rng) if data[:2] == b"PK" else damaged(data, rng)


def make_recording(seed: int) -> bytes:
    """Return a recording that is not what it should be."""
    rng = random.Random(seed)
    return forged(rng.choice(recordings()), rng)


def make_array(seed: int) -> bytes:
    """Return an array file that is not what it should be."""
    rng = random.Random(seed)
    return forged(rng.choice(arrays()), rng)


KINDS = {
    "pictures": Kind(make_picture, take_picture, seconds=10.0, memory=1024),
    "states": Kind(make_state, take_state, seconds=10.0, memory=1024),
    "gaussians": Kind(make_gaussians, take_gaussians, seconds=3.0, memory=1024),
    "arrays": Kind(make_array, take_array, seconds=3.0, memory=512),
    "recordings": Kind(make_recording, take_recording, seconds=3.0, memory=512),
    "projects": Kind(make_project, take_project, seconds=3.0, memory=128),
    "sources": Kind(make_source, take_source, seconds=1.0, memory=128),
}


def table(found: list[Verdict], seconds: float) -> str:
    """Return what came of all cases."""
    outcomes = Counter(one.outcome for one in found)
    slowest, largest = max(found, key=lambda one: one.seconds), max(found, key=lambda one: one.memory)
    return (
        f"{len(found):,} cases in {seconds:.0f} s: {dict(outcomes)}; slowest {slowest.seconds:.2f} s (seed {slowest.seed}), "
        f"largest {largest.memory:.0f} MiB (seed {largest.seed})"
    )


def main() -> int:
    """Run one kind, and print what came of it."""
    parser = argparse.ArgumentParser(prog="tests.fuzz.files", description=__doc__.partition("\n")[0])
    parser.add_argument("--kind", choices=[*KINDS], required=True)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="the first one's; the others follow")
    parser.add_argument("--lines", action="store_true", help="also print how often each line was the answer")
    options = parser.parse_args()
    found, began, faults = [], time.monotonic(), Counter()
    for verdict in run(KINDS[options.kind], range(options.seed, options.seed + options.count)):
        found.append(verdict)
        if verdict.is_fault:
            faults[verdict.outcome, verdict.said[:80]] += 1
            if faults[verdict.outcome, verdict.said[:80]] <= 3:
                print(f"seed {verdict.seed}: {verdict.outcome}: {verdict.said}", flush=True)
    if options.lines:
        for words, count in Counter(one.said[:100] for one in found).most_common(60):
            print(f"{count:6} {words}")
    print(f"{options.kind}: {table(found, time.monotonic() - began)}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
