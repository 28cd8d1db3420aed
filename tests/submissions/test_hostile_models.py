"""Model folders that hide code where nobody looks: lists, deep settings, tokenizers, templates,
metadata, adapters."""

from __future__ import annotations

import base64
import json
import pickle
import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from submissions.bundle.check import Catalogue, check
from submissions.format.errors import IntakeError
from tests.submissions.bad.case import bundle
from tests.submissions.bad.models import (
    ADAPTER,
    CLIP,
    EMBEDDING,
    INDEX,
    folder,
    model_bundle,
    safetensors,
)

Files = dict[str, bytes | None]
EVIL = "https://evil.example/payload"
HUB_CODE = "evil/repo--modeling_evil.Evil"
CALL = "__import__('os').system('id')"


def written(path: str, value: Any) -> Files:
    return {f"model/{path}": json.dumps(value).encode()}


def part(**changes: Any) -> Files:
    return written("text_encoder/config.json", {**CLIP, **changes})


def pipeline(**changes: Any) -> Files:
    return written("model_index.json", {**INDEX, **changes})


def tokenizer(**changes: Any) -> Files:
    return written(
        "tokenizer/tokenizer_config.json", {"tokenizer_class": "CLIPTokenizer", **changes}
    )


def template(source: str) -> Files:
    return tokenizer(chat_template=source)


def words(**changes: Any) -> Files:
    plain = {
        "version": "1.0",
        "added_tokens": [],
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
    }
    return written("tokenizer/tokenizer.json", {**plain, **changes})


def metadata(**about: str) -> Files:
    tensors = {EMBEDDING: np.ones((50, 8), np.float32)}
    return {"model/text_encoder/model.safetensors": safetensors(tensors, **about)}


def adapter(**changes: Any) -> Files:
    return written("adapter_config.json", {**ADAPTER, **changes})


LISTS = {
    "an address in a list": part(layers=["a", EVIL]),
    "an address in a list of lists": part(layers=[["a", ["b", EVIL]]]),
    "auto_map in a dictionary in a list": part(
        blocks=[{"size": 1}, {"auto_map": {"AutoModel": HUB_CODE}}]
    ),
    "trust_remote_code in a list": part(parts=[[{"trust_remote_code": True}]]),
    "code of a repository in a list": part(classes=[HUB_CODE]),
    "a file of code in a list": part(plugins=["modeling.py"]),
    "a call in a list": part(hooks=[CALL]),
    "eval in a list": part(hooks=["eval(open('x').read())"]),
    "a lambda in a list": part(hooks=["lambda x: x.y"]),
    "a path in a list": part(extra=["/etc/passwd"]),
    "a climbing path in a list": part(extra=["../../other-team/model.safetensors"]),
    "a home in a list": part(extra=["~/.ssh/id_rsa"]),
    "a share in a list": part(extra=["\\\\server\\share\\x"]),
    "a file address in a list": part(extra=["file:/etc/passwd"]),
    "a hub address of timm in a list": part(extra=["hf-hub:evil/model"]),
    "a YAML object in a list": part(extra=["!!python/object/apply:os.system [id]"]),
    "a shared library in a list": part(extra=["kernel.so"]),
}
NESTED = {
    "auto_map four levels down": part(a={"b": {"c": {"auto_map": {"AutoConfig": "x.Y"}}}}),
    "custom_generate inside": part(text_config={"custom_generate": "evil/generate"}),
    "kernels by config": part(text_config={"kernel_config": {"RMSNorm": "evil/kernels:RMSNorm"}}),
    "use_kernels inside": part(text_config={"use_kernels": True}),
    "use_kernels under a private name": part(text_config={"_use_kernels": True}),
    "kernels by mapping": part(kernel_mapping={"RMSNorm": {"cuda": "evil/kernels:RMSNorm"}}),
    "kernels of anybody": part(blocks=[{"allow_all_kernels": True}]),
    "a module to run by its name": part(text_config={"model_file": "modeling.py"}),
    "a tokenizer's own switches": part(tokenizer_kwargs={"trust_remote_code": 1}),
    "attention from a hub inside": part(vision_config={"attn_implementation": "evil/flash"}),
    "attention by part": part(
        _attn_implementation={"text_config": "sdpa", "vision_config": "evil/flash"}
    ),
    "experts from a hub": part(text_config={"_experts_implementation": "evil/experts"}),
    "a cache that nobody knows": part(cache_implementation="evil.Cache"),
    "a backbone from a hub inside": part(vision_config={"backbone": "evil/backbone"}),
    "a pretrained backbone inside": part(
        vision_config={"backbone": "resnet50", "use_pretrained_backbone": True}
    ),
    "a model to fetch inside": part(decoder={"pretrained_model_name_or_path": "evil/model"}),
    "a tokenizer to fetch inside": part(audio={"audio_tokenizer_name_or_path": "evil/model"}),
    "a repository inside": part(speaker={"repo_id": "evil/model"}),
    "Python's own key": part(text_config={"__reduce__": ["os.system", ["id"]]}),
    "Python's own key in disguise": part(text_config={"__type": "os.system"}),
    "an address as a name": part(text_config={"_name_or_path": EVIL}),
    "AUTO_MAP in capitals": part(AUTO_MAP={"AutoModel": "x.Y"}),
    "a quantiser of theirs inside": part(
        text_config={"quantization_config": {"quant_method": "evil"}}
    ),
    "a quantiser in a list": part(
        stages=[{"quantization_config": {"quant_method": "bitsandbytes"}}]
    ),
}
PIPELINES = {
    "pipeline class of a module": pipeline(_class_name="pwn_pipeline.PwnPipeline"),
    "a part from diffusers' own cache of modules": pipeline(
        unet=["diffusers_modules.local.pwn", "Pwn"]
    ),
    "a part by a way through a class": pipeline(unet=["diffusers", "loaders.os.system"]),
    "pipeline class in a list": pipeline(_class_name=["pipeline", "EvilPipeline"]),
    "custom pipelines": pipeline(custom_pipelines=["evil/pipeline"]),
    "a part with a place": pipeline(
        unet=["diffusers", "UNet2DConditionModel", {"repo": "evil/unet"}]
    ),
    "a part from subprocess": pipeline(unet=["subprocess", "Popen"]),
    "a part from a package of diffusers that has no such class": pipeline(
        unet=["stable_diffusion", "os"]
    ),
    "a function as a part": pipeline(unet=["transformers", "pipeline"]),
    "a part whose folder climbs": pipeline(**{"../unet": ["diffusers", "UNet2DConditionModel"]}),
    "a setting with an address": pipeline(watermark={"where": [EVIL]}),
    "a part called custom_pipeline": pipeline(
        custom_pipeline=["diffusers", "UNet2DConditionModel"]
    ),
}
TOKENIZERS = {
    "tokenizer code": tokenizer(auto_map={"AutoTokenizer": ["tokenization_evil.Evil", None]}),
    "tokenizer class by path": tokenizer(tokenizer_class="os.system"),
    "tokenizer class in a list": tokenizer(tokenizer_class=["Evil"]),
    "processor of theirs": written(
        "preprocessor_config.json", {"image_processor_type": "EvilProcessor"}
    ),
    "positional arguments": tokenizer(init_inputs=["/etc/passwd"]),
    "a vocabulary from elsewhere": tokenizer(vocab_file="/etc/passwd"),
    "a vocabulary that climbs": tokenizer(fast_tokenizer_files=["../../secret.json"]),
    "code in an added token": tokenizer(
        added_tokens_decoder={"0": {"content": "x", "auto_map": "e.E"}}
    ),
    "a false token": tokenizer(pad_token={"__type": "os.system", "content": "id"}),
    "a key of theirs in tokenizer.json": words(loader={"module": "evil"}),
    "code inside tokenizer.json": words(
        decoder={"type": "Sequence", "decoders": [{"auto_map": HUB_CODE}]}
    ),
    "a call inside tokenizer.json": words(normalizer={"type": CALL}),
    "a place inside tokenizer.json": words(pre_tokenizer={"type": "Split", "source": EVIL}),
    "code in the map of tokens": written(
        "special_tokens_map.json", {"auto_map": {"AutoTokenizer": "e.E"}}
    ),
    "words with code": written("tokenizer/vocab.json", {"a": 0, "b": {"auto_map": "e.E"}}),
}
TEMPLATES: dict[str, Files] = {
    "template climbs by attribute": template("{{ messages.__class__ }}"),
    "template climbs by a name put together": template("{{ messages['__cla' ~ 'ss__'] }}"),
    "template climbs by map": template("{{ messages | map(attribute='__class__') | list }}"),
    "template climbs by attr": template("{{ messages | attr('x') }}"),
    "template by escape": template("{{ messages['\\x5f\\x5fclass\\x5f\\x5f'] }}"),
    "template formats": template("{{ '{0.__class__}'.format(messages) }}"),
    "template with a filter of formats": template("{{ '%s' | format(messages) }}"),
    "template through lipsum": template("{{ lipsum }}"),
    "template through cycler": template("{{ cycler }}"),
    "template through itself": template("{{ self }}"),
    "template through a generator": template("{{ messages.gi_frame }}"),
    "template through the order of classes": template("{{ messages.mro() }}"),
    "template imports": template("{% import 'x' as y %}"),
    "template extends": template("{% extends 'x' %}"),
    "template in a "
    "list": tokenizer(chat_template=[{"name": "default", "template": "{{ x.__class__ }}"}]),
    "template by name": tokenizer(chat_template={"tool": "{{ x.__class__ }}"}),
    "template of another kind": tokenizer(rag={"chat_template": "{{ x.__class__ }}"}),
    "template in a file of its own": {"model/chat_template.json": json.dumps(
        {"chat_template": "{{ x.__class__ }}"}).encode()},
    "template in capitals": {"model/TEMPLATE.JINJA": b"{{ x.__class__ }}"},
    "template in a folder": {"model/additional_chat_templates/x.jinja": b"{{ x.__class__ }}"},
}  # fmt: skip
METADATA = {
    "metadata with auto_map": metadata(auto_map=json.dumps({"AutoModel": HUB_CODE})),
    "metadata with a config": metadata(
        config=json.dumps({"transformer": {"auto_map": {"AutoModel": "e.E"}}})
    ),
    "metadata with a list of code": metadata(hooks=json.dumps([{"trust_remote_code": True}])),
    "metadata with a call": metadata(comment=CALL),
    "metadata with a pickle": metadata(blob="cposix\nsystem\n(S'true'\ntR."),
    "metadata with a pickle in a note": metadata(ss_note="cposix\nsystem\n(S'true'\ntR."),
    "metadata of an adapter": metadata(
        lora_adapter_metadata=json.dumps(
            {
                "transformer.auto_mapping": None,
                "transformer": {"auto_mapping": {"parent_library": "os"}},
            }
        )
    ),
    "metadata of an adapter with a dotted key": metadata(
        lora_adapter_metadata=json.dumps(
            {"transformer.r": 4, "transformer.auto_mapping": {"parent": "os"}}
        )
    ),
    "metadata of an adapter that imports": metadata(
        lora_adapter_metadata=json.dumps(
            {
                "transformer.megatron_core": "evil.core",
                "text_encoder.megatron_core": "megatron.core",
            }
        )
    ),
    "metadata with a place for an adapter": metadata(
        lora_adapter_metadata=json.dumps({"corda": {"file": EVIL}})
    ),
    "metadata of another format": metadata(format="flax"),
    "metadata with Python's own key": metadata(__reduce__="os.system"),
}
ADAPTERS = {
    "adapter loading adapters": adapter(peft_type="XLORA", adapters={"0": "evil/adapter"}),
    "adapter with a shadow": adapter(peft_type="SHADOW", shadow_model="evil/model"),
    "adapter of a kind of theirs": adapter(peft_type="EVIL"),
    "adapter with a kind in a list": adapter(peft_type=["LORA"]),
    "adapter importing megatron": adapter(megatron_config={"tensor": 1}, megatron_core="evil.core"),
    "adapter naming a module": adapter(megatron_core="evil.core"),
    "adapter reading a file": adapter(corda_config={"cache_file": "cache.pt"}),
    "adapter reading a tokenizer": adapter(tokenizer_name_or_path="evil/tokenizer"),
    "adapter with base in a list": adapter(base_model_name_or_path=["evil/base"]),
    "adapter inside a part": written("text_encoder/adapter_config.json", ADAPTER),
}
NAMES: dict[str, Files] = {
    "Config.JSON": {
        "model/text_encoder/Extra.JSON": json.dumps({"auto_map": {"AutoModel": "e.E"}}).encode()
    },
    "MODEL_INDEX.JSON": {
        "model/unet/MODEL_INDEX.JSON": json.dumps({**INDEX, "unet": ["os", "system"]}).encode()
    },
    "weights in capitals": {"model/x.SAFETENSORS": pickle.dumps({"a": 1})},
    "pickle with a harmless name": {"model/notes.txt": b"cposix\nsystem\n(S'true'\ntR."},
    "a base64 of code in a module": {"model/evil.py": base64.b64encode(b"import os")},
    "a config of no name": {
        "model/anything_at_all.json": json.dumps({"trust_remote_code": True}).encode()
    },
}
GROUPS: tuple[dict[str, Files], ...] = (
    *(LISTS, NESTED, PIPELINES, TOKENIZERS, TEMPLATES, METADATA, ADAPTERS, NAMES),
)
HOSTILE = {name: files for group in GROUPS for name, files in group.items()}


@pytest.mark.parametrize("name", HOSTILE)
def test_hidden_code_is_refused_without_an_import_or_a_socket(
    rows: Catalogue, spot: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_socket(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", no_socket)
    monkeypatch.setattr(socket, "create_connection", no_socket)
    before = set(sys.modules)

    with pytest.raises(IntakeError) as refused:
        check(model_bundle(spot, HOSTILE[name]), rows)

    said = [problem for problem in refused.value.problems if problem.code.startswith("E_")]
    assert said and all(problem.message and problem.hint for problem in said)
    assert not {
        module
        for module in set(sys.modules) - before
        if module.startswith(("torch", "diffusers", "evil"))
    }


def test_the_folder_that_was_spoilt_is_taken_as_it_is(rows: Catalogue, spot: Path) -> None:
    files: dict[str, tuple[str | None, bytes]] = {
        name: (None, data) for name, data in folder().items()
    }

    found = check(bundle(spot, files, kind="model"), rows)

    assert found.warnings == ()


def test_more_than_sixty_folders_are_tried() -> None:
    assert len(HOSTILE) > 60
