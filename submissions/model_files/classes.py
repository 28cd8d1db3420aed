"""Which classes a model's configs may name: parts of diffusers and transformers, and the pipelines
that run here."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from submissions.format.errors import Problem, shown

Rules = Mapping[str, Set[str]]
FORMS = {
    "text_to_image": "text-to-image",
    "text_to_video": "text-to-video",
    "image_to_video": "image-to-video",
}
FORMS_OF = {"image": ("text_to_image",), "video": ("text_to_video", "image_to_video")}
"""The forms in which a pipeline makes outputs of a modality."""
TYPE_KEYS = (
    *(
        "tokenizer_class",
        "processor_class",
        "image_processor_type",
        "feature_extractor_type",
        "video_processor_type",
    ),
    *("slow_tokenizer_class", "fast_image_processor_class"),
)
"""Settings by which transformers looks for a class of its own."""
PROCESSORS = ("image_processor", "video_processor", "feature_extractor")
"""Where a processor_config.json has the settings of the processors inside it."""
KNOWN_JUDGES = (
    *("PaliGemmaForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration"),
    *("Gemma3ForConditionalGeneration", "InternVLForConditionalGeneration"),
)
NO_PARTS = frozenset({"_class_name", "_ignore_files"})
"""Lists of a model_index.json that are no parts: diffusers drops the second when it loads."""
PART_NAME = re.compile(r"[A-Za-z]\w*")
DIFFUSERS_HINT = (
    "Hand in a diffusers folder as save_pretrained wrote it (on hubs often called -Diffusers)."
)


@lru_cache(maxsize=1)
def rules() -> dict[str, frozenset[str]]:
    """The classes and settings that we know (tests/submissions/make_model_rules.py)."""
    listed = json.loads((Path(__file__).parent / "model_rules.json").read_text("utf-8"))
    names = {name: frozenset(values) for name, values in listed.items()}
    packaged = {name.partition(".")[2] for name in names["packages"]}
    return names | {
        "pipelines": frozenset().union(*(names[form] for form in FORMS)),
        "parts": names["diffusers"] | names["transformers"] | packaged,
    }


def pipeline_problems(
    path: str, index: Mapping[str, Any], rules: Rules, modalities: Sequence[str] = ()
) -> Iterator[Problem]:
    """A pipeline that runs here, of parts that the libraries bring."""
    name = index.get("_class_name")
    if not isinstance(name, str) or name not in rules["pipelines"]:
        yield _no_pipeline(path, name, rules, modalities)
    for key, value in index.items():
        if is_part_entry(key, value) and not _is_part(key, value, rules):
            message = (
                f"The part {shown(key)} is {shown(value)}, not the library and name of a class "
                "that we have."
            )
            yield Problem(
                "E_ARCHITECTURE", shown(path), message, "Use parts of diffusers and transformers."
            )


def is_part_entry(key: str, value: object) -> bool:
    """Whether an entry of a model_index.json is a list that has to be the library and class of a
    part."""
    return isinstance(value, list) and key not in NO_PARTS and not is_setting(value)


def is_setting(value: Sequence[object]) -> bool:
    """Whether a list in a model_index.json is numbers, not the library and class of a part."""
    return all(part is None or isinstance(part, (bool, int, float)) for part in value) and list(
        value
    ) != [None, None]


def part_problems(
    path: str, config: Mapping[str, Any], rules: Rules, names: Set[str] = frozenset()
) -> Iterator[Problem]:
    """The classes that a config names are ones that the libraries bring.

    How a tokenizer or processor inside a pipeline calls itself is not asked when it is loaded, nor
    how a tokenizer does that has a tokenizer.json, so that costs a word.
    """
    named = config.get("architectures")
    for name in [config.get("_class_name"), *(named if isinstance(named, list) else [named])]:
        if name is not None and not _is_named(name, rules["parts"] | rules["architectures"]):
            yield unknown_class(path, name)
    for settings in [config, *(config.get(key) for key in PROCESSORS)]:
        if isinstance(settings, Mapping):
            yield from _type_problems(path, settings, rules, names)


def _type_problems(
    path: str, config: Mapping[str, Any], rules: Rules, names: Set[str]
) -> Iterator[Problem]:
    for key in TYPE_KEYS:
        name = config.get(key)
        if name is None or _is_named(name, rules["transformers"]):
            continue
        instead = _loaded_by(path, key, names)
        if instead and isinstance(name, str) and PART_NAME.fullmatch(name):
            message = f"{key} is {shown(name)}, which is no class here; it is loaded {instead}."
            hint = "Nothing to do if that is what you mean."
            yield Problem("W_ARCHITECTURE", shown(path), message, hint)
        else:
            yield unknown_class(path, name, _like(name, rules["transformers"]))


def _loaded_by(path: str, key: str, names: Set[str]) -> str:
    """What a loader goes by when it does not know the class that is named; empty if it stops."""
    if path.count("/") > 1:
        return "as the pipeline's index says"
    beside = str(PurePosixPath(path).parent / "tokenizer.json") in names
    return "from the tokenizer.json beside it" if key == "tokenizer_class" and beside else ""


def entry_problems(path: str, config: Mapping[str, Any], rules: Rules) -> Iterator[Problem]:
    """A whole model of transformers, or of our own, is one that a suite here can run."""
    named = config.get("architectures")
    names = named if isinstance(named, list) and named else [config.get("_class_name")]
    hint = (
        "These have: models of transformers that are shown pictures and talked to in turns "
        f"({len(rules['architectures'])} classes, such as {', '.join(KNOWN_JUDGES)}), and "
        "ArmillaryVideoWorld for a world model."
    )
    for name in names:
        if name is None:
            message = "It names no class, so nobody can tell what model this is."
            yield Problem("E_ARCHITECTURE", shown(path), message, DIFFUSERS_HINT)
        elif isinstance(name, str) and name in rules["parts"] - rules["architectures"]:
            message = (
                f"{shown(name)} is a part of a pipeline, or a model that has no form as a judge "
                "here."
            )
            yield Problem("E_ARCHITECTURE", shown(path), message, hint)


def is_talked_to(config: Mapping[str, Any], rules: Rules) -> bool:
    """Whether a whole model is a judge that needs a chat template; PaliGemma is asked in one
    line."""
    named = config.get("architectures")
    name = named[0] if isinstance(named, list) and named else None
    return (
        isinstance(name, str)
        and name in rules["architectures"]
        and not name.startswith(("PaliGemma", "Armillary"))
    )


def _like(name: object, listed: Set[str]) -> str:
    """What to do about the name of a tokenizer or processor that is gone."""
    close = difflib.get_close_matches(str(name)[:100], sorted(listed), n=3, cutoff=0.8)
    again = "Save the processor again with save_pretrained of a transformers of today"
    return f"{again}, or name one of {', '.join(close)}." if close else f"{again}."


def unknown_class(path: str, name: object, hint: str = DIFFUSERS_HINT) -> Problem:
    """The refusal of a class that no library here brings."""
    message = (
        f"The class {shown(name)} is not one of diffusers or transformers as they are installed "
        "here."
    )
    return Problem("E_ARCHITECTURE", shown(path), message, hint)


def _is_named(name: object, listed: Set[str]) -> bool:
    """Whether a name is listed; transformers takes tokenizers and processors also with the ending
    Fast."""
    return isinstance(name, str) and (name in listed or name.removesuffix("Fast") in listed)


def _is_part(key: str, value: Sequence[object], rules: Rules) -> bool:
    if list(value) == [None, None]:
        return True
    if len(value) != 2 or not isinstance(value[1], str) or not PART_NAME.fullmatch(key):
        return False
    library, name = value
    if library == "diffusers":
        return name in rules["diffusers"]
    if library in (None, "transformers"):
        return _is_named(name, rules["transformers"])
    return isinstance(library, str) and f"{library}.{name}" in rules["packages"]


def _no_pipeline(path: str, name: object, rules: Rules, modalities: Sequence[str]) -> Problem:
    possible_forms = [
        form for modality in modalities for form in FORMS_OF.get(modality, ())
    ] or list(FORMS)
    if isinstance(name, str) and name in rules["other_pipelines"]:
        forms = " or ".join(FORMS[form] for form in possible_forms)
        message = f"{shown(name)} has no {forms} form here."
    else:
        message = f"The class {shown(name)} is not in our list of pipelines."
    listing = "; ".join(
        f"{FORMS[form]}: {', '.join(sorted(rules[form]))}" for form in possible_forms
    )
    return Problem("E_ARCHITECTURE", shown(path), message, f"These have: {listing}.")
