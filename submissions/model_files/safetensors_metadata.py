"""Checks of a safetensors file's metadata: most entries are notes for people, a few are read by a
library."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from submissions.format import strict_json
from submissions.format.errors import Problem, shown
from submissions.format.pickles import is_pickle
from submissions.format.strict_json import BadJson
from submissions.model_files.adapters import setting_dangers
from submissions.model_files.configs import danger_problems
from submissions.model_files.dangerous_settings import PLACES, Danger, dangers

FORMATS = frozenset({"pt", "np", "numpy", "mlx"})
ADAPTER = "lora_adapter_metadata"
ACTED_ON = frozenset({ADAPTER, "config", "adapter_config", "quantization_metadata"})
"""Entries from which a library builds a config: diffusers an adapter's, and single-file loaders a
model's."""
ORIGIN = re.compile(r"(\w+_)?(repo|ur[il]s?)(_\w+)?|(\w+_)?repositor(y|ies)")
"""Where the trainer or the data came from, which the others may say."""
TRAINERS = ("ss_", "sshs_", "modelspec.", "ot_")
CODE = PLACES[4:]


def metadata_problems(path: str, metadata: Mapping[str, str]) -> Iterator[Problem]:
    """Entries that are more than words about the weights."""
    if metadata.get("format", "pt") not in FORMATS:
        message = f"Its format is {shown(metadata['format'])}; the libraries here read pt."
        yield Problem(
            "E_SAFETENSORS", shown(path), message, "Save the weights with torch, as safetensors."
        )
    yield from danger_problems(path, _dangers(metadata))


def _dangers(metadata: Mapping[str, str]) -> Iterator[Danger]:
    for key, text in metadata.items():
        if is_pickle(text.encode(errors="replace")):
            yield Danger(f"metadata.{key}", "its value is a pickle")
        elif not _is_words(key):
            yield from _beyond_words(key, text)


def _beyond_words(key: str, text: str) -> Iterator[Danger]:
    """Names of dangerous settings anywhere; places only in what a library builds a config from."""
    if any(pattern.search(text) for pattern, _ in CODE):
        yield Danger(f"metadata.{key}", "its value is code")
        return
    value = _read(text)
    adapter = key == ADAPTER and isinstance(value, dict)
    entry = {key: value} if key in ACTED_ON else _without_origins({key: value})
    for danger in _settings_of_an_adapter(value) if adapter else dangers(entry):
        if danger.by_name or key in ACTED_ON:
            yield Danger(f"metadata.{danger.place}", danger.why)


def _settings_of_an_adapter(config: Mapping[str, Any]) -> Iterator[Danger]:
    """As in an adapter_config.json; each key begins with the part of the pipeline that it is
    about."""
    for name, value in config.items():
        yield from setting_dangers({name.rpartition(".")[2]: value})


def _is_words(key: str) -> bool:
    """Notes of a trainer (ss_…, ot_…) and of a catalogue (modelspec.…), which nothing reads."""
    return key.startswith(TRAINERS)


def _without_origins(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_origins(part)
            for key, part in value.items()
            if not (isinstance(part, str) and ORIGIN.fullmatch(key.lower()))
        }
    return [_without_origins(part) for part in value] if isinstance(value, list) else value


def _read(text: str) -> Any:
    """The value that the text spells if it is JSON, else the text itself."""
    try:
        return strict_json.read(text.encode(errors="replace"))
    except BadJson:
        return text
