"""The settings a pipeline is called with: what the team declared, and the pipeline's own for what
is left open."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from evaluators.contracts import Json
from evaluators.models.generate.families import PipelineFamily, Variant

CONFIG_FILES = {
    "": "model_index.json",
    "scheduler": "scheduler_config.json",
    "guider": "guider_config.json",
}
GUIDERS = ("guider", "ocr_guider")
"""Parts that hold a pipeline's guidance; HunyuanImage has one more for words in the picture."""
SHIFTS = ("flow_shift", "shift")
"""How schedulers of flow matching name the shift of their noise levels."""


@dataclass(frozen=True, slots=True)
class SamplerSettings:
    """The sampler's settings as declared; None is the pipeline's own. `frames` and `fps` are for
    clips."""

    steps: int | None = None
    guidance: float | None = None
    height: int | None = None
    width: int | None = None
    frames: int | None = None
    fps: float | None = None


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """The sampler's settings in full, and those of them that nobody declared."""

    steps: int
    guidance: float
    height: int
    width: int
    frames: int
    fps: float
    left_open: tuple[str, ...] = ()


DECLARED_NOTHING = SamplerSettings()


def sampling_of(declared: Mapping[str, Any]) -> SamplerSettings:
    """What a manifest declares of the sampler."""
    return SamplerSettings(
        **{field.name: declared[field.name] for field in fields(SamplerSettings)}
    )


def settle(family: PipelineFamily, folder: Path, declared: SamplerSettings) -> PipelineSettings:
    """The declared settings, completed by the folder's authors', its configs' and the signature's.

    Weights are not read for it.
    """
    chosen = {field.name: getattr(declared, field.name) for field in fields(SamplerSettings)}
    if family.modality == "image":
        chosen |= {"frames": 1, "fps": family.fps}
    left_open = tuple(name for name, value in chosen.items() if value is None)
    if not left_open and family.sets_size:
        return PipelineSettings(**chosen)
    own = _own_settings(family, folder)
    if not family.sets_size and not {"height", "width"} <= {*left_open}:
        raise ValueError(
            f"{family.called} takes its size from its folder: {own['height']} by {own['width']}. "
            "Leave height and width out of the manifest."
        )
    return PipelineSettings(
        **{name: own[name] if value is None else value for name, value in chosen.items()},
        left_open=left_open,
    )


def arguments_of(family: PipelineFamily, settings: PipelineSettings) -> dict[str, Any]:
    """What the pipeline is called with; an error where it would not take a setting that we
    record."""
    arguments: dict[str, Any] = {"num_inference_steps": settings.steps}
    if family.sets_size:
        arguments |= {"height": settings.height, "width": settings.width}
    if family.guidance != "guider":
        arguments[family.guidance] = settings.guidance
    if family.negative is not None:
        arguments["negative_prompt"] = family.negative
    if family.modality == "video":
        arguments["num_frames"] = settings.frames
    if family.rate:
        whole = float(settings.fps).is_integer()
        arguments[family.rate] = int(settings.fps) if whole else settings.fps
    if unknown := sorted(arguments.keys() - signature_of(family.called).keys()):
        raise ValueError(
            f"{family.called} does not take {', '.join(unknown)}, so its record would not be true."
        )
    return arguments


def own_choices(
    family: PipelineFamily, folder: Path, settings: PipelineSettings
) -> dict[str, Json]:
    """What an output's record says of the settings that nobody declared; nothing where all are."""
    if not settings.left_open:
        return {}
    choices: dict[str, Json] = {"left_open": list(settings.left_open), "class": family.called}
    named = arguments_of(family, settings)
    choices["arguments"] = {name: named[name] for name in sorted(named)}
    for name in SHIFTS:
        if (shift := configured(folder, "scheduler", name)) is not None:
            choices[name] = shift
    return {"pipeline_defaults": choices}


def guide(pipeline: Any, family: PipelineFamily, settings: PipelineSettings) -> None:
    """Give a declared guidance to a pipeline that keeps it in parts of its own."""
    if family.guidance != "guider" or "guidance" in settings.left_open:
        return
    for part in GUIDERS:
        if (guider := getattr(pipeline, part, None)) is not None:
            setattr(pipeline, part, guider.new(guidance_scale=settings.guidance))


def signature_of(name: str) -> Mapping[str, inspect.Parameter]:
    """The arguments of a pipeline class of diffusers."""
    import diffusers

    library: Any = diffusers
    return inspect.signature(getattr(library, name).__call__).parameters


def configured(folder: Path, part: str, key: str) -> Any:
    """A setting of a part's config; where the file is silent, the default of the class that it
    names."""
    file = folder / part / CONFIG_FILES.get(part, "config.json")
    config: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    if key in config:
        return config[key]
    import diffusers

    library: Any = diffusers
    kind = getattr(library, _class_name(folder, part, config), None)
    default = inspect.signature(kind.__init__).parameters.get(key) if kind else None
    return (
        None if default is None or default.default is inspect.Parameter.empty else default.default
    )


def _class_name(folder: Path, part: str, config: Mapping[str, Any]) -> str:
    if "_class_name" in config or not part:
        return str(config.get("_class_name"))
    index = json.loads((folder / "model_index.json").read_text("utf-8"))
    return str((index.get(part) or [None, None])[1])


def _own_settings(family: PipelineFamily, folder: Path) -> dict[str, Any]:
    """The family's settings for this folder: of its variant, else of the configs, else of the
    signature."""
    default = {name: value.default for name, value in signature_of(family.called).items()}
    height, width = _own_size(family, folder, default)
    own = {
        "steps": default["num_inference_steps"],
        "guidance": _own_guidance(family, folder, default),
        "height": height,
        "width": width,
        "frames": _own_frames(family, folder, default),
        "fps": float(default.get(family.rate) or family.fps),
    }
    for variant in family.variants:
        if configured(folder, variant.config, variant.key) == variant.value:
            own |= _changes(variant)
    return own


def _changes(variant: Variant) -> dict[str, Any]:
    values = {field.name: getattr(variant, field.name) for field in fields(SamplerSettings)}
    return {name: value for name, value in values.items() if value is not None}


def _own_guidance(family: PipelineFamily, folder: Path, default: Mapping[str, Any]) -> float:
    if family.guidance == "guider":
        return float(configured(folder, "guider", "guidance_scale"))
    return float(default[family.guidance])


def _own_frames(family: PipelineFamily, folder: Path, default: Mapping[str, Any]) -> int:
    if family.modality == "image":
        return 1
    if default.get("num_frames") is not None:
        return int(default["num_frames"])
    if family.frames.isdigit():
        return int(family.frames)
    key = "num_frames" if family.frames == "unet" else "sample_frames"
    return int(configured(folder, family.frames, key))


def _own_size(family: PipelineFamily, folder: Path, default: Mapping[str, Any]) -> tuple[int, int]:
    if default.get("height") is not None:
        return default["height"], default["width"]
    if family.size == "target":
        return _targeted(configured(folder, "transformer", "target_size"))
    if "x" in family.size:
        height, width = family.size.split("x")
        return int(height), int(width)
    factor = _vae_factor(folder)
    if family.size.isdigit():
        return int(family.size) * factor, int(family.size) * factor
    latent = configured(folder, family.size, "sample_size")
    if latent is None:
        sides = [configured(folder, family.size, f"sample_{side}") for side in ("height", "width")]
    else:
        sides = list(latent) if isinstance(latent, (list, tuple)) else [latent, latent]
    if None in sides:
        raise ValueError(
            f"{folder / family.size} says no size, so {family.called} has none of its own. "
            "Declare height and width in the manifest."
        )
    return sides[0] * factor, sides[1] * factor


def _targeted(size: int) -> tuple[int, int]:
    """HunyuanVideo-1.5's own size for wide pictures, of its table for this many pixels a side."""
    from diffusers.pipelines.hunyuan_video1_5.image_processor import HunyuanVideo15ImageProcessor

    table: Any = HunyuanVideo15ImageProcessor(vae_scale_factor=16)
    height, width = table.calculate_default_height_width(9, 16, size)
    return int(height), int(width)


def _vae_factor(folder: Path) -> int:
    """How many pixels a side a latent stands for."""
    if (blocks := configured(folder, "vae", "block_out_channels")) is not None:
        return int(2 ** (len(blocks) - 1))
    if (halvings := configured(folder, "vae", "temperal_downsample")) is not None:
        return int(2 ** len(halvings))
    return 8
