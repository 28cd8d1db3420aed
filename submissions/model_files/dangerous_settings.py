"""Finds the settings of a config, at any depth, that could run code or load something from
elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from submissions.format.errors import shown
from submissions.model_files.quantised import is_quantised, names_quantiser

RUNS = re.compile(
    r"auto_map(ping)?|trust_remote_code|custom_(pipelines?|generate|code|revision|kernels?)"
    r"|_?use_\w*kernels?|allow_all_kernels|hub_kernels"
    r"|(\w+_)?kernel_(config|mapping)|code_(revision|paths?)|base_model_class|parent_library"
    r"|megatron_config"
    r"|init_inputs"
)
"""Settings under which a library runs what a folder or a hub brings."""
REACHES = re.compile(
    r"(?!_?name_or_path$|base_model_name_or_path$)\w*name_or_path|(\w+_)?repo(_\w+)?"
    r"|(\w+_)?repositor(y|ies)"
    r"|use_pretrained\w*|pretrained_\w*(path|backbone|weights|checkpoint|model\w*)|(\w+_)?ur[il]s?"
    r"|shadow_model"
)
"""Settings under which a library loads something else than what lies in the folder."""
INFORMATION = frozenset(
    {"_name_or_path", "name_or_path", "base_model_name_or_path", "special_tokens_map_file"}
)
"""Where something once lay; the loaders write their own folder over it before they look."""
CACHES = frozenset(
    {
        *(
            "static",
            "offloaded_static",
            "dynamic",
            "offloaded",
            "quantized",
            "paged",
            "hybrid",
            "sliding_window",
        ),
        *("hybrid_chunked", "offloaded_hybrid", "offloaded_hybrid_chunked"),
    }
)
"""The caches that transformers brings itself."""
ATTENTION = frozenset({"eager", "sdpa", "flex_attention"})
"""What torch brings itself; for the others transformers fetches a kernel where it finds none
installed."""
TOKEN_KEY = re.compile(r"[a-z0-9_]{1,40}_token(_id|s|_ids)?")
WORDS = re.compile(
    r"(\w+_)?(prompts?|templates?|regex|pattern|labels?)|id2label|label2id|languages?"
    r"|token_(str|bytes)",
    re.IGNORECASE,
)
"""Keys whose values are words for people or tokenizers, whatever they look like."""
TOKEN_FIELDS = frozenset(
    {"content", "lstrip", "rstrip", "normalized", "single_word", "special", "id", "__type"}
)
PLACES = (
    (re.compile(r"://|^(file|data|hf[-_]hub|local-dir|javascript):", re.IGNORECASE), "an address"),
    (re.compile(r"^([/\\~]|[a-z]:[/\\]).", re.IGNORECASE), "a path on somebody's disk"),
    (re.compile(r"(^|[/\\])\.\.([/\\]|$)"), "a path out of the folder"),
    (
        re.compile(
            r"\.(py[cdox]?|so|dll|dylib|sh|bat|exe|pkl|pickle)$|^[\w./-]+--[\w.]+$", re.IGNORECASE
        ),
        "code",
    ),
    (
        re.compile(
            r"__[a-z]\w{0,40}__|\b(eval|exec|compile|getattr|system|popen|import_module)\s{0,9}\("
            r"|\blambda\b[^:]{0,80}:|!!python"
        ),
        "code",
    ),
)
"""What a value must not look like, and what it then names; each is looked for in a time that grows
with the text."""
ADDRESS = PLACES[:1]


@dataclass(frozen=True, slots=True)
class Danger:
    """A place in a config, by its keys, and what is wrong there: the name of the setting, or what
    its value says."""

    place: str
    why: str
    by_name: bool = True

    @property
    def key(self) -> str:
        """The innermost key."""
        return self.place.rpartition(".")[2]


def dangers(config: Mapping[str, Any]) -> Iterator[Danger]:
    """Every setting that is more than data, also inside lists and inner dictionaries.

    How weights were quantised is not looked into: such weights are refused anyway
    (submissions/model_files/quantised.py).
    """
    yield from _inside(config, "", False)


def is_token(value: object) -> bool:
    """Whether a dictionary is an AddedToken of a tokenizer: words with a few switches."""
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("content"), str)
        or value.keys() - TOKEN_FIELDS
    ):
        return False
    return value.get("__type", "AddedToken") == "AddedToken" and not any(
        isinstance(part, (dict, list)) for part in value.values()
    )


def is_words(key: str) -> bool:
    """Whether the values under a key are tokens, prompts or labels."""
    return TOKEN_KEY.fullmatch(key) is not None or WORDS.fullmatch(key) is not None


def _inside(config: Mapping[str, Any], place: str, words: bool) -> Iterator[Danger]:
    for key, value in config.items():
        key_path = f"{place}.{key}" if place else key
        if is_quantised(key, value):
            continue
        why = _wrong_key(key, value, config)
        if why:
            yield Danger(key_path, why)
        else:
            name = key.rpartition(".")[2]
            yield from _value(name, value, key_path, words or is_words(name))


def _value(key: str, value: object, place: str, words: bool) -> Iterator[Danger]:
    if is_token(value):
        return
    if isinstance(value, dict):
        yield from _inside(value, place, words)
    elif isinstance(value, list):
        for part in value:
            yield from _value(key, part, place, words)
    elif isinstance(value, str) and not words:
        for pattern, names in ADDRESS if key.lower() in INFORMATION else PLACES:
            if pattern.search(value):
                yield Danger(place, f"its value {shown(value)} names {names}", by_name=False)
                return


def _wrong_key(key: str, value: object, beside: Mapping[str, Any]) -> str:
    """Why a key is refused with this value; empty if it is not. A key that is switched off says
    nothing."""
    name = key.lower().rpartition(".")[2]
    if name.startswith("__"):
        return "such keys belong to Python, not to a config"
    if value is None or value is False or value in ("", []):
        return ""
    if names_quantiser(name) and value:
        return "it names a quantiser that nobody here knows"
    if RUNS.fullmatch(name):
        return "it lets code run that came with the model or from a hub"
    if REACHES.fullmatch(name) or (name == "backbone" and _is_elsewhere(value, beside)):
        return "it makes the loader fetch something from elsewhere"
    if "implementation" in name and not _is_built_in(name, value):
        return f"{shown(value)} is not built into the libraries"
    return ""


def _is_elsewhere(value: object, beside: Mapping[str, Any]) -> bool:
    """A backbone with weights of its own, or from a place of its own."""
    return isinstance(value, str) and (
        bool(beside.get("use_pretrained_backbone")) or bool(re.search("[/:]", value))
    )


def _is_built_in(name: str, value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_built_in(name, part) for part in value.values())
    listed = CACHES if "cache" in name else ATTENTION
    return value is None or isinstance(value, bool) or (isinstance(value, str) and value in listed)
