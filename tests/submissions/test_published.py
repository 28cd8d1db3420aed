"""Models as their authors publish them: taken with a word where one is due, or refused with the
exact reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from submissions.bundle.check import Catalogue, check
from submissions.format.errors import IntakeError, Problem
from submissions.model_files.adapters import layout_of
from submissions.model_files.model_folder import DeclaredModel
from tests.bundles import declaration
from tests.submissions.bad.case import bundle
from tests.submissions.bad.models import safetensors
from tests.submissions.published import families
from tests.submissions.published.families import Files
from tests.submissions.published.folders import (
    BASE,
    WITHOUT_WEIGHTS,
    as_bytes,
    models_in,
    problems_of,
    published,
    read,
    refusals,
)
from tests.submissions.published.table import ADAPTERS_OF_PEFT, TABLE

PEFT = {
    "peft_type": "LORA",
    "r": 32,
    "lora_alpha": 64,
    "base_model_name_or_path": None,
    "revision": None,
    "bias": "none",
    "target_modules": ["to_q", "to_out.0"],
    "auto_mapping": None,
    "megatron_config": None,
    "loftq_config": {},
    "megatron_core": "megatron.core",
    "rank_pattern": {},
    "init_lora_weights": "gaussian",
    "a_setting_of_tomorrow": 1,
}


def handed_in(spot: Path, files: Files, **model: Any) -> Path:
    """A bundle of the folder, its card with these fields more."""
    members: dict[str, tuple[str | None, bytes]] = {
        name: (None, data) for name, data in as_bytes(files).items()
    }
    return bundle(spot, members, kind="model", model={**declaration()["model"], **model})


def said(problems: list[Problem], code: str) -> str:
    return " ".join(problem.message + problem.hint for problem in problems if problem.code == code)


@pytest.mark.parametrize("name", families.TAKEN)
def test_a_folder_as_its_authors_publish_it_is_taken(
    name: str, rows: Catalogue, spot: Path
) -> None:
    found = check(handed_in(spot, families.TAKEN[name]()), rows)

    assert {warning.code for warning in found.warnings} <= {"W_CONFIG_KEY", "W_LEFT_OUT"}


def test_settings_that_nobody_here_knows_are_kept_with_a_word_for_each_file(
    rows: Catalogue, spot: Path
) -> None:
    found = check(handed_in(spot, families.qwen_vl()), rows)

    words = {warning.where: warning.message for warning in found.warnings}
    assert "attn_output_gate" in words["'model/config.json'"]
    assert "rope_scaling" not in words["'model/config.json'"], "the loader knows it"
    assert len(words) == len(found.warnings)


def test_what_no_loader_reads_is_left_out_with_a_word(rows: Catalogue, spot: Path) -> None:
    files = {
        **families.wan(),
        "LICENSE": b"MIT",
        "NOTICE.txt": b"x",
        ".gitattributes": b"x",
        "docs/a.png": b"x",
    }

    found = check(handed_in(spot, files), rows)

    left = {warning.where for warning in found.warnings if warning.code == "W_LEFT_OUT"}
    names = ("LICENSE", "NOTICE.txt", ".gitattributes", "docs/a.png", "assets/teaser.mp4")
    assert left == {f"'model/{name}'" for name in names}


def test_a_file_that_is_left_out_still_has_the_hash_that_the_manifest_says(
    rows: Catalogue, spot: Path
) -> None:
    def another(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
        members["model/LICENSE"] = b"another licence"

    members = as_bytes({**families.wan(), "LICENSE": b"MIT"})

    with pytest.raises(IntakeError, match="E_CHECKSUM at 'model/LICENSE'"):
        check(
            bundle(
                spot, {name: (None, data) for name, data in members.items()}, another, kind="model"
            ),
            rows,
        )


def changed(files: Files, path: str, **settings: Any) -> Files:
    config = files[path]
    assert isinstance(config, dict)
    return {**files, path: {**config, **settings}}


BITS = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
QUANTISED: dict[str, Files] = {
    "bitsandbytes": changed(families.qwen_vl(), "config.json", quantization_config=BITS),
    "torchao": changed(
        families.flux(), "transformer/config.json", quantization_config={"quant_method": "torchao"}
    ),
    "a part of a model": changed(
        families.smolvlm(), "config.json", text_config={"quantization_config": BITS}
    ),
    "mlx": changed(families.qwen_vl(), "config.json", quantization={"bits": 4, "group_size": 64}),
    "GGUF": {**families.flux(), "flux1-dev-Q4_K_S.gguf": b"GGUF"},
    "a file of settings": {**families.flux(), "transformer/quantize_config.json": {"bits": 4}},
    "tensors alone": {
        **families.flux(),
        "transformer/diffusion_pytorch_model.safetensors": safetensors(
            {
                "a.weight": np.ones(4, np.float32),
                "a.weight.quant_state.bitsandbytes__nf4": np.ones(4, np.float32),
            }
        ),
    },
}


@pytest.mark.parametrize("name", QUANTISED)
def test_a_quantised_checkpoint_is_refused_with_what_to_hand_in_instead(
    name: str, rows: Catalogue, spot: Path
) -> None:
    with pytest.raises(IntakeError) as refused:
        check(handed_in(spot, QUANTISED[name]), rows)

    assert {problem.code for problem in refused.value.problems} == {"E_QUANTISED"}
    assert "Hand in the weights as they were before" in refused.value.problems[0].hint


NOT_RUN: dict[str, tuple[Files, str]] = {
    "a pipeline that has no form here": (
        changed(families.wan(), "model_index.json", _class_name="EasyAnimateControlPipeline"),
        "'EasyAnimateControlPipeline' has no text-to-video or image-to-video form here.These have: "
        "text-to-video: Allegro",
    ),
    "a pipeline of theirs": (
        changed(families.wan(), "model_index.json", _class_name="TheirPipeline"),
        "'TheirPipeline' is not in our list",
    ),
    "a judge that has no form here": (
        changed(
            families.qwen_vl(), "config.json", architectures=["Florence2ForConditionalGeneration"]
        ),
        "These have: models of transformers that are shown pictures and talked to in turns (77 ",
    ),
    "the original weights of a video model": (
        {"config.json": {"_class_name": "WanModel", "model_type": "t2v"}, **families.weights("x")},
        "often called -Diffusers",
    ),
    "a config without a class": (
        {"config.json": {"model_type": "x"}, **families.weights("x")},
        "names no class",
    ),
    "parts alone": (
        families.weights("transformer"),
        "no model_index.json or config.json at its top, nor a LoRA",
    ),
    "a part of another library": (
        changed(families.wan(), "model_index.json", transformer=["ltx2", "WanTransformer3DModel"]),
        "The part 'transformer' is ['ltx2', 'WanTransformer3DModel']",
    ),
}


@pytest.mark.parametrize("name", NOT_RUN)
def test_a_model_that_cannot_run_here_is_told_so_at_once(name: str) -> None:
    files, words = NOT_RUN[name]

    found = refusals(problems_of(as_bytes(files), DeclaredModel(modalities=("video",))))

    assert {problem.code for problem in found} == {"E_ARCHITECTURE"}
    assert words in said(found, "E_ARCHITECTURE")


def test_a_tokenizer_may_call_itself_by_a_name_that_is_gone_where_nobody_goes_by_it() -> None:
    inside = changed(
        families.wan(), "tokenizer/tokenizer_config.json", tokenizer_class="MT5Tokenizer"
    )
    whole = changed(families.qwen_vl(), "tokenizer_config.json", tokenizer_class="MT5Tokenizer")
    alone = {name: file for name, file in whole.items() if name != "tokenizer.json"}

    found, taken, other = (
        problems_of(as_bytes(files), DeclaredModel()) for files in (inside, whole, alone)
    )

    assert not refusals(found) and not refusals(taken)
    words = "'MT5Tokenizer', which is no class here; it is loaded"
    assert f"{words} as the pipeline's index says" in said(found, "W_ARCHITECTURE")
    assert f"{words} from the tokenizer.json beside it" in said(taken, "W_ARCHITECTURE")
    assert [problem.code for problem in refusals(other)] == ["E_ARCHITECTURE"]


def test_a_bound_that_a_scheduler_does_not_have_is_taken_and_no_number_is_not() -> None:
    file = "scheduler/scheduler_config.json"
    endless = changed(families.wan(), file, lambda_min_clipped=float("-inf"))
    senseless = changed(families.wan(), file, lambda_min_clipped=float("nan"))

    taken = refusals(problems_of(as_bytes(endless), DeclaredModel()))
    refused = refusals(problems_of(as_bytes(senseless), DeclaredModel()))

    assert taken == []
    assert [problem.code for problem in refused] == ["E_CONFIG_JSON"]


def test_no_config_escapes_by_the_case_of_its_name() -> None:
    files = {**families.flux(), "transformer/Config.JSON": {"auto_map": {"AutoModel": "x.Y"}}}

    found = refusals(problems_of(as_bytes(files), DeclaredModel()))

    assert [(problem.code, problem.where) for problem in found] == [
        ("E_CONFIG_KEY", "'model/transformer/Config.JSON'")
    ]


def test_an_adapter_of_peft_stands_on_the_base_of_the_manifest(rows: Catalogue, spot: Path) -> None:
    files: Files = {
        "adapter_config.json": PEFT,
        "adapter_model.safetensors": families.tensors(a__lora_A__weight=(1, 2)),
    }

    found = check(handed_in(spot, files, base=BASE.model_dump()), rows)
    with pytest.raises(IntakeError) as refused:
        check(handed_in(spot, files), rows)

    assert [warning.code for warning in found.warnings] == ["W_CONFIG_KEY"]
    assert [problem.code for problem in refused.value.problems] == ["E_BASE_MODEL"]
    assert '"base": {"id": "org/name"' in refused.value.problems[0].hint


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"base_model_name_or_path": "./models/their-folder"}, "W_BASE_MODEL"),
        ({"base_model_name_or_path": "unsloth/other"}, "W_BASE_MODEL"),
        ({"base_model_name_or_path": BASE.id, "revision": "main"}, ""),
        ({"base_model_name_or_path": BASE.id, "revision": "5" * 40}, "E_BASE_MODEL"),
        ({"base_model_name_or_path": "https://example.org/model"}, "E_BASE_MODEL"),
        ({"base_model_name_or_path": [BASE.id]}, "E_BASE_MODEL"),
        ({"revision": ["main"]}, "E_BASE_MODEL"),
        ({"peft_type": "LOKR", "module_dropout": 0.0}, ""),
        ({"peft_type": "PROMPT_TUNING"}, "E_ADAPTER"),
        ({"megatron_config": {"x": 1}}, "E_CONFIG_KEY"),
    ],
)
def test_the_manifest_s_base_counts_and_a_contradiction_is_told(
    changes: dict[str, Any], code: str
) -> None:
    files = {
        "adapter_config.json": {**PEFT, **changes},
        "adapter_model.safetensors": families.tensors(a=(1, 2)),
    }

    found = problems_of(as_bytes(files), DeclaredModel(BASE))

    assert {problem.code for problem in found} - {"W_CONFIG_KEY"} == ({code} if code else set())


def lora(*names: str, **about: str) -> bytes:
    return safetensors({name: np.ones((2, 2), np.float16) for name in names}, **about)


LAYOUTS = {
    "diffusers": (
        "transformer.blocks.0.attn.to_k.lora_A.weight",
        "transformer.blocks.0.attn.to_k.lora_B.weight",
    ),
    "peft": (
        "base_model.model.blocks.0.to_q.lora_A.weight",
        "base_model.model.blocks.0.to_q.lora_B.weight",
    ),
    "kohya": (
        "lora_unet_blocks_0_q.lora_down.weight",
        "lora_unet_blocks_0_q.lora_up.weight",
        "lora_te1_x.alpha",
    ),
    "bfl": (
        "double_blocks.0.img_attn.qkv.lora_A.weight",
        "double_blocks.0.img_attn.norm.key_norm.scale",
    ),
    "xlabs": (
        "double_blocks.0.processor.qkv_lora1.down.weight",
        "double_blocks.0.processor.qkv_lora1.up.weight",
    ),
    "ai-toolkit": ("diffusion_model.blocks.0.q.lora_A.weight", "diffusion_model.blocks.0.q.diff_b"),
}
TRAINER = {
    "ss_sd_model_name": "/workspace/models/flux1-dev.safetensors",
    "ss_tag_frequency": '{"__all__": {"eval (x)": 3}}',
    "modelspec.implementation": "https://github.com/somebody/generative-models",
    "format": "pt",
    "lora_adapter_metadata": json.dumps(
        {f"transformer.{key}": value for key, value in PEFT.items()}
    ),
    "software": "a trainer of 2026, https://example.org",
}
"""Notes that trainers leave in the files; nothing reads the addresses in them."""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_lora_without_a_config_is_known_by_its_tensors(
    layout: str, rows: Catalogue, spot: Path
) -> None:
    files: Files = {
        "my-style.safetensors": lora(*LAYOUTS[layout], **TRAINER),
        "README.md": b"# My style\n",
    }

    found = check(handed_in(spot, files, base=BASE.model_dump()), rows)
    with pytest.raises(IntakeError) as refused:
        check(handed_in(spot, files), rows)

    assert found.warnings == () and layout_of(LAYOUTS[layout]) == layout
    assert [problem.code for problem in refused.value.problems] == ["E_BASE_MODEL"]
    assert f"weights of an adapter ({layout} layout)" in refused.value.problems[0].message


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (("wan2.2_high_noise.safetensors", "wan2.2_low_noise.safetensors"), ""),
        (("WAN-HighNoise-flow.safetensors", "WAN-LowNoise-flow.safetensors"), ""),
        (("flow.safetensors", "slow.safetensors"), "E_ADAPTER"),
        (("high.safetensors", "low.safetensors", "more.safetensors"), "E_ADAPTER"),
    ],
)
def test_a_pair_is_for_high_and_low_noise(names: tuple[str, ...], code: str) -> None:
    files = {name: lora(*LAYOUTS["ai-toolkit"]) for name in names}

    found = problems_of(as_bytes(files), DeclaredModel(BASE))

    assert {problem.code for problem in found} == ({code} if code else set())


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("lora_transformer_x.dora_scale", "E_ADAPTER"),
        ("lora_unet_x.hada_w1_a", "E_ADAPTER"),
        ("lora_unet_x.oft_blocks", "E_ADAPTER"),
        ("diffusion_model.x.lokr_w1", "W_ADAPTER"),
        ("conv_in.weight", "E_ARCHITECTURE"),
    ],
)
def test_adapters_that_would_load_in_part_or_not_at_all_are_told(name: str, code: str) -> None:
    found = problems_of(
        as_bytes({"x.safetensors": lora(*LAYOUTS["kohya"], name)}), DeclaredModel(BASE)
    )

    assert {problem.code for problem in found} == {code}


def test_the_table_holds_for_the_published_folders() -> None:
    folders = models_in(published())
    expected = {name: TABLE[name] for name in folders if name in TABLE}

    found = {
        name: refusals(problems_of(read(folders[name]), wanted_for(folders[name])))
        for name in expected
    }

    assert expected.keys() == TABLE.keys()
    for name, verdict in expected.items():
        codes = {problem.code for problem in found[name]} - WITHOUT_WEIGHTS
        assert codes == verdict.codes, name
        assert verdict.words in " ".join(problem.message for problem in found[name]), name


def test_adapters_of_every_kind_that_peft_publishes_are_taken() -> None:
    folders = {
        name: path
        for name, path in models_in(published()).items()
        if name.startswith(ADAPTERS_OF_PEFT)
    }

    found = {
        name: refusals(problems_of(read(path), DeclaredModel(BASE)))
        for name, path in folders.items()
    }

    assert len(found) > 20
    assert {problem.code for problems in found.values() for problem in problems} <= WITHOUT_WEIGHTS


def test_loras_are_known_by_the_published_lists_of_their_tensors() -> None:
    layouts = {
        path.stem: layout_of(list(json.loads(path.read_text())))
        for path in (published() / "lora-keys").glob("*.json")
    }

    assert None not in layouts.values()
    names = {
        "kohya": "kohya",
        "xlabs": "xlabs",
        "aitoolkit": "ai-toolkit",
        "control": "bfl",
        "base_model": "peft",
    }
    for stem, layout in layouts.items():
        assert next((kind for word, kind in names.items() if word in stem), layout) == layout, stem


def wanted_for(folder: Path) -> DeclaredModel:
    return DeclaredModel(BASE if (folder / "adapter_config.json").is_file() else None)


def test_the_families_of_the_table_are_restated_for_machines_without_the_folders() -> None:
    builders: list[Callable[[], Files]] = list(families.TAKEN.values())

    assert len(builders) > 10
    assert all(refusals(problems_of(as_bytes(make()), DeclaredModel())) == [] for make in builders)
