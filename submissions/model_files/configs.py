"""Checks of a model's config files: settings are plain data, classes are ones of the libraries,
templates lay out text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import PurePosixPath
from typing import Any

from submissions.format.errors import Problem, shown
from submissions.model_files.chat_templates import template_problems
from submissions.model_files.classes import (
    Rules,
    is_part_entry,
    part_problems,
    pipeline_problems,
)
from submissions.model_files.dangerous_settings import Danger, dangers, is_token, is_words
from submissions.model_files.quantised import names_quantiser, quantised_settings

DATA = frozenset(
    {
        *(
            "id2label",
            "label2id",
            "added_tokens_decoder",
            "task_specific_params",
            "vocab",
            "merges",
            "weight_map",
        ),
        *("extra_special_tokens", "model_specific_special_tokens"),
    }
)
"""Keys whose inner keys are data, not settings."""
VOCABULARIES = frozenset({"vocab.json", "added_tokens.json"})
TOKENIZER_KEYS = frozenset(
    {
        *(
            "version",
            "truncation",
            "padding",
            "added_tokens",
            "normalizer",
            "pre_tokenizer",
            "post_processor",
            "decoder",
        ),
        "model",
    }
)
TOKENIZER_WORDS = frozenset(
    {
        *(
            "vocab",
            "merges",
            "added_tokens",
            "content",
            "String",
            "Regex",
            "pattern",
            "prefix",
            "suffix",
            "replacement",
        ),
        *(
            "id",
            "tokens",
            "ids",
            "special_tokens",
            "precompiled_charsmap",
            "unk_token",
            "continuing_subword_prefix",
        ),
        *("end_of_word_suffix", "prepend", "cls", "sep"),
    }
)
"""Fields of a tokenizer.json that hold pieces of words."""
TEMPLATE_KEY = re.compile(r"(\w+_)?(chat_)?templates?")
NAMED_AT_ONCE = 8
FRAMES = re.compile(r"(uniform|first)-([1-9]|[1-5][0-9]|6[0-4])")
SHARD = re.compile(r"[\w.-]{1,200}\.safetensors")
INDEX = re.compile(r"[\w.-]+\.index(\.[\w-]+)?\.json")


def config_problems(
    path: str,
    config: Mapping[str, Any],
    rules: Rules,
    modalities: Sequence[str] = (),
    names: Set[str] = frozenset(),
) -> Iterator[Problem]:
    """What in a config keeps the model from being taken; W_ where it is taken with a word.

    `names` are the files of the model.
    """
    name = PurePosixPath(path).name.lower()
    if name in VOCABULARIES:
        if not all(type(value) is int for value in config.values()):
            hint = "Save the tokenizer again."
            yield Problem(
                "E_CONFIG_JSON", shown(path), "It is no list of words with numbers.", hint
            )
        return
    if name == "tokenizer.json":
        yield from _tokenizer_problems(path, config)
        return
    yield from quantised_settings(path, config)
    if name == "model_index.json":
        yield from pipeline_problems(path, config, rules, modalities)
        yield from danger_problems(path, dangers(dict.fromkeys(_parts(config), "a part")))
        config = {key: value for key, value in config.items() if key not in _parts(config)}
    else:
        yield from part_problems(path, config, rules, names)
    refused = list(dangers(config))
    yield from danger_problems(path, refused)
    for source in _templates("", config):
        yield from template_problems(path, source)
    yield from unknown_settings(
        path, config, rules["keys"], DATA | {danger.key for danger in refused}
    )


def is_index(path: str) -> bool:
    """Whether a file says which tensor lies in which shard."""
    return INDEX.fullmatch(PurePosixPath(path).name.lower()) is not None


def index_problems(path: str, index: Mapping[str, Any], names: Set[str]) -> Iterator[Problem]:
    """A sharded model's index names shards beside it, and nothing else."""
    shards = index.get("weight_map")
    folder = PurePosixPath(path).parent
    listed = (
        set(shards.values())
        if isinstance(shards, dict) and all(map(_is_shard, shards.values()))
        else None
    )
    absent = sorted(shard for shard in listed or () if f"{folder}/{shard}" not in names)
    if not listed or absent or index.keys() - {"metadata", "weight_map"}:
        message = (
            f"The shard {shown(absent[0])} is not in the bundle."
            if absent
            else "It names other things than shards."
        )
        yield Problem(
            "E_WEIGHTS_INDEX", shown(path), message, "Save the model again with save_pretrained."
        )
    metadata = index.get("metadata")
    yield from danger_problems(path, dangers({"metadata": metadata}))


def sight_problems(path: str, config: Mapping[str, Any]) -> Iterator[Problem]:
    """A judge's judge.json says which frames it sees and under which mask, and nothing else."""
    frames, mask = config.get("frames", "uniform-8"), config.get("mask", "own")
    valid = isinstance(frames, str) and FRAMES.fullmatch(frames) and mask in ("own", "image_first")
    if not valid or config.keys() - {"frames", "mask"}:
        hint = (
            'Write {"frames": "uniform-8", "mask": "own"}: uniform or first, 1 to 64; own or '
            "image_first."
        )
        yield Problem(
            "E_CONFIG_KEY", shown(path), "It says something else than frames and mask.", hint
        )


def danger_problems(path: str, dangerous: Iterable[Danger]) -> Iterator[Problem]:
    """The refusals of settings that are more than data."""
    for danger in dangerous:
        message = f"The setting {shown(danger.place)} is not taken: {danger.why}."
        hint = (
            f"Remove {shown(danger.place)} if the libraries load the model without it; nothing "
            "handed in is run."
        )
        yield Problem("E_CONFIG_KEY", shown(path), message, hint)


def unknown_settings(
    path: str, config: Mapping[str, Any], known_keys: Set[str], closed: Set[str] = DATA
) -> Iterator[Problem]:
    """One word about all settings of a file that are kept as they are without our knowing what they
    do.

    The inner keys of `closed` settings are not looked at.
    """
    names = list(dict.fromkeys(_unknown_keys(config, known_keys, closed)))
    if names:
        beyond = f" and {len(names) - NAMED_AT_ONCE} more" if len(names) > NAMED_AT_ONCE else ""
        message = (
            "Plain settings that we do not know, kept as they are: "
            f"{', '.join(names[:NAMED_AT_ONCE])}{beyond}."
        )
        yield Problem(
            "W_CONFIG_KEY",
            shown(path),
            message,
            "Nothing to do; the loader gets the file unchanged.",
        )


def _unknown_keys(
    config: Mapping[str, Any], known_keys: Set[str], closed: Set[str]
) -> Iterator[str]:
    for key, value in config.items():
        if key in closed or is_words(key) or names_quantiser(key):
            continue
        if key not in known_keys:
            yield shown(key)[1:-1]
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict) and not is_token(part):
                yield from _unknown_keys(part, known_keys, closed)


def _parts(index: Mapping[str, Any]) -> Set[str]:
    return {key for key, value in index.items() if is_part_entry(key, value)}


def _is_shard(value: object) -> bool:
    return isinstance(value, str) and SHARD.fullmatch(value) is not None and ".." not in value


def _tokenizer_problems(path: str, config: Mapping[str, Any]) -> Iterator[Problem]:
    """A tokenizer.json is read by a library that takes nothing else than what it knows."""
    for key in config.keys() - TOKENIZER_KEYS:
        message = f"The key {shown(key)} is none of a tokenizer.json."
        yield Problem(
            "E_CONFIG_KEY",
            shown(path),
            message,
            f"Remove {shown(key)}, or save the tokenizer again.",
        )
    yield from danger_problems(path, dangers(_without_words(config)))


def _without_words(value: Any) -> Any:
    """What is left of a tokenizer.json when the words are out of it."""
    if isinstance(value, dict):
        return {
            key: _without_words(part) for key, part in value.items() if key not in TOKENIZER_WORDS
        }
    return [_without_words(part) for part in value] if isinstance(value, list) else value


def _templates(key: str, value: object) -> Iterator[str]:
    """Everything under a key that speaks of templates, at any depth."""
    if isinstance(value, str) and TEMPLATE_KEY.fullmatch(key.lower()):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _templates(key, part)
    elif isinstance(value, dict):
        inside = TEMPLATE_KEY.fullmatch(key.lower()) is not None
        for name, part in value.items():
            yield from _templates(key if inside and name != "name" else name, part)
