"""Three hundred inputs that no test holds: spoilt bundles, media, models and requests, all drawn
from one seed."""

from __future__ import annotations

import io
import json
import random
import string
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.bundles import declaration
from tests.fuzz.mutants import mutants
from tests.submissions.bad.case import bundle, ids, pictures
from tests.submissions.bad.media import clip, noise, saved
from tests.submissions.bad.models import CLIP, GOOD, model_bundle

Door = Literal["api", "inbox", "cli"]
DOORS: tuple[Door, ...] = ("api", "api", "api", "inbox", "cli")
SCALARS: tuple[Any, ...] = (None, True, -0.0, 1e400, 2**70, "", "\ud83d", "\x00", "‮", [], {})


@dataclass(frozen=True, slots=True)
class HostileBundle:
    """A file to hand in, and by which door."""

    what: str
    door: Door
    path: Path


@dataclass(frozen=True, slots=True)
class HostileRequest:
    """A request to the API: any method, path, headers and body."""

    what: str
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


def bundles(folder: Path, count: int, seed: int) -> Iterator[HostileBundle]:
    """So many files of five kinds in turn, for the three doors in turn."""
    dice = random.Random(seed)
    sound = [bundle(folder / "sound.zip", pictures(3)).read_bytes()]
    sound.append(model_bundle(folder / "model.zip", {}).read_bytes())
    manifests = [json.dumps({**declaration(partial=True), "files": []}).encode()]
    spoilt = mutants(sound, manifests, count, seed)
    kinds: tuple[Callable[[Path, random.Random], Path], ...] = (
        lambda to, _dice: _written(to, next(spoilt)),
        _picture,
        _clip,
        _model,
        _tokenizer,
    )
    for number in range(count):
        kind = kinds[number % len(kinds)]
        name = getattr(kind, "__name__", "").strip("_").replace("<lambda>", "zip")
        path = kind(folder / f"{number:03d}.zip", dice)
        yield HostileBundle(f"{number:03d} {name}", DOORS[number // len(kinds) % 5], path)


def requests(count: int, seed: int) -> Iterator[HostileRequest]:
    """So many requests with odd paths, queries, headers and bodies."""
    dice = random.Random(seed)
    paths = (
        "/v1/submissions",
        "/v1/inbox",
        "/v1/suites",
        "/v1/ranking",
        "/v1/compare",
        "/v1/submissions/uploads/x/parts/1",
        "/v1/teams/me",
    )
    for number in range(count):
        method = dice.choice(("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"))
        path = dice.choice(paths) + dice.choice(("", "/", "/%00", "/..%2f..", f"?{_query(dice)}"))
        headers = (
            ("Content-Type", dice.choice(("application/json", "text/html", "multipart/form-data"))),
            ("Idempotency-Key", _text(dice, 300)),
            ("Range", f"bytes={dice.randrange(1 << 40)}-"),
        )
        body = _json(dice) if dice.random() < 0.7 else dice.randbytes(dice.randrange(1, 20_000))
        yield HostileRequest(f"{number:03d} {method} {path[:60]}", method, path, headers, body)


def _written(to: Path, data: bytes) -> Path:
    to.write_bytes(data)
    return to


def _picture(to: Path, dice: random.Random) -> Path:
    ending, kind = dice.choice((("png", "PNG"), ("jpg", "JPEG"), ("webp", "WEBP")))
    data = _spoilt(dice, saved(noise((96, 64), dice.randrange(1000)), kind))
    return bundle(to, {f"outputs/0.{ending}": (ids("image")[0], data)})


def _clip(to: Path, dice: random.Random) -> Path:
    ending, codec = dice.choice((("mp4", "libx264"), ("webm", "libvpx-vp9")))
    data = _spoilt(dice, clip(dice.randrange(2, 12), codec, ending))
    return bundle(to, {f"outputs/0.{ending}": (ids("video")[0], data)}, modalities=["video"])


def _model(to: Path, dice: random.Random) -> Path:
    """Weights whose header is spoilt, beside a config with strange values."""
    length = dice.choice((0, 1, 1 << 33, 2**63, 2**64 - 1))
    weights = struct.pack("<Q", length) + GOOD[8:] if dice.random() < 0.5 else GOOD
    strange = {dice.choice(list(CLIP)): dice.choice(SCALARS[3:]), _text(dice, 20): _tree(dice, 6)}
    files: dict[str, bytes | None] = {
        "model/text_encoder/model.safetensors": _spoilt(dice, weights),
        "model/text_encoder/config.json": json.dumps({**CLIP, **strange}).encode(),
    }
    return model_bundle(to, files)


def _tokenizer(to: Path, dice: random.Random) -> Path:
    """Tokenizers of fields, of escapes, of nesting and of numbers."""
    contents = (
        b"\x0a" + dice.randbytes(dice.randrange(1, 4000)),
        b'{"model": "' + b'\\"' * dice.randrange(1000, 200_000) + b'"}',
        b"[" * dice.randrange(10, 100_000),
        b'{"a":' * dice.randrange(10, 50_000) + b"1",
        b'{"a": 1' + b"0" * dice.randrange(10, 200_000) + b"}",
        json.dumps({_text(dice, 30): number for number in range(5000)}).encode(),
    )
    name = dice.choice(("tokenizer.model", "tokenizer.json", "vocab.json", "chat_template.jinja"))
    return model_bundle(to, {f"model/{name}": dice.choice(contents)})


def _spoilt(dice: random.Random, data: bytes) -> bytes:
    """Cut, flipped, doubled, turned round, or stretched in the middle."""
    at = dice.randrange(1, max(2, len(data)))
    ways = (
        data[:at],
        data[:at] + bytes([data[at % len(data)] ^ 1 << dice.randrange(8)]) + data[at + 1 :],
        data[:at] + data,
        data[:at] + dice.randbytes(dice.randrange(1, 5000)) + data[at:],
        data[: len(data) // 2] + data[len(data) // 2 :][::-1],
    )
    return dice.choice(ways)


def _query(dice: random.Random) -> str:
    names = ("suite", "team", "page", "limit", "metric", "a", "b", "")
    pairs = (f"{dice.choice(names)}={_escaped(_text(dice, 80))}" for _ in range(dice.randrange(9)))
    return "&".join(pairs)


def _escaped(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode("utf-8", "surrogatepass"))


def _text(dice: random.Random, most: int) -> str:
    letters = string.ascii_letters + "'\"<>%{}$\\;:/."
    return "".join(dice.choices(letters, k=dice.randrange(1, most)))


def _json(dice: random.Random) -> bytes:
    out = io.StringIO()
    manifest = {**declaration(), dice.choice(list(declaration())): _tree(dice, 5)}
    json.dump({"manifest": manifest, "size": dice.choice(SCALARS), "sha256": _tree(dice, 2)}, out)
    return out.getvalue().encode()


def _tree(dice: random.Random, depth: int) -> Any:
    """Lists and objects of odd values, at random."""
    if depth == 0 or dice.random() < 0.3:
        return dice.choice(SCALARS)
    if dice.random() < 0.5:
        return [_tree(dice, depth - 1) for _ in range(dice.randrange(5))]
    return {_text(dice, 12): _tree(dice, depth - 1) for _ in range(dice.randrange(5))}
