"""One LoRA in the layouts that trainers write: each draws the same picture, and what fits nowhere
is said so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from evaluators.contracts import Outcome
from evaluators.media import Pixels, read_image, sample_frames, write_png
from evaluators.models import small
from evaluators.models.generate.adapters import attach, find_weights
from evaluators.models.generate.diffusion import DiffusionGenerator
from evaluators.models.generate.image_to_video import DiffusionVideo
from evaluators.models.generate.loading import load_pipeline
from flows.workers.confined.video_main import NoNotes
from tests.models.test_diffusion import CLIP, PICTURE, SAMPLES

NAME, REVISION = "somebody/small-base", "2" * 40
BASE = f"{NAME}@{REVISION}"
RANK = 2
Tensors = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def lora(text_to_image: Path) -> Tensors:
    """A random LoRA for all queries and values of the small UNet, by the names of peft inside the
    model."""
    torch.manual_seed(0)
    unet = load_pipeline(text_to_image).unet
    layers = {
        name: layer for name, layer in unet.named_modules() if name.endswith(("to_q", "to_v"))
    }
    return {
        f"{name}.lora_{side}.weight": torch.randn(*shape) / 2
        for name, layer in layers.items()
        for side, shape in (("A", (RANK, layer.in_features)), ("B", (layer.out_features, RANK)))
    }


def shelf_with(folder: Path, model: Path) -> Path:
    (folder / NAME.replace("/", "--")).mkdir(parents=True)
    (folder / NAME.replace("/", "--") / REVISION).symlink_to(model)
    return folder


@pytest.fixture(scope="module")
def shelf(text_to_image: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shelf_with(tmp_path_factory.mktemp("shelf"), text_to_image)


def in_diffusers_layout(lora: Tensors, folder: Path) -> None:
    save_file(
        {f"unet.{name}": tensor for name, tensor in lora.items()},
        folder / "pytorch_lora_weights.safetensors",
    )


def in_kohya_layout(lora: Tensors, folder: Path) -> None:
    def renamed(name: str) -> str:
        layer, _, end = name.partition(".lora_")
        half = "down" if end.startswith("A") else "up"
        return f"lora_unet_{layer.replace('.', '_')}.lora_{half}.weight"

    alphas = {
        renamed(name).partition(".")[0] + ".alpha": torch.tensor(float(RANK)) for name in lora
    }
    save_file(
        {**{renamed(name): tensor for name, tensor in lora.items()}, **alphas},
        folder / "kohya.safetensors",
    )


def in_peft_layout(lora: Tensors, folder: Path, alpha: int = RANK) -> None:
    named = {f"base_model.model.{name}": tensor for name, tensor in lora.items()}
    save_file(named, folder / "adapter_model.safetensors")
    config = {
        "peft_type": "LORA",
        "r": RANK,
        "lora_alpha": alpha,
        "target_modules": ["to_q", "to_v"],
        "base_model_name_or_path": None,
        "revision": None,
    }
    (folder / "adapter_config.json").write_text(json.dumps(config))


def drawn(folder: Path, shelf: Path, to: Path) -> Pixels:
    generator = DiffusionGenerator(folder, PICTURE, seed=7, shelf=shelf, base=BASE)
    output = next(generator.generate(SAMPLES[:1], to))
    assert output.outcome is Outcome.SCORED and output.file, output.reason
    assert (output.record["base"], output.record["base_revision"]) == (NAME, REVISION)
    return read_image(output.file)


@pytest.fixture(scope="module")
def picture(lora: Tensors, shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> Pixels:
    """What the LoRA draws in diffusers' own layout."""
    folder = tmp_path_factory.mktemp("lora")
    in_diffusers_layout(lora, folder)
    return drawn(folder, shelf, folder / "drawn")


@pytest.mark.parametrize("write", [in_kohya_layout, in_peft_layout], ids=["kohya", "peft"])
def test_the_same_lora_draws_the_same_picture_in_every_layout(
    write: Callable[[Tensors, Path], None],
    lora: Tensors,
    shelf: Path,
    picture: Pixels,
    tmp_path: Path,
) -> None:
    write(lora, tmp_path)

    found = drawn(tmp_path, shelf, tmp_path / "drawn")

    assert np.abs(found.astype(int) - picture).max() <= 1


def test_a_lora_changes_the_picture_and_its_alpha_counts(
    lora: Tensors, shelf: Path, picture: Pixels, text_to_image: Path, tmp_path: Path
) -> None:
    in_peft_layout(lora, tmp_path, alpha=4 * RANK)
    plain = next(
        DiffusionGenerator(text_to_image, PICTURE, seed=7).generate(SAMPLES[:1], tmp_path / "plain")
    )

    stronger = drawn(tmp_path, shelf, tmp_path / "drawn")

    assert plain.file and (read_image(plain.file) != picture).any()
    assert (stronger != picture).any()


@pytest.mark.parametrize("kind", ["DoRA", "LoHa", "LoKr"])
def test_what_peft_wrote_is_loaded_whole_whatever_its_kind(
    kind: str, text_to_image: Path, tmp_path: Path
) -> None:
    import peft

    targets = ["to_q", "to_v"]
    configs = {
        "DoRA": peft.LoraConfig(
            r=RANK, target_modules=targets, init_lora_weights=False, use_dora=True
        ),
        "LoHa": peft.LoHaConfig(r=RANK, target_modules=targets, init_weights=False),
        "LoKr": peft.LoKrConfig(r=RANK, target_modules=targets, init_weights=False),
    }
    torch.manual_seed(0)
    noise, step, text = torch.randn(1, 4, 8, 8), torch.tensor(3), torch.randn(1, 5, 32)
    pipeline = fresh(text_to_image)
    adapted: Any = peft.get_peft_model(pipeline.unet, configs[kind])
    adapted.save_pretrained(tmp_path)
    loaded, plain = fresh(text_to_image), fresh(text_to_image)

    attach(loaded, [tmp_path / "adapter_model.safetensors"])

    with torch.inference_mode():
        drawn_by = [
            unet.eval()(noise, step, text).sample for unet in (adapted, loaded.unet, plain.unet)
        ]
    assert torch.allclose(drawn_by[0], drawn_by[1], atol=1e-4)
    assert not torch.allclose(drawn_by[1], drawn_by[2], atol=1e-2)


def fresh(folder: Path) -> Any:
    from diffusers import StableDiffusionPipeline

    return StableDiffusionPipeline.from_pretrained(folder)


def test_tensors_that_fit_nowhere_are_no_adapter_of_this_base(shelf: Path, tmp_path: Path) -> None:
    save_file(
        {
            "transformer.blocks.0.to_q.lora_A.weight": torch.zeros(2, 8),
            "transformer.blocks.0.to_q.lora_B.weight": torch.zeros(8, 2),
        },
        tmp_path / "x.safetensors",
    )

    output = next(
        DiffusionGenerator(tmp_path, PICTURE, shelf=shelf, base=BASE).generate(
            SAMPLES[:1], tmp_path / "d"
        )
    )

    assert output.outcome is Outcome.MODEL_FAILED
    assert "No tensor of x.safetensors fits this StableDiffusionPipeline" in output.reason


def test_a_pipeline_that_takes_no_lora_says_so(tmp_path: Path) -> None:
    save_file({"x.lora_A.weight": torch.zeros(1)}, tmp_path / "x.safetensors")

    with pytest.raises(ValueError, match="object takes no LoRA"):
        attach(object(), [tmp_path / "x.safetensors"])


def test_three_files_are_no_adapter_and_a_pair_is_read_high_noise_first(
    shelf: Path, tmp_path: Path
) -> None:
    for name in ("my_flow_low_noise", "my_flow_high_noise"):
        save_file({"x.lora_A.weight": torch.zeros(1)}, tmp_path / f"{name}.safetensors")

    found = find_weights(tmp_path, shelf, BASE)

    assert [file.stem for file in found.adapters] == ["my_flow_high_noise", "my_flow_low_noise"]
    save_file({"x.lora_A.weight": torch.zeros(1)}, tmp_path / "third.safetensors")
    with pytest.raises(ValueError, match="3 are in its folder"):
        find_weights(tmp_path, shelf, BASE)


@pytest.fixture(scope="module")
def two_transformers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Wan pipeline of the 2.2 kind: one transformer for high noise, one for low."""
    import diffusers

    torch.manual_seed(0)
    parts, second = small._wan(conditions=0), small._wan(conditions=0)["transformer"]
    pipeline: Any = diffusers.WanPipeline(**parts, transformer_2=second, boundary_ratio=0.5)
    folder = tmp_path_factory.mktemp("wan22")
    pipeline.save_pretrained(folder)
    return folder


def wan_lora(seed: int, transformer: Any) -> Tensors:
    """A random LoRA as trainers of Wan write it: the names of the original model, not those of
    diffusers."""
    torch.manual_seed(seed)
    layers = {
        name: layer
        for name, layer in transformer.named_modules()
        if name.endswith(("attn1.to_q", "attn1.to_v"))
    }
    names = {
        name: name.replace("attn1.to_q", "self_attn.q").replace("attn1.to_v", "self_attn.v")
        for name in layers
    }
    return {
        f"diffusion_model.{names[name]}.lora_{side}.weight": torch.randn(*shape)
        for name, layer in layers.items()
        for side, shape in (("A", (RANK, layer.in_features)), ("B", (layer.out_features, RANK)))
    }


def test_a_pair_for_high_and_low_noise_goes_to_the_two_transformers(
    two_transformers: Path, tmp_path: Path
) -> None:
    shelf = shelf_with(tmp_path / "shelf", two_transformers)
    transformer = load_pipeline(two_transformers).transformer
    high, low = wan_lora(1, transformer), wan_lora(2, transformer)
    (tmp_path / "pair").mkdir()
    save_file(high, tmp_path / "pair" / "wan2.2_high_noise_lora.safetensors")
    save_file(low, tmp_path / "pair" / "wan2.2_low_noise_lora.safetensors")
    weights = find_weights(tmp_path / "pair", shelf, BASE)

    pipeline = load_pipeline(weights.folder, adapters=weights.adapters)

    first = pipeline.transformer.blocks[0].attn1.to_q.lora_A["first"].weight
    second = pipeline.transformer_2.blocks[0].attn1.to_q.lora_A["second"].weight
    assert torch.equal(first, high["diffusion_model.blocks.0.self_attn.q.lora_A.weight"])
    assert torch.equal(second, low["diffusion_model.blocks.0.self_attn.q.lora_A.weight"])
    assert str(weights.named()["adapter_sha256"]).count("+") == 1


def test_the_low_noise_half_needs_a_base_with_two_transformers(
    text_to_video: Path, tmp_path: Path
) -> None:
    transformer = load_pipeline(text_to_video).transformer
    for number, half in enumerate(("high", "low")):
        save_file(wan_lora(number, transformer), tmp_path / f"{half}_noise.safetensors")

    with pytest.raises(ValueError, match="is for a second transformer"):
        load_pipeline(
            text_to_video,
            adapters=(tmp_path / "high_noise.safetensors", tmp_path / "low_noise.safetensors"),
        )


def test_an_adapter_films_for_l_iva_on_the_base_from_the_shelf(tmp_path: Path) -> None:
    model = small.make_image_to_video(tmp_path / "model")
    shelf = shelf_with(tmp_path / "shelf", model)
    (tmp_path / "lora").mkdir()
    tensors = wan_lora(3, load_pipeline(model).transformer)
    save_file(
        {name: 4 * tensor for name, tensor in tensors.items()},
        tmp_path / "lora" / "wan.safetensors",
    )
    frame = write_png(np.full((32, 32, 3), 90, np.uint8), tmp_path / "frame.png")
    plain, tuned = (
        DiffusionVideo(model, CLIP),
        DiffusionVideo(tmp_path / "lora", CLIP, shelf=shelf, base=BASE),
    )

    clips = [
        sample_frames(
            video.make(frame, "a cat", 1, tmp_path / f"{number}.mp4", NoNotes()).path,
            "first-5",
            "video",
        )
        for number, video in enumerate((plain, tuned))
    ]

    assert (clips[0] != clips[1]).any()
    assert NAME not in plain.name and f"on {NAME} {REVISION[:12]}" in tuned.name
