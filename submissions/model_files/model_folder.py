"""Checks a handed-in model folder: only weights, configs and tokenizers of kinds that the libraries
here read."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from submissions.format import strict_json
from submissions.format.archive import Archive
from submissions.format.errors import IntakeError, Problem, shown
from submissions.format.manifest import File, Hub
from submissions.format.pickles import is_pickle
from submissions.format.strict_json import BadJson
from submissions.model_files.adapters import (
    adapter_problems,
    beside_problems,
    layout_of,
    weights_problems,
)
from submissions.model_files.chat_templates import template_problems
from submissions.model_files.classes import entry_problems, is_talked_to, rules
from submissions.model_files.configs import (
    config_problems,
    index_problems,
    is_index,
    sight_problems,
)
from submissions.model_files.quantised import quantised_file
from submissions.model_files.shapes import ShapesByFolder
from submissions.model_files.unread_files import left_out, note
from submissions.model_files.weights import HINT, Scan

ALLOWED = (".safetensors", ".json", ".txt", ".model", ".md", ".jinja")
MOST_SMALL = 64 << 20
PIECES_TAG = 0x0A
"""How a SentencePiece model begins: its first field, the pieces, each with a length."""
MOST_FIELDS = 4_000_000
"""Ten times the largest vocabularies; an empty field takes two bytes, so a file could hold many
more."""
RANKS = re.compile(rb"(?:[A-Za-z0-9+/]{1,400}={0,2} [0-9]{1,7}\n)+")
TOP = "model"
INDEX = f"{TOP}/model_index.json"
MOST_INDEX = 1 << 20
ADAPTER = "adapter_config.json"
UNLOADABLE = frozenset({"E_ARCHITECTURE", "E_QUANTISED", "E_WEIGHTS_INDEX"})


@dataclass(frozen=True, slots=True)
class DeclaredModel:
    """What the manifest says of a model: its base, and the modalities it is to generate."""

    base: Hub | None = None
    modalities: tuple[str, ...] = ()


NO_TEMPLATE = Problem(
    "W_TEMPLATE",
    TOP,
    "No chat template came with it, so nobody can tell how to talk to this model.",
    "Add its chat_template.jinja, or save its processor again with save_pretrained.",
)
UNDECLARED = DeclaredModel()


@dataclass(slots=True)
class ModelFolder:
    """What was found in a model's files so far."""

    names: frozenset[str]
    declared: DeclaredModel
    shapes: ShapesByFolder = field(default_factory=ShapesByFolder)
    top_config: dict[str, Any] | None = None
    top_tensors: dict[str, tuple[str, ...]] = field(default_factory=dict)
    has_template: bool = False


def read_model(
    files: Sequence[File], archive: Archive, declared: DeclaredModel = UNDECLARED
) -> Iterator[tuple[File, str, list[Problem]]]:
    """Every file of the model read once: its hash, and what is wrong with it; last, whether all fit
    together."""
    folder = ModelFolder(
        frozenset(file.path for file in files if not left_out(file.path)), declared
    )
    for file in files:
        digest = hashlib.sha256()
        problems: list[Problem] = []
        try:
            problems += _read(file.path, archive, digest, folder)
        except IntakeError as error:
            problems += error.problems
            yield file, file.sha256, problems
            continue
        yield file, digest.hexdigest(), problems
    yield files[0], files[0].sha256, [*folder.shapes.problems(), *_whole_problems(folder)]


def pipeline_of(archive: Archive) -> str:
    """The class of pipeline as which a folder runs; empty for an adapter, which runs as its base,
    and where no index says one."""
    index = archive.members.get(INDEX)
    if index is None or index.file_size > MOST_INDEX or f"{TOP}/{ADAPTER}" in archive.members:
        return ""
    try:
        value = strict_json.read(archive.read(INDEX, MOST_INDEX))
    except (BadJson, IntakeError):
        return ""
    name = value.get("_class_name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else ""


def _read(path: str, archive: Archive, digest: Any, folder: ModelFolder) -> list[Problem]:
    if why := left_out(path):
        for chunk in archive.chunks(path):
            digest.update(chunk)
        return [note(path, why)]
    if quantised := quantised_file(path):
        return [quantised]
    suffix = PurePosixPath(path).suffix.lower()
    if suffix not in ALLOWED:
        message = "This kind of file is not taken with a model."
        return [Problem("E_FORBIDDEN_TYPE", shown(path), message, HINT)]
    if suffix == ".safetensors":
        return _weights(path, archive, digest, folder)
    data = archive.read(path, MOST_SMALL)
    digest.update(data)
    return list(_small_problems(path, suffix, data, folder))


def _weights(path: str, archive: Archive, digest: Any, folder: ModelFolder) -> list[Problem]:
    scan = Scan(path, archive.members[path].file_size)
    for chunk in archive.chunks(path):
        digest.update(chunk)
        scan.feed(chunk)
    if scan.tensors is not None:
        folder.shapes.add_tensors(path, scan.tensors)
        if _is_top(path):
            folder.top_tensors[path] = tuple(tensor.name for tensor in scan.tensors)
    return list(scan.problems())


def _small_problems(path: str, suffix: str, data: bytes, folder: ModelFolder) -> Iterator[Problem]:
    if suffix == ".model":
        if not (_is_pieces(data) or _is_ranks(data)):
            message = "This is no vocabulary of SentencePiece or tiktoken."
            yield Problem("E_FORBIDDEN_TYPE", shown(path), message, HINT)
    elif suffix == ".json":
        yield from _json_problems(path, data, folder)
    elif not _is_text(data):
        yield Problem("E_FORBIDDEN_TYPE", shown(path), "This is not plain text.", HINT)
    elif suffix == ".jinja":
        folder.has_template = True
        yield from template_problems(path, data.decode())


def _json_problems(path: str, data: bytes, folder: ModelFolder) -> Iterator[Problem]:
    try:
        # The schedulers of diffusers write -Infinity for a bound that they do not have.
        value = strict_json.read(data, infinite=True)
    except BadJson as bad:
        yield Problem("E_CONFIG_JSON", shown(path), f"This is not plain JSON: {bad.message}", HINT)
        return
    if not isinstance(value, dict):
        yield Problem("E_CONFIG_JSON", shown(path), "This is no JSON object.", HINT)
        return
    name = PurePosixPath(path).name.lower()
    adapter = f"{TOP}/{ADAPTER}" in folder.names
    if is_index(path):
        problems = index_problems(path, value, folder.names)
        yield from _beside_an_adapter(path, problems) if adapter else problems
    elif name == ADAPTER:
        yield from _adapter_problems(path, value, folder)
    elif name == "judge.json":
        yield from sight_problems(path, value)
    else:
        problems = config_problems(path, value, rules(), folder.declared.modalities, folder.names)
        if adapter:
            yield from _beside_an_adapter(path, problems)
            return
        folder.shapes.add_config(path, value)
        folder.has_template |= bool(value.get("chat_template"))
        if path == f"{TOP}/config.json":
            folder.top_config = value
        yield from problems


def _beside_an_adapter(path: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    """What would only keep the file from being loaded costs a word: the base brings its own."""
    found = list(problems)
    if any(problem.code in UNLOADABLE for problem in found):
        yield note(path, "Beside an adapter its base's own files are read")
    yield from (problem for problem in found if problem.code not in UNLOADABLE)


def _adapter_problems(path: str, config: dict[str, Any], folder: ModelFolder) -> Iterator[Problem]:
    """Beside a part of a pipeline it would make the loader look for a base of that part."""
    if not _is_top(path):
        hint = "Hand in the adapter as a folder of its own, with its base in the manifest."
        yield Problem("E_ADAPTER", shown(path), "An adapter's config lies inside a model.", hint)
    yield from adapter_problems(path, config, rules(), folder.declared.base)


def _whole_problems(folder: ModelFolder) -> Iterator[Problem]:
    """Whether the folder is a pipeline, a model or an adapter, with weights."""
    has_index = INDEX in folder.names
    adapters = {path: names for path, names in folder.top_tensors.items() if layout_of(names)}
    if f"{TOP}/{ADAPTER}" in folder.names or has_index:
        pass
    elif adapters:
        yield from weights_problems(adapters, folder.declared.base)
        yield from beside_problems(folder.top_tensors.keys() - adapters.keys())
    elif folder.top_config is not None:
        yield from entry_problems(f"{TOP}/config.json", folder.top_config, rules())
        if not folder.has_template and is_talked_to(folder.top_config, rules()):
            yield NO_TEMPLATE
    elif f"{TOP}/config.json" not in folder.names:
        hint = (
            "Hand in the folder that save_pretrained wrote, or a LoRA with its base in the "
            "manifest."
        )
        message = "There is no model_index.json or config.json at its top, nor a LoRA."
        yield Problem("E_ARCHITECTURE", TOP, message, hint)
    if not any(name.lower().endswith(".safetensors") for name in folder.names):
        yield Problem("E_SAFETENSORS", TOP, "There are no weights.", HINT)


def _is_top(path: str) -> bool:
    return str(PurePosixPath(path).parent) == TOP


def _is_text(data: bytes) -> bool:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    strange = {letter for letter in set(text) if unicodedata.category(letter) == "Cc"} - set(
        "\t\n\r\f"
    )
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


def _is_ranks(data: bytes) -> bool:
    """A file of tiktoken is lines of a word in base64 and its number."""
    return RANKS.fullmatch(data if data.endswith(b"\n") else data + b"\n") is not None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number and the place behind it; one that does not end within the data ends behind all of
    it."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value, at, shift = value | (byte & 0x7F) << shift, at + 1, shift + 7
        if byte < 0x80:
            return value, at
    return 0, len(data) + 1
