"""Writes submissions/model_files/model_rules.json: the classes that a handed-in model may name, and
the settings that we know.

Run it by hand when a pipeline, a judge family or a library changes: `python -m
tests.submissions.make_model_rules`. Everything is taken from the installed libraries, so that the
door itself never has to import them.
"""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

RULES = Path(__file__).parents[2] / "submissions" / "model_files" / "model_rules.json"
WIDTH = 118
OURS = ("ArmillaryVideoWorld",)
OUR_KEYS = (
    *(
        "views",
        "latent",
        "horizon",
        "group",
        "depth",
        "heads",
        "steps",
        "strides",
        "action_mean",
        "action_scale",
    ),
    *("tau", "eyes", "fine", "coarse", "nearness", "inverse"),
)
PROCESSING = (
    "ImageProcessor",
    "ImageProcessorFast",
    "ImageProcessorPil",
    "FeatureExtractor",
    "Processor",
)
NEVER = {
    "auto_map",
    "trust_remote_code",
    "custom_pipelines",
    "kwargs",
    "args",
    "self",
    "config",
    "config_class",
}
LOADED_FROM = (
    "modeling_",
    "tokenization_",
    "processing_",
    "image_processing_",
    "feature_extraction_",
    "video_processing_",
)
"""How the modules of transformers begin whose classes are loaded from a folder."""
FIRST_NAMES = {"T5WithLMHeadModel"}
"""What the oldest configs that are still in use call a class of today."""
REACHING_TUNERS = {"XLORA", "SHADOW"}
"""These load further models by names in their config."""
KEPT = (
    *(
        "_class_name",
        "_diffusers_version",
        "_name_or_path",
        "architectures",
        "model_type",
        "transformers_version",
    ),
    *(
        "torch_dtype",
        "dtype",
        "tie_word_embeddings",
        "use_cache",
        "is_encoder_decoder",
        "processor_class",
    ),
    *(
        "tokenizer_class",
        "image_processor_type",
        "feature_extractor_type",
        "backend",
        "added_tokens_decoder",
    ),
    *(
        "additional_special_tokens",
        "extra_special_tokens",
        "clean_up_tokenization_spaces",
        "model_max_length",
    ),
    *(
        "name_or_path",
        "chat_template",
        "is_local",
        "local_files_only",
        "padding_side",
        "truncation_side",
    ),
    *(
        "add_prefix_space",
        "add_bos_token",
        "add_eos_token",
        "do_lower_case",
        "errors",
        "special_tokens_map_file",
    ),
    *(
        "height",
        "width",
        "shortest_edge",
        "longest_edge",
        "rope_type",
        "rope_theta",
        "mrope_section",
        "factor",
    ),
    *(
        "legacy",
        "sp_model_kwargs",
        "spaces_between_special_tokens",
        "use_default_system_prompt",
        "extra_ids",
    ),
    *(
        "image_processor",
        "video_processor",
        "image_token",
        "image_seq_len",
        "image_seq_length",
        "num_additional_image_tokens",
        "patch_size",
        "vision_feature_select_strategy",
        "model_input_names",
        "_from_model_config",
    ),
    *(
        "rope_scaling",
        "cache_implementation",
        "video_processor_type",
        "task_specific_params",
        "output_past",
    ),
    *(
        "torchscript",
        "text_config_dict",
        "vision_config_dict",
        "original_max_position_embeddings",
        "mrope_interleaved",
    ),
    *(
        "pruned_heads",
        "prefix",
        "finetuning_task",
        "cross_attention_hidden_size",
        "tf_legacy_loss",
        "use_bfloat16",
    ),
    *(
        "tie_encoder_decoder",
        "is_decoder",
        "add_cross_attention",
        "sep_token_id",
        "_valid_processor_keys",
    ),
    *(
        "_commit_hash",
        "_attn_implementation_autoset",
        "in_chans",
        "spatial_patch_size",
        "use_fast",
        "remove_space",
    ),
)


def main() -> None:
    """Write what was collected."""
    RULES.write_text(as_text(collect()))


def as_text(rules: dict[str, list[str]]) -> str:
    """The rules as JSON of readable lines, many names a line."""
    return (
        "{\n"
        + ",\n".join(f"{json.dumps(name)}: [\n{_lines(found)}\n]" for name, found in rules.items())
        + "\n}\n"
    )


def _lines(names: list[str]) -> str:
    lines = [""]
    for name in names:
        if len(lines[-1]) + len(name) + 4 > WIDTH:
            lines.append("")
        lines[-1] += f"{json.dumps(name)}, "
    return "\n".join(line.rstrip() for line in lines).rstrip(",")


def collect() -> dict[str, list[str]]:
    """All rules, each list sorted."""
    from evaluators.models.generate.diffusion import PIPELINES
    from evaluators.models.generate.image_to_video import PIPELINES as FILMING

    runs = {"text_to_image": [name for name, makes in PIPELINES.items() if makes == "image"],
            "text_to_video": [name for name, makes in PIPELINES.items() if makes == "video"],
            "image_to_video": FILMING}  # fmt: skip
    ours = {*PIPELINES, *FILMING}
    found = {
        **runs,
        "other_pipelines": _exported_pipelines() - ours,
        "architectures": {*_judges(), *OURS},
        "diffusers": _diffusers_parts(),
        "packages": _package_parts(),
        "transformers": _transformers_parts(),
        "adapters": _tuners(),
        "adapter_keys": _tuner_keys(),
        "keys": _keys(ours),
    }
    return {name: sorted(values) for name, values in found.items()}


def _exported_pipelines() -> set[str]:
    """The pipelines of diffusers, also those that a missing library keeps from being imported
    here."""
    import diffusers

    listed = {name for names in diffusers._import_structure.values() for name in names}
    return {name for name in listed if name.endswith("Pipeline")}


def _judges() -> set[str]:
    """The classes of the model types that a local judge can be: all that are talked to about
    pictures."""
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as CLASSES,
    )

    from evaluators.models.vlm.single import NOT_TALKED_TO

    return {name for kind, name in CLASSES.items() if kind not in NOT_TALKED_TO}


def _diffusers_parts() -> set[str]:
    import diffusers

    listed = [
        name
        for kind in ("models", "schedulers", "guiders")
        for name in diffusers._import_structure[kind]
    ]
    loadable = (diffusers.ModelMixin, diffusers.SchedulerMixin, diffusers.guiders.BaseGuidance)
    found = {name for name in listed if _is_loadable(getattr(diffusers, name, None), loadable)}
    return {name for name in found if not name.endswith("Mixin")}


def _package_parts() -> set[str]:
    """Classes that live in a pipeline's own package, as model_index.json names them: package and
    class."""
    from diffusers import DiffusionPipeline, ModelMixin, pipelines
    from transformers import PreTrainedModel

    found = set[str]()
    for package, module in _packages(pipelines).items():
        for name in {
            name for names in getattr(module, "_import_structure", {}).values() for name in names
        }:
            part = _exported(module, name)
            if _is_loadable(part, (ModelMixin, PreTrainedModel)) and not issubclass(
                part, DiffusionPipeline
            ):
                found.add(f"{package}.{name}")
    return found


def _packages(pipelines: Any) -> dict[str, Any]:
    import pkgutil

    names = [module.name for module in pkgutil.iter_modules(pipelines.__path__) if module.ispkg]
    return {name: getattr(pipelines, name) for name in names if hasattr(pipelines, name)}


def _exported(module: Any, name: str) -> Any:
    """What a lazy module gives under a name that it lists; None where the library lists more than
    it has."""
    try:
        return getattr(module, name, None)
    except RuntimeError:
        return None


def _is_loadable(found: Any, kinds: tuple[type, ...]) -> bool:
    return inspect.isclass(found) and issubclass(found, kinds)


def _transformers_parts() -> set[str]:
    """Models, tokenizers and processors, with the older names that diffusers still maps to them."""
    import transformers
    from diffusers.utils.deprecation_utils import _TRANSFORMERS_CLASS_REMAPPING as OLDER

    where = {
        name: module.rsplit(".", 1)[-1] for name, module in transformers._class_to_module.items()
    }
    found = {
        name
        for name, module in where.items()
        if module.startswith(LOADED_FROM) and re.match(r"[A-Z]\w*[a-z]", name)
    }
    return found | set(OLDER) | FIRST_NAMES


def _tuners() -> set[str]:
    """The kinds of adapters that change a model's own layers, by peft's names."""
    from peft.mapping import PEFT_TYPE_TO_TUNER_MAPPING
    from peft.tuners.tuners_utils import BaseTuner

    kinds = {
        str(getattr(kind, "value", kind)): tuner
        for kind, tuner in PEFT_TYPE_TO_TUNER_MAPPING.items()
    }
    return {kind for kind, tuner in kinds.items() if issubclass(tuner, BaseTuner)} - REACHING_TUNERS


def _tuner_keys() -> set[str]:
    from peft.mapping import PEFT_TYPE_TO_CONFIG_MAPPING

    return {
        field.name for config in PEFT_TYPE_TO_CONFIG_MAPPING.values() for field in fields(config)
    }


def _keys(pipelines: set[str]) -> set[str]:
    """The settings of what we run."""
    import diffusers

    classes, keys = set[str](), set[str](KEPT) | set(OUR_KEYS)
    for name in pipelines:
        _pipeline(getattr(diffusers, name), classes, keys)
    for name in diffusers._import_structure["schedulers"]:
        keys |= _parameters(getattr(diffusers, name))
    _languages(classes, keys)
    return {
        key for key in keys - NEVER if key in KEPT or not (key.startswith("_") or "impl" in key)
    }


def _pipeline(pipeline: Any, classes: set[str], keys: set[str]) -> None:
    for name, parameter in inspect.signature(pipeline.__init__).parameters.items():
        keys.add(name)
        for found in re.findall(r"[A-Z]\w+", str(parameter.annotation)):
            _part(found, classes, keys, getattr(inspect.getmodule(pipeline), found, None))


def _part(name: str, classes: set[str], keys: set[str], nearby: Any = None) -> None:
    """Note a class and its settings; `nearby` is what its pipeline's own module means by the
    name."""
    import diffusers
    import transformers

    found = getattr(diffusers, name, None) or getattr(transformers, name, None) or nearby
    if name in classes or not inspect.isclass(found) or not hasattr(found, "from_pretrained"):
        return
    classes.add(name)
    keys |= _parameters(found)
    if hasattr(found, "config_class") and found.config_class is not None:
        _config(found.config_class, classes, keys)


def _config(config: Any, classes: set[str], keys: set[str]) -> None:
    keys |= (
        set(_all_keys(config().to_dict()))
        | _parameters(config)
        | set(getattr(config, "attribute_map", {}))
    )
    for part in getattr(config, "sub_configs", {}).values():
        if hasattr(part, "model_type") and part.model_type:
            _config(part, classes, keys)


def _languages(classes: set[str], keys: set[str]) -> None:
    import transformers

    keys |= set(transformers.GenerationConfig().to_dict())
    for name in _judges():
        _part(name, classes, keys)
    for name in [name for name in dir(transformers) if name.endswith(PROCESSING)]:
        stem = name
        for ending in PROCESSING:
            stem = stem.removesuffix(ending)
        if any(one.startswith(stem) for one in classes if stem):
            found = getattr(transformers, name)
            classes.add(name)
            keys |= _processing(found)


def _processing(found: Any) -> set[str]:
    try:
        kinds = getattr(found, "valid_kwargs", None)
    except ImportError:
        return set()
    plain = {one for one in vars(found) if not one.startswith("_")}
    return plain | _parameters(found) | set(getattr(kinds, "__annotations__", {}))


def _all_keys(value: Any) -> set[str]:
    if not isinstance(value, dict):
        return set()
    return {str(key) for key in value} | {key for part in value.values() for key in _all_keys(part)}


def _parameters(found: Any) -> set[str]:
    try:
        return set(inspect.signature(found.__init__).parameters) | set(
            getattr(found, "__annotations__", {})
        )
    except (TypeError, ValueError):
        return set()


if __name__ == "__main__":
    main()
