"""Writes submissions/model_rules.json: the pipelines, parts and config keys that a handed-in model may have.

Run it by hand when a pipeline is added: `python -m tests.submissions.make_model_rules`. The list is taken from the
signatures of the installed libraries, so that the door itself never has to import them.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

RULES = Path(__file__).parents[2] / "submissions" / "model_rules.json"
VISION_LANGUAGE = (
    *("PaliGemmaForConditionalGeneration", "Idefics3ForConditionalGeneration", "CLIPModel"),
    *("Qwen2_5_VLForConditionalGeneration", "Qwen3VLForConditionalGeneration", "LlavaForConditionalGeneration"),
    *("LlavaOnevisionForConditionalGeneration", "SmolVLMForConditionalGeneration", "Gemma3ForConditionalGeneration"),
)
OURS = ("ArmillaryDynamics",)
OUR_KEYS = (
    *("views", "latent", "horizon", "group", "depth", "heads", "steps", "strides", "action_mean", "action_scale"),
    *("tau", "eyes", "fine", "coarse", "nearness", "inverse"),
)
PROCESSING = ("ImageProcessor", "ImageProcessorFast", "ImageProcessorPil", "FeatureExtractor", "Processor")
NEVER = {"auto_map", "trust_remote_code", "custom_pipelines", "kwargs", "args", "self", "config", "config_class"}
NO_PARTS = {"PreTrainedModel", "ProcessorMixin"}
MORE_PARTS = {"Gemma2Model", "StableDiffusionSafetyChecker"}
KEPT = (
    *("_class_name", "_diffusers_version", "_name_or_path", "architectures", "model_type", "transformers_version"),
    *("torch_dtype", "dtype", "tie_word_embeddings", "use_cache", "is_encoder_decoder", "processor_class"),
    *("tokenizer_class", "image_processor_type", "feature_extractor_type", "backend", "added_tokens_decoder"),
    *("additional_special_tokens", "extra_special_tokens", "clean_up_tokenization_spaces", "model_max_length"),
    *("name_or_path", "chat_template", "is_local", "local_files_only", "padding_side", "truncation_side"),
    *("add_prefix_space", "add_bos_token", "add_eos_token", "do_lower_case", "errors", "special_tokens_map_file"),
    *("height", "width", "shortest_edge", "longest_edge", "rope_type", "rope_theta", "mrope_section", "factor"),
    *("legacy", "sp_model_kwargs", "spaces_between_special_tokens", "use_default_system_prompt", "extra_ids"),
    *("image_processor", "video_processor", "image_token", "image_seq_len", "image_seq_length", "num_additional_image"
      "_tokens", "patch_size", "vision_feature_select_strategy", "model_input_names", "_from_model_config"),
)  # fmt: skip


def main() -> None:
    """Collect the names and write them."""
    from evaluators.models.diffusion import PIPELINES
    from evaluators.models.image_to_video import PIPELINES as FILMING

    classes, keys = set[str](), set[str](KEPT) | set(OUR_KEYS)
    import diffusers

    for name in [*PIPELINES, *FILMING]:
        if hasattr(diffusers, name):
            _pipeline(getattr(diffusers, name), classes, keys)
    for name in dir(diffusers):
        if name.endswith("Scheduler"):
            classes.add(name)
            keys |= _parameters(getattr(diffusers, name))
    _languages(classes, keys)
    rules = {
        "pipelines": sorted({*PIPELINES, *FILMING}),
        "architectures": sorted((*VISION_LANGUAGE, *OURS)),
        "parts": sorted((classes | MORE_PARTS) - NO_PARTS),
        "keys": sorted(key for key in keys - NEVER if key in KEPT or not (key.startswith("_") or "impl" in key)),
    }
    RULES.write_text(json.dumps(rules, indent=0) + "\n")


def _pipeline(pipeline: Any, classes: set[str], keys: set[str]) -> None:
    for name, parameter in inspect.signature(pipeline.__init__).parameters.items():
        keys.add(name)
        for found in re.findall(r"[A-Z]\w+", str(parameter.annotation)):
            _part(found, classes, keys)


def _part(name: str, classes: set[str], keys: set[str]) -> None:
    import diffusers
    import transformers

    found = getattr(diffusers, name, None) or getattr(transformers, name, None)
    if name in classes or not inspect.isclass(found) or not hasattr(found, "from_pretrained"):
        return
    classes.add(name)
    if name.endswith("Tokenizer"):
        classes.add(f"{name}Fast")
    keys |= _parameters(found)
    if hasattr(found, "config_class") and found.config_class is not None:
        _config(found.config_class, classes, keys)


def _config(config: Any, classes: set[str], keys: set[str]) -> None:
    keys |= set(_all_keys(config().to_dict())) | _parameters(config) | set(getattr(config, "attribute_map", {}))
    for part in getattr(config, "sub_configs", {}).values():
        if hasattr(part, "model_type") and part.model_type:
            _config(part, classes, keys)


def _languages(classes: set[str], keys: set[str]) -> None:
    import transformers

    keys |= set(transformers.GenerationConfig().to_dict())
    for name in VISION_LANGUAGE:
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
        return set(inspect.signature(found.__init__).parameters) | set(getattr(found, "__annotations__", {}))
    except (TypeError, ValueError):
        return set()


if __name__ == "__main__":
    main()
