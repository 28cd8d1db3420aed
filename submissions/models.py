"""Whether a handed-in model folder holds only weights, configs and tokenizers of kinds we know."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from submissions import strict_json
from submissions.archive import Archive
from submissions.configs import adapter_problems, config_problems, index_problems, sight_problems
from submissions.errors import IntakeError, Problem, shown
from submissions.manifest import File
from submissions.pickles import is_pickle
from submissions.shapes import Folders
from submissions.strict_json import BadJson
from submissions.templates import template_problems
from submissions.weights import HINT, Scan

ALLOWED = (".safetensors", ".json", ".txt", ".model", ".md", ".jinja")
MOST_SMALL = 64 << 20
PIECES_TAG = 0x0A
"""How a SentencePiece model begins: its first field, the pieces, each with a length."""
MOST_FIELDS = 4_000_000
"""Ten times the largest vocabularies; an empty field takes two bytes, so a file could hold many more."""


@lru_cache(maxsize=1)
def rules() -> dict[str, frozenset[str]]:
    """The pipelines, architectures, parts and config keys that we know (tests/submissions/make_model_rules.py)."""
    found = json.loads((Path(__file__).parent / "model_rules.json").read_text("utf-8"))
    return {name: frozenset(values) for name, values in found.items()}


def read_model(files: Sequence[File], archive: Archive) -> Iterator[tuple[File, str, list[Problem]]]:
    """Every file of the model read once: its hash, and what is wrong with it; last, whether all fit together."""
    folders = Folders()
    names = frozenset(file.path for file in files)
    for file in files:
        digest = hashlib.sha256()
        problems: list[Problem] = []
        try:
            problems += _read(file.path, archive, digest, folders, names)
        except IntakeError as error:
            problems += error.problems
            yield file, file.sha256, problems
            continue
        yield file, digest.hexdigest(), problems
    yield files[0], files[0].sha256, [*folders.problems(), *_entry_problems(names)]


def _read(path: str, archive: Archive, digest: Any, folders: Folders, names: frozenset[str]) -> list[Problem]:
    if PurePosixPath(path).suffix.lower() not in ALLOWED:
        message = "This kind of file is not taken with a model."
        return [Problem("E_FORBIDDEN_TYPE", shown(path), message, HINT)]
    if path.endswith(".safetensors"):
        scan = Scan(path, archive.members[path].file_size)
        for chunk in archive.chunks(path):
            digest.update(chunk)
            scan.feed(chunk)
        if scan.tensors is not None:
            folders.add_tensors(path, scan.tensors)
        return list(scan.problems())
    data = archive.read(path, MOST_SMALL)
    digest.update(data)
    return list(_small_problems(path, data, folders, names))


def _small_problems(path: str, data: bytes, folders: Folders, names: frozenset[str]) -> Iterator[Problem]:
    if path.endswith(".model"):
        if not _is_pieces(data):
            yield Problem("E_FORBIDDEN_TYPE", shown(path), "This is no SentencePiece model.", HINT)
    elif path.endswith(".json"):
        yield from _json_problems(path, data, folders, names)
    elif not _is_text(data):
        yield Problem("E_FORBIDDEN_TYPE", shown(path), "This is not plain text.", HINT)
    elif path.endswith(".jinja"):
        yield from template_problems(path, data.decode())


def _json_problems(path: str, data: bytes, folders: Folders, names: frozenset[str]) -> Iterator[Problem]:
    try:
        value = strict_json.read(data)
    except BadJson as bad:
        yield Problem("E_CONFIG_JSON", shown(path), f"This is not plain JSON: {bad.message}", HINT)
        return
    if not isinstance(value, dict):
        yield Problem("E_CONFIG_JSON", shown(path), "This is no JSON object.", HINT)
        return
    name = PurePosixPath(path).name
    if name.endswith(".index.json"):
        yield from index_problems(path, value, names)
    elif name == "adapter_config.json":
        yield from adapter_problems(path, value)
    elif name == "judge.json":
        yield from sight_problems(path, value)
    else:
        folders.add_config(path, value)
        yield from config_problems(path, value, rules())


def _entry_problems(names: frozenset[str]) -> Iterator[Problem]:
    tops = {"model/model_index.json", "model/config.json", "model/adapter_config.json"}
    if not names & tops:
        hint = "Hand in the folder that save_pretrained wrote."
        yield Problem("E_ARCHITECTURE", "model", "There is no model_index.json or config.json at its top.", hint)
    if not any(name.endswith(".safetensors") for name in names):
        yield Problem("E_SAFETENSORS", "model", "There are no weights.", HINT)


def _is_text(data: bytes) -> bool:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    strange = {letter for letter in set(text) if unicodedata.category(letter) == "Cc"} - set("\t\n\r\f")
    return not strange and not is_pickle(data)


def _is_pieces(data: bytes) -> bool:
    """A SentencePiece file is fields one after the other; walk them to the end."""
    at = fields = 0
    while at < len(data) and fields < MOST_FIELDS:
        tag, at = _varint(data, at)
        length, at = _varint(data, at)
        if at > len(data) or tag & 7 != 2 or not 1 <= tag >> 3 <= 5:
            return False
        at, fields = at + length, fields + 1
    return data[:1] == bytes([PIECES_TAG]) and at == len(data)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number and the place behind it; one that does not end within the data ends behind all of it."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value, at, shift = value | (byte & 0x7F) << shift, at + 1, shift + 7
        if byte < 0x80:
            return value, at
    return 0, len(data) + 1
