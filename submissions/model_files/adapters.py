"""Checks of adapters: peft's config, LoRA weights by the names of their tensors, and the base model
that both name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from submissions.format.errors import Problem, shown
from submissions.format.manifest import Hub
from submissions.model_files.classes import Rules
from submissions.model_files.configs import danger_problems, unknown_settings
from submissions.model_files.dangerous_settings import ADDRESS, Danger, dangers
from submissions.model_files.quantised import quantised_settings

BASES = frozenset(
    {
        *("stabilityai/stable-diffusion-xl-base-1.0", "stabilityai/stable-diffusion-3.5-medium"),
        *("black-forest-labs/FLUX.1-dev", "Qwen/Qwen-Image", "Wan-AI/Wan2.1-T2V-1.3B-Diffusers"),
        *(
            "Wan-AI/Wan2.2-T2V-A14B-Diffusers",
            "google/paligemma2-3b-mix-448",
            "google/paligemma2-3b-pt-224",
        ),
        "armillary/drawn-reader",
    }
)
"""The models that an adapter's own config may name; the manifest may name any that an operator put
on the shelf."""
REVISION = re.compile(r"[0-9a-f]{40}")
OURS = "WEIGHTS"
"""The kind of an adapter that replaces weights of its base (evaluators/models/adapt/folder.py)."""
FILE_KEY = re.compile(r"(?!base_model_name_or_path)(\w+_)?(file|path|dir|folder)")
MEGATRON = "megatron.core"
"""What peft writes into every LoRA's config; it is imported only beside a megatron_config."""
CHECKED_APART = ("base_model_name_or_path", "megatron_core", "auto_mapping")
BASE_CLASS = {
    "base_model_class": re.compile(r"[A-Za-z]\w*"),
    "parent_library": re.compile(r"(transformers|diffusers)(\.[a-z]\w*)+"),
}
"""What peft notes of the class that it was trained on, if that is one of the libraries; the base
is loaded as the manifest says, not by this."""
BASE_HINT = (
    'Write it into the manifest: "model": {..., "base": {"id": "org/name", '
    '"revision": "<40 hex digits>"}}.'
)
WEIGHTS_HINT = (
    "Save it as a LoRA with save_lora_weights, or with peft's save_pretrained beside its "
    "adapter_config.json."
)

LORA = re.compile(
    r".+\.(lora_(A|B|down|up|mid)(\.\w+)?\.(weight|bias)|lora\.(down|up)\.weight"
    r"|(\w+_)?lora\d?\.(down|up)\.weight"
    r"|lora_(down|up)|lora_[AB]|lora_magnitude_vector(\.\w+)*|alpha|diff|diff_b|(query"
    r"|key)_norm\.scale"
    r"|norm_(added_)?[qk]\.weight)"
)
"""How the tensors of a LoRA end, whoever wrote it; control LoRAs bring the scales of their norms
too."""
OTHER_KINDS = {
    "DoRA": re.compile(r".+\.dora_scale"),
    "LoHa": re.compile(r".+\.hada_[wt]\d(_[ab])?"),
    "OFT": re.compile(r".+\.(oft_\w+|rescale)"),
    "GLoRA": re.compile(r".+\.(a1|a2|b1|b2)\.weight"),
}
LOKR = re.compile(r".+\.lokr_(w[12](_[ab])?|t2)")
NOISE = re.compile(r"(?<![a-z])(?:high|low)|(?:high|low)(?=[_-]?noise)")
LAYOUTS = {
    "peft": re.compile(r"base_model\.model\."),
    "xlabs": re.compile(r"(double|single)_blocks\.\d+\.processor\."),
    "kohya": re.compile(r"(lora_(unet|te\d?|transformer|prior|llm)|lycoris)_"),
    "ai-toolkit": re.compile(r"diffusion_model\."),
    "bfl": re.compile(
        r"((double|single)_blocks|img_in|txt_in|time_in|vector_in|guidance_in|final_layer)\."
    ),
    "diffusers": re.compile(
        r"(transformer|transformer_2|unet|text_encoder(_[23])?|connectors)\.|\w+\."
    ),
}
"""Who writes a LoRA in which way, by how its tensors begin."""


def adapter_problems(
    path: str, config: Mapping[str, Any], rules: Rules, base: Hub | None = None
) -> Iterator[Problem]:
    """An adapter of a known kind that stands on one commit of a model, in plain settings."""
    yield from _base_problems(path, config, base)
    kind = config.get("peft_type")
    if not isinstance(kind, str) or kind not in rules["adapters"] | {OURS}:
        message = f"The kind of adapter (peft_type) is {shown(kind)}."
        yield Problem(
            "E_ADAPTER",
            shown(path),
            message,
            f"These are taken: {', '.join(sorted(rules['adapters']))}.",
        )
    yield from quantised_settings(path, config)
    yield from danger_problems(path, setting_dangers(config))
    yield from unknown_settings(path, config, rules["adapter_keys"])


def setting_dangers(config: Mapping[str, Any]) -> Iterator[Danger]:
    """What in an adapter's settings is more than data: peft also reads files and imports a module
    by its name."""
    yield from dangers({key: value for key, value in config.items() if key not in CHECKED_APART})
    yield from _files(config, "")
    yield from _mapping_dangers(config.get("auto_mapping"))
    if config.get("megatron_core") not in (None, MEGATRON):
        yield Danger("megatron_core", "it names a module to import")


def weights_problems(files: Mapping[str, Collection[str]], base: Hub | None) -> Iterator[Problem]:
    """Weights of an adapter without a config: one LoRA, or a pair for high and low noise, on a
    named base."""
    first = next(iter(files))
    if base is None:
        message = (
            f"These are weights of an adapter ({layout_of(files[first])} layout), and no base is "
            "named."
        )
        yield Problem("E_BASE_MODEL", shown(first), message, BASE_HINT)
    if len(files) > 1 and not is_pair(list(files)):
        message = f"There are {len(files)} files of adapter weights."
        hint = (
            "Hand in one, or two whose names say high and low (noise) for a base with two "
            "transformers."
        )
        yield Problem("E_ADAPTER", shown(first), message, hint)
    for path, names in files.items():
        kind = next(
            (kind for kind, ends in OTHER_KINDS.items() if any(map(ends.fullmatch, names))), None
        )
        if kind:
            message = (
                f"These are weights of a {kind}, which diffusers does not load, or loads only in "
                "part."
            )
            yield Problem("E_ADAPTER", shown(path), message, WEIGHTS_HINT)
        elif any(map(LOKR.fullmatch, names)):
            message = (
                "These are weights of a LoKr; diffusers loads it for a few bases only, FLUX.2 and "
                "Z-Image."
            )
            yield Problem("W_ADAPTER", shown(path), message, WEIGHTS_HINT)


def beside_problems(paths: Collection[str]) -> Iterator[Problem]:
    """Weights beside an adapter that are none, such as words that were learned with it."""
    for path in sorted(paths):
        message = "These weights lie beside an adapter and are none that is loaded here."
        hint = (
            "Hand in the adapter alone. Words that were learned with it (an embedding) are not "
            "loaded, so train it without them."
        )
        yield Problem("E_ADAPTER", shown(path), message, hint)


def layout_of(names: Collection[str]) -> str | None:
    """Who writes adapters with such tensors; None for tensors that are no adapter's alone.

    >>> layout_of(["lora_unet_blocks_0_q.lora_down.weight"]), layout_of(["conv_in.weight"])
    ('kohya', None)
    """
    ends = (LORA, LOKR, *OTHER_KINDS.values())
    if not names or not all(any(end.fullmatch(name) for end in ends) for name in names):
        return None
    return next(
        (layout for layout, begins in LAYOUTS.items() if any(map(begins.match, names))), None
    )


def is_pair(paths: Sequence[str]) -> bool:
    """Whether two files are the high-noise and the low-noise half of one adapter, by their
    names."""
    names = [PurePosixPath(path).name.lower() for path in paths]
    halves = sorted(tuple(sorted(set(NOISE.findall(name)))) for name in names)
    return halves == [("high",), ("low",)]


def _mapping_dangers(mapping: object) -> Iterator[Danger]:
    """A note of a class of the libraries is data, and so is what else is plain in it."""
    plain = isinstance(mapping, dict) and all(
        isinstance(value := mapping.get(key), str) and form.fullmatch(value)
        for key, form in BASE_CLASS.items()
    )
    if isinstance(mapping, dict) and plain:
        yield from dangers({key: part for key, part in mapping.items() if key not in BASE_CLASS})
    else:
        yield from dangers({"auto_mapping": mapping})


def _base_problems(path: str, config: Mapping[str, Any], base: Hub | None) -> Iterator[Problem]:
    named, revision = config.get("base_model_name_or_path"), config.get("revision")
    if (
        not isinstance(named, str | None)
        or not isinstance(revision, str | None)
        or _is_address(named)
    ):
        yield _no_base(path, named, revision, "Name a model, not an address. " + BASE_HINT)
    elif base is None:
        if named not in BASES or not REVISION.fullmatch(revision or ""):
            yield _no_base(
                path, named, revision, f"{BASE_HINT} Known without it: {', '.join(sorted(BASES))}."
            )
    elif revision not in (None, "", "main", base.revision) and named == base.id:
        yield _no_base(
            path,
            named,
            revision,
            f"The manifest says {base.revision}. Name the same commit in both.",
        )
    elif named not in (None, "", base.id):
        message = (
            f"Its config names {shown(named)} as the base; the manifest's {base.id} is what counts."
        )
        yield Problem(
            "W_BASE_MODEL", shown(path), message, "Make sure that both are the same model."
        )


def _is_address(named: str | None) -> bool:
    return named is not None and any(pattern.search(named) for pattern, _ in ADDRESS)


def _no_base(path: str, named: object, revision: object, hint: str) -> Problem:
    return Problem(
        "E_BASE_MODEL", shown(path), f"The base is {shown(named)} at {shown(revision)}.", hint
    )


def _files(config: Mapping[str, Any], place: str) -> Iterator[Danger]:
    """Settings by which peft reads a file: what it wants to know of a file's content stands in the
    weights."""
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _files(value, f"{place}{key}.")
        elif isinstance(value, str) and value and FILE_KEY.fullmatch(key.lower()):
            yield Danger(f"{place}{key}", "it names a file to read")
