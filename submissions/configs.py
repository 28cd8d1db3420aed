"""A model's config files: settings by an allow-list of keys, classes by a list, never a name of code or a place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from pathlib import PurePosixPath
from typing import Any

from submissions.errors import Problem, shown
from submissions.templates import template_problems

DATA = frozenset(
    {"id2label", "label2id", "added_tokens_decoder", "task_specific_params", "vocab", "merges", "weight_map"}
)
"""Keys whose inner keys are data, not settings."""
TOKENIZERS = frozenset({"tokenizer.json", "vocab.json", "added_tokens.json", "special_tokens_map.json"})
TOKENIZER_KEYS = frozenset({
    *("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder"),
    "model",
})  # fmt: skip
LIBRARIES = (None, "diffusers", "transformers", "stable_diffusion")
CODE = re.compile(r"://|\.py$|--|^file:|^/|\.\./|^~")
"""What a value must not look like: an address, a path, a module of a repository."""
NAMES_ONLY = frozenset({"_name_or_path", "name_or_path"})
TOKEN_KEY = re.compile(r"[a-z0-9_]{1,40}_token(_id|s|_ids)?")
ADAPTER_KEYS = frozenset({
    *("peft_type", "task_type", "r", "lora_alpha", "lora_dropout", "target_modules", "modules_to_save", "bias"),
    *("base_model_name_or_path", "revision", "fan_in_fan_out", "inference_mode", "init_lora_weights", "use_rslora"),
    *("use_dora", "rank_pattern", "alpha_pattern", "layers_to_transform", "layers_pattern", "exclude_modules"),
    *("peft_version", "lora_bias", "megatron_config", "megatron_core", "auto_mapping", "corda_config", "eva_config"),
    *("loftq_config", "layer_replication", "trainable_token_indices", "target_parameters", "use_qalora"),
    "qalora_group_size",
})  # fmt: skip
ADAPTER_UNUSED = frozenset({
    *("alora_invocation_tokens", "arrow_config", "ensure_weight_tying", "kasa_config", "lora_ga_config"),
    *("monteclora_config", "use_bdlora", "velora_config"),
})  # fmt: skip
"""What peft writes into every config of its kind; taken if it says nothing."""
BASES = frozenset({
    *("stabilityai/stable-diffusion-xl-base-1.0", "stabilityai/stable-diffusion-3.5-medium"),
    *("black-forest-labs/FLUX.1-dev", "Qwen/Qwen-Image", "Wan-AI/Wan2.1-T2V-1.3B-Diffusers"),
    *("Wan-AI/Wan2.2-T2V-A14B-Diffusers", "google/paligemma2-3b-mix-448", "google/paligemma2-3b-pt-224"),
    "armillary/arena-reader",
})  # fmt: skip
"""The models that adapters may stand on."""
FRAMES = re.compile(r"(uniform|first)-([1-9]|[1-5][0-9]|6[0-4])")
REVISION = re.compile(r"[0-9a-f]{40}")
SHARD = re.compile(r"[\w.-]{1,200}\.safetensors")


def config_problems(path: str, config: Mapping[str, Any], rules: Mapping[str, Set[str]]) -> Iterator[Problem]:
    """Everything in a config that is no plain setting of a class we know."""
    name = PurePosixPath(path).name
    if name in TOKENIZERS:
        yield from _tokenizer_problems(path, name, config)
        return
    if name == "model_index.json":
        yield from _pipeline_problems(path, config, rules)
    else:
        yield from _class_problems(path, config, rules)
        yield from _key_problems(path, config, rules["keys"])
    for source in _templates(config.get("chat_template")):
        yield from template_problems(path, source)


def index_problems(path: str, index: Mapping[str, Any], names: Set[str]) -> Iterator[Problem]:
    """A sharded model's index names shards beside it, and nothing else."""
    shards = index.get("weight_map")
    folder = PurePosixPath(path).parent
    listed = set(shards.values()) if isinstance(shards, dict) and all(map(_is_shard, shards.values())) else None
    absent = sorted(one for one in listed or () if f"{folder}/{one}" not in names)
    if not listed or absent or index.keys() - {"metadata", "weight_map"}:
        what = f"The shard {shown(absent[0])} is not in the bundle." if absent else "It names other things than shards."
        yield Problem("E_WEIGHTS_INDEX", shown(path), what, "Save the model again with save_pretrained.")


def adapter_problems(path: str, config: Mapping[str, Any]) -> Iterator[Problem]:
    """An adapter stands on a listed model at one commit."""
    base, revision = config.get("base_model_name_or_path"), config.get("revision")
    if base not in BASES or not isinstance(revision, str) or not REVISION.fullmatch(revision):
        hint = f"Use one of {', '.join(sorted(BASES))}, with a 40-digit revision."
        yield Problem("E_BASE_MODEL", shown(path), f"The base is {shown(base)} at {shown(revision)}.", hint)
    for key, value in config.items():
        unset = value is None or value is False
        if (key not in ADAPTER_KEYS and not (key in ADAPTER_UNUSED and unset)) or (key == "auto_mapping" and not unset):
            yield _bad_key(path, key)


def sight_problems(path: str, config: Mapping[str, Any]) -> Iterator[Problem]:
    """A judge's judge.json says which frames it sees and under which mask, and nothing else."""
    frames, mask = config.get("frames", "uniform-8"), config.get("mask", "own")
    known = isinstance(frames, str) and FRAMES.fullmatch(frames) and mask in ("own", "image_first")
    if not known or config.keys() - {"frames", "mask"}:
        hint = 'Write {"frames": "uniform-8", "mask": "own"}: uniform or first, 1 to 64; own or image_first.'
        yield Problem("E_CONFIG_KEY", shown(path), "It says something else than frames and mask.", hint)


def _is_shard(value: object) -> bool:
    return isinstance(value, str) and SHARD.fullmatch(value) is not None and ".." not in value


def _tokenizer_problems(path: str, name: str, config: Mapping[str, Any]) -> Iterator[Problem]:
    if name == "tokenizer.json":
        yield from (_bad_key(path, key) for key in config if key not in TOKENIZER_KEYS)
    elif name == "special_tokens_map.json":
        yield from (_bad_key(path, key) for key in config if not TOKEN_KEY.fullmatch(key))
    elif not all(type(value) is int for value in config.values()):
        yield Problem("E_CONFIG_JSON", shown(path), "It is no list of words with numbers.", "Save the tokenizer again.")


def _pipeline_problems(path: str, index: Mapping[str, Any], rules: Mapping[str, Set[str]]) -> Iterator[Problem]:
    if index.get("_class_name") not in rules["pipelines"]:
        yield _unknown_class(path, index.get("_class_name"), rules["pipelines"])
    for key, value in index.items():
        if isinstance(value, list):
            known = value == [None, None] or (
                len(value) == 2 and value[0] in LIBRARIES and isinstance(value[1], str) and value[1] in rules["parts"]
            )
            if not known:
                yield _unknown_class(path, value, ())
        elif isinstance(value, dict) or key not in rules["keys"] or _names_code(key, value):
            yield _bad_key(path, key)


def _class_problems(path: str, config: Mapping[str, Any], rules: Mapping[str, Set[str]]) -> Iterator[Problem]:
    known = rules["architectures"] | rules["parts"]
    said = config.get("architectures")
    named = [config.get("_class_name"), *(said if isinstance(said, list) else [said])]
    for name in named:
        if name is not None and (not isinstance(name, str) or name not in known):
            yield _unknown_class(path, name, rules["architectures"])


def _key_problems(path: str, config: Mapping[str, Any], keys: Set[str]) -> Iterator[Problem]:
    for key, value in config.items():
        if not (key in keys or TOKEN_KEY.fullmatch(key)) or _names_code(key, value):
            yield _bad_key(path, key)
        elif isinstance(value, dict) and key not in DATA:
            yield from _key_problems(path, value, keys)
        elif isinstance(value, list) and key not in DATA:
            for part in value:
                if isinstance(part, dict):
                    yield from _key_problems(path, part, keys | {"name", "template", "content"})


def _names_code(key: str, value: object) -> bool:
    if not isinstance(value, str) or key in NAMES_ONLY or key == "chat_template" or TOKEN_KEY.fullmatch(key):
        return False
    return CODE.search(value) is not None


def _templates(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _templates(part.get("template") if isinstance(part, dict) else part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _templates(part)


def _bad_key(path: str, key: str) -> Problem:
    message = f"The key {shown(key)} is not one we take, or its value names code or a place."
    return Problem("E_CONFIG_KEY", shown(path), message, f"Remove {shown(key)}, or ask us to add it.")


def _unknown_class(path: str, name: object, known: Set[str] | tuple[str, ...]) -> Problem:
    hint = f"Known are {', '.join(sorted(known)[:12])}." if known else "Use parts of diffusers and transformers."
    return Problem("E_ARCHITECTURE", shown(path), f"The class {shown(name)} is not in our list.", hint)
