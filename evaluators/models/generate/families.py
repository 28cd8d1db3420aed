"""What each family of diffusers pipelines wants of its caller beyond a prompt: one row a family and
form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Modality = Literal["image", "video"]
Form = Literal["text_to_image", "text_to_video", "image_to_video"]
FORM_NAMES: Mapping[Form, str] = {
    "text_to_image": "text-to-image",
    "text_to_video": "text-to-video",
    "image_to_video": "image-to-video",
}


@dataclass(frozen=True, slots=True)
class Variant:
    """What the authors of some folders of a family mean otherwise; a setting in a config tells
    those folders."""

    config: str
    key: str
    value: float | bool
    steps: int | None = None
    guidance: float | None = None
    height: int | None = None
    width: int | None = None
    frames: int | None = None
    fps: float | None = None


@dataclass(frozen=True, slots=True)
class PipelineFamily:
    """A pipeline class and how it is called; whatever a field leaves open, its signature says.

    `size` says where a size comes from that the signature leaves open: `unet` and `transformer` are
    the sample size in that part's config, a number is one of latents (both times the VAE's factor),
    `480x848` is height by width, `target` is HunyuanVideo-1.5's table of sizes. `frames` is a
    number, or the part whose config has it. Clips have `period` * k + 1 frames; 1 is any number.
    """

    pipeline: str
    form: Form
    size: str = ""
    frames: str = ""
    period: int = 1
    fps: float = 16.0
    rate: str = ""
    """The argument that tells the rate, where the pipeline wants to know it."""
    guidance: str = "guidance_scale"
    """The argument for the guidance; `guider` where it is a part of the folder."""
    negative: str | None = None
    """The negative prompt without which the pipeline leaves guidance out."""
    runs_as: str = ""
    """The class that films from a picture, where the folder names the one that films from words."""
    only_with: str = ""
    """The setting of model_index.json without which a folder has not this form."""
    reads_words: bool = True
    sets_size: bool = True
    """False where the size follows from the picture and the folder's config."""
    wide_vae: bool = False
    """Whether the VAE is kept in fp32 when the other parts are in half precision."""
    tiled_vae: bool = False
    """Whether the VAE always works in tiles, as its authors run it: undivided, its attention has a
    mask with an entry for any two latents of the clip, 50 GB at the family's own size."""
    needs: tuple[str, ...] = ()
    """Libraries besides diffusers that the pipeline insists on."""
    variants: tuple[Variant, ...] = ()

    @property
    def modality(self) -> Modality:
        """What it makes."""
        return "image" if self.form == "text_to_image" else "video"

    @property
    def called(self) -> str:
        """The class that is loaded and called."""
        return self.runs_as or self.pipeline


def _image(pipeline: str, size: str = "", **wants: Any) -> PipelineFamily:
    return PipelineFamily(pipeline, "text_to_image", size, **wants)


def _film(pipeline: str, size: str = "", **wants: Any) -> PipelineFamily:
    return PipelineFamily(pipeline, "text_to_video", size, **wants)


def _animate(pipeline: str, size: str = "", **wants: Any) -> PipelineFamily:
    return PipelineFamily(pipeline, "image_to_video", size, **wants)


SCHNELL = Variant("transformer", "guidance_embeds", False, steps=4, guidance=0.0)
KLEIN = Variant("", "is_distilled", True, steps=4, guidance=1.0)
TURBO = Variant("scheduler", "shift", 3.0, steps=9, guidance=0.0)
WAN_5B = Variant("", "expand_timesteps", True, height=704, width=1280, frames=121, fps=24.0)
COGVIDEOX_15 = Variant("transformer", "patch_size_t", 2, frames=81, fps=16.0)
TRUE_GUIDANCE: dict[str, Any] = {"guidance": "true_cfg_scale", "negative": " "}
WAN: dict[str, Any] = {"period": 4, "fps": 16.0, "wide_vae": True}
SKYREELS: dict[str, Any] = {"period": 4, "fps": 24.0, "wide_vae": True}
LTX: dict[str, Any] = {"period": 8, "rate": "frame_rate"}
GUARDED: dict[str, Any] = {"needs": ("cosmos_guardrail", "torchvision")}
COSMOS: dict[str, Any] = {"period": 8, "rate": "fps", **GUARDED}
COSMOS_2: dict[str, Any] = {"period": 4, "wide_vae": True, **GUARDED}
HUNYUAN_15: dict[str, Any] = {
    "size": "target",
    "period": 4,
    "fps": 24.0,
    "guidance": "guider",
    "tiled_vae": True,
}
COGVIDEOX: dict[str, Any] = {"period": 4, "fps": 8.0, "variants": (COGVIDEOX_15,)}

FAMILIES: tuple[PipelineFamily, ...] = (
    _image("StableDiffusionPipeline", "unet"),
    _image("StableDiffusionXLPipeline", "unet"),
    _image("StableDiffusion3Pipeline", "transformer"),
    _image("FluxPipeline", "128", variants=(SCHNELL,)),
    _image("Flux2Pipeline", "128"),
    _image("Flux2KleinPipeline", "128", variants=(KLEIN,)),
    _image("QwenImagePipeline", "128", **TRUE_GUIDANCE),
    _image("QwenImage21Pipeline", "1024x1024", **TRUE_GUIDANCE),
    _image("ZImagePipeline", "1024x1024", variants=(TURBO,)),
    _image("LatentConsistencyModelPipeline", "unet"),
    _image("PixArtAlphaPipeline", "transformer"),
    _image("PixArtSigmaPipeline", "transformer"),
    _image("SanaPipeline"),
    _image("SanaSprintPipeline"),
    _image("AuraFlowPipeline"),
    _image("HunyuanDiTPipeline", "transformer"),
    _image("CogView4Pipeline", "transformer"),
    _image("Lumina2Pipeline", "transformer"),
    _image("HiDreamImagePipeline", "128"),
    _image("ChromaPipeline", "128"),
    _image("Krea2Pipeline"),
    _image("Kandinsky5T2IPipeline"),
    _image("HunyuanImagePipeline", "2048x2048", guidance="guider"),
    _image("CogView3PlusPipeline", "transformer"),
    _image("OvisImagePipeline", "128"),
    _image("Cosmos2TextToImagePipeline", wide_vae=True, **GUARDED),
    _film("WanPipeline", **WAN, variants=(WAN_5B,)),
    _film("HunyuanVideoPipeline", period=4, fps=24.0),
    _film("HunyuanVideo15Pipeline", **HUNYUAN_15),
    _film("CogVideoXPipeline", "transformer", frames="transformer", **COGVIDEOX),
    _film("LTXPipeline", **LTX),
    _film("LTXConditionPipeline", **LTX),
    _film("LTX2Pipeline", frames="121", **LTX),
    _film("MochiPipeline", "480x848", period=6, fps=30.0),
    _film("CosmosTextToWorldPipeline", **COSMOS),
    _film("Cosmos2_5_PredictBasePipeline", **COSMOS_2),
    _film("SkyReelsV2Pipeline", **SKYREELS),
    _film("SkyReelsV2DiffusionForcingPipeline", **SKYREELS),
    _film("AllegroPipeline", "transformer", frames="88", fps=15.0),
    _film("EasyAnimatePipeline", period=4, fps=8.0),
    _film("Kandinsky5T2VPipeline", period=4, fps=24.0),
    _film("AnimateDiffPipeline", "unet", fps=8.0),
    _film("TextToVideoSDPipeline", "unet", fps=8.0),
    _animate("WanImageToVideoPipeline", **WAN),
    _animate(
        "WanPipeline",
        **WAN,
        runs_as="WanImageToVideoPipeline",
        only_with="expand_timesteps",
        variants=(WAN_5B,),
    ),
    _animate("CogVideoXImageToVideoPipeline", "transformer", **COGVIDEOX),
    _animate("LTXImageToVideoPipeline", **LTX),
    _animate("LTXPipeline", **LTX, runs_as="LTXImageToVideoPipeline"),
    _animate("LTXConditionPipeline", **LTX),
    _animate("LTX2ImageToVideoPipeline", frames="121", **LTX),
    _animate("LTX2Pipeline", frames="121", **LTX, runs_as="LTX2ImageToVideoPipeline"),
    _animate("HunyuanVideoImageToVideoPipeline", period=4, fps=24.0),
    _animate("HunyuanVideo15ImageToVideoPipeline", **HUNYUAN_15, sets_size=False),
    _animate("HunyuanSkyreelsImageToVideoPipeline", period=4, fps=24.0),
    _animate("SkyReelsV2ImageToVideoPipeline", **SKYREELS),
    _animate(
        "SkyReelsV2DiffusionForcingPipeline",
        **SKYREELS,
        runs_as="SkyReelsV2DiffusionForcingImageToVideoPipeline",
    ),
    _animate("Kandinsky5I2VPipeline", period=4, fps=24.0),
    _animate("I2VGenXLPipeline", rate="target_fps"),
    _animate(
        "StableVideoDiffusionPipeline",
        frames="unet",
        rate="fps",
        guidance="max_guidance_scale",
        reads_words=False,
    ),
    _animate("CosmosVideoToWorldPipeline", **COSMOS),
    _animate("Cosmos2VideoToWorldPipeline", rate="fps", **COSMOS_2),
    _animate("Cosmos2_5_PredictBasePipeline", **COSMOS_2),
)
"""The pipeline classes that run here, each form of theirs in a row of its own."""

FROM_WORDS: tuple[Form, ...] = ("text_to_image", "text_to_video")


def classes_of(form: Form) -> tuple[str, ...]:
    """The pipeline classes that have a form here."""
    return tuple(family.pipeline for family in FAMILIES if family.form == form)


def family_of(folder: Path, forms: tuple[Form, ...]) -> PipelineFamily:
    """The family of a folder in one of these forms; a ValueError that lists them for any other."""
    index = folder / "model_index.json"
    if not index.is_file():
        raise ValueError(
            f"{folder} has no model_index.json. Give a folder written by a diffusers "
            "save_pretrained()."
        )
    settings = json.loads(index.read_text("utf-8"))
    name, kind = str(settings.get("_class_name")), " or ".join(FORM_NAMES[form] for form in forms)
    rows = [row for row in FAMILIES if row.form in forms and row.pipeline == name]
    for family in rows:
        if not family.only_with or settings.get(family.only_with):
            return family
    if rows:
        raise ValueError(
            f"{name} in {index} is {kind} only with {rows[0].only_with} set, and it is not. "
            "Hand in a checkpoint that was trained to begin with a picture."
        )
    listed = ", ".join(sorted({name for form in forms for name in classes_of(form)}))
    raise ValueError(f"{name} in {index} is not a known {kind} pipeline. Known are: {listed}.")


def families_of(folder: Path) -> list[PipelineFamily]:
    """The family of a folder in every form that it has here; a ValueError if it has none."""
    families: list[PipelineFamily] = []
    for form in FORM_NAMES:
        try:
            families.append(family_of(folder, (form,)))
        except ValueError:
            continue
    return families or [family_of(folder, tuple(FORM_NAMES))]
