"""Forms that trainers and hubs give to plain data: each is taken, and code in its place is
refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from submissions.model_files.model_folder import DeclaredModel
from tests.submissions.bad.models import safetensors
from tests.submissions.published import families
from tests.submissions.published.families import Files
from tests.submissions.published.folders import BASE, as_bytes, problems_of, refusals

UNET = {
    "base_model_class": "UNet2DConditionModel",
    "parent_library": "diffusers.models.unets.unet_2d_condition",
}
GEMMA = {
    "base_model_class": "Gemma3ForConditionalGeneration",
    "parent_library": "transformers.models.gemma3.modeling_gemma3",
}
WORDS: dict[str, Any] = {
    "config": {"pattern": "[^\\r\\n]+", "version": "v7"},
    "vocab": [
        {"rank": 0, "token_bytes": "Oi8v", "token_str": "://"},
        {"rank": 1, "token_bytes": "X19pbml0X18=", "token_str": "__init__"},
    ],
    "special_tokens": [{"rank": 0, "token_str": "<s>", "is_control": True}],
}
LOOP = "{% set _args = call.arguments %}{% for _, v in _args.items() %}{{ v }}{% endfor %}"


def codes(files: Files, declared: DeclaredModel = DeclaredModel()) -> list[str]:  # noqa: B008
    return sorted({problem.code for problem in refusals(problems_of(as_bytes(files), declared))})


def adapter(mapping: object) -> list[str]:
    config = {"peft_type": "LORA", "r": 4, "revision": None, "auto_mapping": mapping}
    weights = families.tensors(a__lora_A__weight=(1, 2))
    files: Files = {"adapter_config.json": config, "adapter_model.safetensors": weights}
    return codes(files, DeclaredModel(BASE))


@pytest.mark.parametrize("mapping", [None, UNET, GEMMA, {**GEMMA, "unsloth_fixed": True}])
def test_what_peft_notes_of_the_class_of_the_base_is_data(mapping: object) -> None:
    assert adapter(mapping) == []


@pytest.mark.parametrize(
    "mapping",
    [
        {**UNET, "parent_library": "os"},
        {**UNET, "parent_library": "theirs.models.unet"},
        {**UNET, "parent_library": "transformers_modules.evil.modeling"},
        {**UNET, "parent_library": "__main__"},
        {**UNET, "parent_library": "diffusers"},
        {**UNET, "parent_library": ["diffusers.models"]},
        {**UNET, "base_model_class": "a.b"},
        {**UNET, "base_model_class": None},
        {**UNET, "trust_remote_code": True},
        {**UNET, "extra": {"auto_map": {"AutoModel": "x.Y"}}},
        {"parent_library": "diffusers.models.unets"},
        ["diffusers.models.unets"],
        "evil",
    ],
)
def test_a_note_of_another_class_than_one_of_the_libraries_is_refused(mapping: object) -> None:
    assert adapter(mapping) == ["E_CONFIG_KEY"]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (LOOP, []),
        ("{{ __args }}", ["E_TEMPLATE"]),
        ("{{ messages._args }}", ["E_TEMPLATE"]),
        (LOOP + "{{ _args.__class__ }}", ["E_TEMPLATE"]),
    ],
)
def test_a_template_may_name_its_own_variables_as_it_likes(
    template: str, expected: list[str]
) -> None:
    assert codes({**families.qwen_vl(), "chat_template.jinja": template.encode()}) == expected


def test_the_words_of_a_vocabulary_are_words_and_its_settings_are_not() -> None:
    evil = {**WORDS, "config": {"loader": "evil.py", "auto_map": {"AutoTokenizer": "x.Y"}}}

    assert codes({**families.qwen_vl(), "tekken.json": WORDS}) == []
    assert codes({**families.qwen_vl(), "tekken.json": evil}) == ["E_CONFIG_KEY"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"IQ== 0\nIg== 1\nIw== 200000\n", []),
        (b"IQ== 0\nIg== 1", []),
        (b"IQ== 0\nimport os\n", ["E_FORBIDDEN_TYPE"]),
        (b"", ["E_FORBIDDEN_TYPE"]),
        (b"cposix\nsystem\n(S'id'\ntR.", ["E_FORBIDDEN_TYPE"]),
    ],
)
def test_a_vocabulary_of_tiktoken_is_lines_of_words_and_numbers(
    data: bytes, expected: list[str]
) -> None:
    assert codes({**families.qwen_vl(), "tiktoken.model": data}) == expected


@pytest.mark.parametrize(
    "name",
    [
        ".DS_Store",
        "assets/Thumbs.db",
        "runs/a/events.out.tfevents.1751019078.host.1746.0",
        "sound.WAV",
        "samples/best 1.png",
    ],
)
def test_what_systems_and_trainers_leave_behind_is_left_out(name: str) -> None:
    found = problems_of(as_bytes({**families.wan(), name: b"\x00\x01"}), DeclaredModel())

    assert refusals(found) == []
    assert ("W_LEFT_OUT", f"'model/{name}'") in {(found.code, found.where) for found in found}


@pytest.mark.parametrize(
    "name", ["training_args.bin", "optimizer.pt", "latest", "run.sh", "a.yaml"]
)
def test_what_could_be_loaded_or_run_is_never_left_out(name: str) -> None:
    assert codes({**families.wan(), name: b"x"}) == ["E_FORBIDDEN_TYPE"]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"_ignore_files": ["pytorch_model.bin"]}, []),
        ({"_ignore_files": ["../x"]}, ["E_CONFIG_KEY"]),
        ({"_others": ["os", "system"]}, ["E_ARCHITECTURE"]),
    ],
)
def test_an_index_may_list_files_to_ignore(setting: dict[str, Any], expected: list[str]) -> None:
    files = families.wan()
    index = files["model_index.json"]
    assert isinstance(index, dict)

    assert codes({**files, "model_index.json": {**index, **setting}}) == expected


AI_TOOLKIT = {"name": "ai-toolkit", "repo": "https://example.org/toolkit", "version": "0.7"}
PROMPT = {"1": {"class_type": "Loader", "inputs": {"repo_id": "a/b", "seed": 4}}}


def lora(**metadata: str) -> list[str]:
    names = ("diffusion_model.a.lora_A.weight", "diffusion_model.a.lora_B.weight")
    tensors = {name: np.ones((2, 2), np.float16) for name in names}
    return codes({"x.safetensors": safetensors(tensors, **metadata)}, DeclaredModel(BASE))


@pytest.mark.parametrize(
    "metadata",
    [
        {"software": json.dumps(AI_TOOLKIT), "training_info": '{"step": 3000, "epoch": 12}'},
        {"url": "https://example.org/lora", "repository": "somebody/lora"},
        {"prompt": json.dumps(PROMPT), "workflow": json.dumps({"nodes": [{"url": "x"}]})},
        {"ot_config": json.dumps({"__version": 10, "workspace_dir": "/workspace/run"})},
    ],
)
def test_metadata_may_say_where_a_trainer_came_from(metadata: dict[str, str]) -> None:
    assert lora(format="pt", **metadata) == []


@pytest.mark.parametrize(
    "metadata",
    [
        {"software": json.dumps({"repo": {"auto_map": {"AutoModel": "x.Y"}}})},
        {"software": json.dumps({**AI_TOOLKIT, "trust_remote_code": True})},
        {"software": json.dumps({"pretrained_model_name_or_path": "evil/model"})},
        {"url": "__import__('os').system('id')"},
        {"config": json.dumps({"repo": "evil/model"})},
        {"lora_adapter_metadata": json.dumps({"transformer.repo_id": "evil/model"})},
    ],
)
def test_metadata_that_is_more_than_a_note_is_refused(metadata: dict[str, str]) -> None:
    assert lora(format="pt", **metadata) == ["E_CONFIG_KEY"]


@pytest.mark.parametrize("name", ["LICENSE.py", "NOTICE.bin", "licence.safetensors", "LICENSE.so"])
def test_no_file_is_left_out_by_the_beginning_of_its_name_alone(name: str) -> None:
    assert codes({**families.wan(), name: b"x"}) != []


def test_the_processors_inside_a_processor_are_classes_of_the_libraries_too() -> None:
    inside = {"image_processor_type": "Qwen2VLImageProcessorFast", "patch_size": 16}
    video = {"video_processor_type": "TheirVideoProcessor"}
    config = {"processor_class": "Qwen2_5_VLProcessor", "image_processor": inside}

    assert codes({**families.qwen_vl(), "processor_config.json": config}) == []
    config = {**config, "video_processor": video}
    assert codes({**families.qwen_vl(), "processor_config.json": config}) == ["E_ARCHITECTURE"]


def test_weights_beside_a_lora_that_no_loader_reads_are_told_at_once() -> None:
    names = ("unet.a.lora_A.weight", "unet.a.lora_B.weight")
    lora = safetensors({name: np.ones((2, 2), np.float16) for name in names})
    words = safetensors({"clip_l": np.ones((2, 8), np.float16)})
    files: Files = {"pytorch_lora_weights.safetensors": lora, "my_emb.safetensors": words}

    found = refusals(problems_of(as_bytes(files), DeclaredModel(BASE)))

    assert [(problem.code, problem.where) for problem in found] == [
        ("E_ADAPTER", "'model/my_emb.safetensors'")
    ]


GONE = {"image_processor_type": "Qwen2_5_VLImageProcessor"}


def test_a_processor_whose_name_is_gone_is_told_the_name_of_today() -> None:
    files = {**families.qwen_vl(), "preprocessor_config.json": GONE}

    found = refusals(problems_of(as_bytes(files), DeclaredModel()))

    assert [problem.code for problem in found] == ["E_ARCHITECTURE"]
    assert "or name one of" in found[0].hint and "Qwen2VLImageProcessor" in found[0].hint


def test_beside_an_adapter_only_what_is_dangerous_is_refused() -> None:
    bits = {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}
    kind = {"architectures": ["Qwen2_5_VLForConditionalGeneration"]}
    files: Files = {
        "adapter_config.json": {"peft_type": "LORA", "r": 4, "revision": None},
        "adapter_model.safetensors": families.tensors(a__lora_A__weight=(1, 2)),
        "preprocessor_config.json": GONE,
        "config.json": {**kind, **bits},
        "model.safetensors.index.json": {"weight_map": {"a": "model-00001.safetensors"}},
    }

    found = problems_of(as_bytes(files), DeclaredModel(BASE))
    evil = {**files, "config.json": {**kind, "auto_map": {"AutoModel": "x.Y"}}}

    assert [problem.code for problem in found] == ["W_LEFT_OUT"] * 3
    assert codes(evil, DeclaredModel(BASE)) == ["E_CONFIG_KEY"]
    assert codes({**files, "weights.gguf": b"GGUF"}, DeclaredModel(BASE)) == ["E_QUANTISED"]
