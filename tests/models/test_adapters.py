"""An adapter on a named base: it changes what the base draws, and nothing is made from another
base."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluators.contracts import CannotProduce, Outcome
from evaluators.media import read_image
from evaluators.models.generate.diffusion import DiffusionGenerator
from evaluators.models.vlm.adapter import NoBase, load_adapted
from tests.models.test_diffusion import PICTURE, SAMPLES

BASE, REVISION = "stabilityai/stable-diffusion-3.5-medium", "0" * 40


@pytest.fixture(scope="module")
def adapter(text_to_image: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random LoRA for the small pipeline, saved as diffusers saves one, beside the name of its
    base."""
    import torch
    from diffusers import StableDiffusionPipeline
    from peft import LoraConfig
    from peft.utils import get_peft_model_state_dict

    folder = tmp_path_factory.mktemp("adapter")
    unet = StableDiffusionPipeline.from_pretrained(text_to_image).unet
    unet.add_adapter(LoraConfig(r=2, target_modules=["to_q", "to_v"], init_lora_weights="gaussian"))
    torch.manual_seed(0)
    weights = {
        name: torch.randn_like(tensor) for name, tensor in get_peft_model_state_dict(unet).items()
    }
    StableDiffusionPipeline.save_lora_weights(folder, unet_lora_layers=weights)
    config = {"peft_type": "LORA", "base_model_name_or_path": BASE, "revision": REVISION}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def shelf(text_to_image: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shelf on which the small pipeline stands in for the base."""
    folder = tmp_path_factory.mktemp("shelf")
    (folder / BASE.replace("/", "--")).mkdir()
    (folder / BASE.replace("/", "--") / REVISION).symlink_to(text_to_image)
    return folder


def test_an_adapter_changes_what_its_base_draws_and_the_record_names_both(
    adapter: Path, shelf: Path, text_to_image: Path, tmp_path: Path
) -> None:
    plain = next(
        DiffusionGenerator(text_to_image, PICTURE, seed=7).generate(SAMPLES[:1], tmp_path / "plain")
    )

    tuned = next(
        DiffusionGenerator(adapter, PICTURE, seed=7, shelf=shelf).generate(
            SAMPLES[:1], tmp_path / "tuned"
        )
    )

    assert plain.file and tuned.file and tuned.outcome is Outcome.SCORED
    assert (read_image(plain.file) != read_image(tuned.file)).any()
    assert (tuned.record["base"], tuned.record["base_revision"]) == (BASE, REVISION)
    assert len(str(tuned.record["adapter_sha256"])) == 64
    assert "base" not in plain.record


def test_without_its_base_at_that_commit_nothing_is_made(
    adapter: Path, shelf: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "adapter_config.json").write_text(
        (adapter / "adapter_config.json").read_text().replace("0" * 40, "1" * 40)
    )
    (other / "pytorch_lora_weights.safetensors").symlink_to(
        adapter / "pytorch_lora_weights.safetensors"
    )

    with pytest.raises(CannotProduce, match="Set ARMILLARY_SHELF"):
        DiffusionGenerator(adapter, PICTURE)
    with pytest.raises(CannotProduce, match="stable-diffusion-3.5-medium at 111111111111"):
        DiffusionGenerator(other, PICTURE, shelf=shelf)


@pytest.fixture(scope="module")
def judge_adapter(paligemma: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LoRA for a judge as people publish it: the base is a folder of theirs, and no commit is
    named."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForImageTextToText

    folder = tmp_path_factory.mktemp("judge-adapter")
    model = AutoModelForImageTextToText.from_pretrained(paligemma)
    torch.manual_seed(0)
    adapted = get_peft_model(
        model, LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False)
    )
    adapted.save_pretrained(folder)
    said = json.loads((folder / "adapter_config.json").read_text())
    said |= {"base_model_name_or_path": "./models/their-folder", "revision": None}
    (folder / "adapter_config.json").write_text(json.dumps(said))
    return folder


def test_a_published_adapter_of_a_judge_stands_on_the_base_that_the_manifest_names(
    judge_adapter: Path, paligemma: Path, tmp_path: Path
) -> None:
    import torch
    from transformers import AutoModelForImageTextToText

    (tmp_path / "google--paligemma").mkdir()
    (tmp_path / "google--paligemma" / REVISION).symlink_to(paligemma)
    name = "model.language_model.layers.0.self_attn.q_proj.weight"
    plain = AutoModelForImageTextToText.from_pretrained(paligemma).state_dict()[name]

    model, _ = load_adapted(judge_adapter, tmp_path, base=f"google/paligemma@{REVISION}")

    assert not torch.equal(model.state_dict()[name], plain)
    with pytest.raises(NoBase, match="stands on google/other at"):
        load_adapted(judge_adapter, tmp_path, base=f"google/other@{REVISION}")
