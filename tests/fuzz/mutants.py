"""Mutated bundles: flipped bytes, spoilt headers, spliced pieces, changed manifests, all from one
seed."""

from __future__ import annotations

import json
import random
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

Mutation = Callable[[random.Random, bytes], bytes]
NUMBERS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1.5,
        1e308,
        2**63,
        "",
        "x" * 300,
        "\u202e",
        "../x",
        "=1",
        [],
        {},
        [[[]]],
        {"a": {"a": 1}},
    ),
    *("outputs/0.png", "0" * 64, "tailor", "image", "private.x", "\ud800", "<b>", "model"),
)
TOKENS = (
    b"NaN",
    b"Infinity",
    b"1e999",
    b"[" * 40,
    b"{",
    b"}",
    b",",
    b'"',
    b"\\u0000",
    b"\xff",
    b"\xef\xbb\xbf",
    b"null",
)
MAGICS = (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06")


def mutants(seeds: list[bytes], manifests: list[bytes], count: int, seed: int) -> Iterator[bytes]:
    """So many mutants: two thirds of whole zips, one third sound zips around spoilt manifests."""
    source = random.Random(seed)
    for number in range(count):
        if number % 3 == 2:
            yield zipped(manifest(source, source.choice(manifests)))
        else:
            data = source.choice(seeds)
            for _ in range(source.choice((1, 1, 1, 2, 4))):
                data = source.choice(MUTATIONS)(source, data)
            yield data


def flip(source: random.Random, data: bytes) -> bytes:
    """Some bytes are others."""
    changed = bytearray(data)
    for _ in range(source.randint(1, 8)):
        if changed:
            changed[source.randrange(len(changed))] = source.randrange(256)
    return bytes(changed)


def cut(source: random.Random, data: bytes) -> bytes:
    """A piece is gone."""
    start = source.randrange(len(data) + 1)
    return data[:start] + data[start + source.randint(1, 200) :]


def double(source: random.Random, data: bytes) -> bytes:
    """A piece stands somewhere else too."""
    start, to = source.randrange(len(data) + 1), source.randrange(len(data) + 1)
    return data[:to] + data[start : start + source.randint(1, 200)] + data[to:]


def header(source: random.Random, data: bytes) -> bytes:
    """A number in a zip header is a strange one."""
    magic = source.choice(MAGICS)
    places = [found.start() for found in re.finditer(re.escape(magic), data)]
    if not places:
        return data
    at = source.choice(places) + source.randrange(4, 46)
    width = source.choice(("<B", "<H", "<I"))
    changed = bytearray(data)
    if at + 4 <= len(changed):
        struct.pack_into(
            width, changed, at, source.choice(NUMBERS) & (256 ** struct.calcsize(width) - 1)
        )
    return bytes(changed)


def end(source: random.Random, data: bytes) -> bytes:
    """The zip stops early or goes on."""
    return (
        data[: source.randrange(len(data) + 1)]
        if source.random() < 0.5
        else data + source.randbytes(30)
    )


MUTATIONS: tuple[Mutation, ...] = (flip, cut, double, header, header, header, end)


def manifest(source: random.Random, data: bytes) -> bytes:
    """A manifest with another value somewhere, or spoilt as text."""
    if source.random() < 0.5:
        at = source.randrange(len(data))
        return data[:at] + source.choice(TOKENS) + data[at + source.randint(0, 3) :]
    value = json.loads(data)
    part: Any = value
    while True:
        key = source.choice(list(part) if isinstance(part, dict) else range(len(part)))
        if not isinstance(part[key], dict | list) or not part[key] or source.random() < 0.3:
            break
        part = part[key]
    part[key] = source.choice(VALUES)
    if isinstance(part, dict) and source.random() < 0.2:
        part[source.choice(("surprise", "seed", "files", "__class__"))] = source.choice(VALUES)
    return json.dumps(value).encode("utf-8", "surrogatepass")


def zipped(text: bytes) -> bytes:
    """A zip of one stored member, made by hand: zipfile is too slow for this."""
    import zlib

    name, crc = b"manifest.json", zlib.crc32(text)
    sizes = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, crc, len(text), len(text), len(name), 0)
    local = b"PK\x03\x04" + sizes + name + text
    central = b"PK\x01\x02\x14\x00" + sizes + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    return (
        local
        + central
        + struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, len(central), len(local), 0)
    )
