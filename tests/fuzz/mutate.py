"""Change bytes and archives as accidents and attackers do. The same random numbers make the same change."""

import io
import json
import random
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

NUMBERS = (0, 1, 2, 7, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1)
MAGIC = (
    b"\x93NUMPY\x01\x00",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"RIFF",
    b"Exif\0\0",
    b"\0" * 64,
)
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 2**31, 2**63, 10**30, -(10**30), 0.5, 1e308, -1e308, float("nan"), float("inf"),
    "", "\0", "a" * 5000, "../../etc/passwd", "/etc/passwd", "\ud800", "main", [], [0], [1, 1, 1], [-1, 0, 2**40], [[[[]]]], {},
    {"": ""},
)  # fmt: skip
SHAPES = ("(0,)", "(1,)", "()", "(-1,)", "(4294967296,)", "(1099511627776,)", "(2, 9223372036854775807)", "(10, 10, 10)",
          "(1, 1, 1, 1, 1, 1, 1, 1, 1)", "(True,)", "(1.5,)", "'x'", "(1,)*9999999", "[" * 200)  # fmt: skip
DTYPES = (
    "|O",
    "|V0",
    "|V8",
    "<f8",
    ">f8",
    "<f2",
    "|b1",
    "|u1",
    "<i8",
    "<U10",
    "<c16",
    "<M8[s]",
    "|S0",
    "<f16",
    "zz",
    "<u4,<u4",
    "",
)
BOMB = 300 * 2**20  # bytes that a bomb unpacks to


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return bytes that a disk, a network or a hand has damaged."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(7):
            case 0 if at < len(out):
                out[at] ^= 1 << rng.randrange(8)
            case 1:
                del out[at:]
            case 2:
                del out[at : at + rng.choice((1, 2, 4, 30, 300))]
            case 3:
                out[at:at] = out[at : at + rng.choice((1, 4, 30, 300))]
            case 4:
                out[at : at + 4] = struct.pack(rng.choice("<>") + "I", rng.choice(NUMBERS))
            case 5:
                out[at : at + 2] = struct.pack(rng.choice("<>") + "H", rng.choice(NUMBERS) & 0xFFFF)
            case 6:
                out[at : at + rng.choice((0, 8))] = rng.choice(MAGIC)
    return bytes(out)


def odd_json(value: Any, rng: random.Random) -> Any:
    """Return a value of JSON with something odd, somewhere in it."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        changed = dict(value)
        match rng.randrange(8):
            case 0:
                del changed[key]
            case 1:
                changed[rng.choice(("", "x" * 300, "__class__", key + "2"))] = changed[key]
            case _:
                changed[key] = odd_json(value[key], rng)
        return changed
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        return [*value[:at], odd_json(value[at], rng), *value[at + 1 :]][: rng.choice((len(value), len(value), at))]
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.5:
        return rng.choice((value + 1, value - 1, -value, value * 2**16, value + 0.5))
    return rng.choice(ODD)


def odd_text(text: bytes, rng: random.Random) -> bytes:
    """Return JSON in which something is odd, or that is none."""
    match rng.randrange(10):
        case 0:
            return damaged(text, rng)
        case 1:
            return b"[" * rng.choice((10, 5000, 200_000))
        case 2:
            return b'{"a":' * rng.choice((10, 100_000))
        case 3:
            return b"9" * rng.choice((10, 10_000, 1_000_000))
    try:
        return json.dumps(odd_json(json.loads(text), rng)).encode(errors="replace")
    except (ValueError, RecursionError):
        return damaged(text, rng)


def array_file(array: np.ndarray) -> bytes:
    """Return the bytes of a .npy file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def odd_array(data: bytes, rng: random.Random) -> bytes:
    """Return a .npy file with another header, or other numbers."""
    length = int.from_bytes(data[8:10], "little")
    header, body = data[10 : 10 + length].decode("latin-1"), data[10 + length :]
    match rng.randrange(9):
        case 0:
            return damaged(data, rng)
        case 1 | 2:
            header = _with(header, "'shape': ", rng.choice(SHAPES))
        case 3 | 4:
            header = _with(header, "'descr': ", repr(rng.choice(DTYPES)))
        case 5:
            header = _with(header, "'fortran_order': ", rng.choice(("True", "1", "None", "'x'")))
        case 6:
            header = rng.choice(("", "{}", "[1]", "{" * 500, "1" * 60_000, header * 3, "__import__('os')", header.replace("}", "")))
        case 7:
            body = bytes(rng.choice((0, 1, 255)) for _ in range(16)) * (len(body) // 16 + 1)
        case 8:
            body = body[: rng.randrange(len(body) + 1)] + b"\xff" * rng.choice((0, 1, 8))
    text = header.encode("latin-1", "replace")
    version = rng.choice((data[6:8], data[6:8], data[6:8], b"\x02\x00", b"\x03\x00", b"\x00\x00", b"\xff\xff"))
    size = struct.pack("<I" if version[0] in (2, 3) else "<H", len(text) & 0xFFFF)
    return data[:6] + version + size + text + body


def _with(header: str, key: str, value: str) -> str:
    before, _, after = header.partition(key)
    rest = after[after.find(")") + 1 :] if key == "'shape': " else after[max(after.find(","), 0) :]
    return before + key + value + rest


def members_of(data: bytes) -> list[tuple[str, bytes]]:
    """Return names and contents of a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def zipped(members: list[tuple[str, bytes]], rng: random.Random) -> bytes:
    """Return a zip of members, some of them stored as they are. The same name may come twice."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members:
            kind = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
            archive.writestr(_info(name), content, kind)
    return file.getvalue()


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("x")
    info.filename = name  # as it is, whatever it holds
    return info


def lying(data: bytes, rng: random.Random) -> bytes:
    """Return a zip whose directory declares other sizes, methods, offsets or numbers than it has."""
    out, at = bytearray(data), -1
    records = []
    while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
        records.append(at)
    end = data.rfind(b"PK\x05\x06")
    for _ in range(rng.choice((1, 1, 2, 3))):
        if records and rng.random() < 0.8:
            record = rng.choice(records)
            offset, kind = rng.choice(
                ((8, "<H"), (10, "<H"), (20, "<I"), (24, "<I"), (28, "<H"), (30, "<H"), (42, "<I"), (16, "<I"))
            )
        elif end >= 0:
            record = end
            offset, kind = rng.choice(((8, "<H"), (10, "<H"), (12, "<I"), (16, "<I"), (20, "<H")))
        else:
            return damaged(data, rng)
        if record + offset + 4 <= len(out):
            value = rng.choice((*NUMBERS, 8, 9, 12, 14, 93))
            struct.pack_into(kind, out, record + offset, value & (0xFFFF if kind == "<H" else 0xFFFFFFFF))
    return bytes(out)


def bomb(name: str, start: bytes, size: int = BOMB) -> bytes:
    """Return a small zip with one member that unpacks to `start` and zeros, `size` bytes in all, declared honestly."""
    packer, crc, parts, zeros = zlib.compressobj(9, wbits=-15), zlib.crc32(start), [], bytes(2**20)
    parts.append(packer.compress(start))
    for _ in range(size >> 20):
        crc = zlib.crc32(zeros, crc)
        parts.append(packer.compress(zeros))
    packed = b"".join([*parts, packer.flush()])
    text, length = name.encode(), len(start) + (size >> 20 << 20)
    shared = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(packed), length, len(text), 0)
    local = b"PK\x03\x04" + shared + text + packed
    entry = b"PK\x01\x02" + struct.pack("<H", 20) + shared + struct.pack("<HHHII", 0, 0, 0, 0, 0) + text
    return local + entry + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)
