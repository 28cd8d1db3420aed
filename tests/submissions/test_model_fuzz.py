"""Whatever stands in a model's files instead of what belongs there, the door answers with problems
and never breaks."""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from submissions.bundle.check import Catalogue, check
from submissions.format.errors import IntakeError
from submissions.model_files.model_folder import DeclaredModel
from tests.submissions.bad.case import bundle
from tests.submissions.bad.models import ADAPTER, EMBEDDING, with_header
from tests.submissions.published import families
from tests.submissions.published.folders import (
    BASE,
    as_bytes,
    models_in,
    problems_of,
    published,
    read,
)

SECONDS = 20
OTHERS: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        2.5,
        10**30,
        "",
        "x",
        "https://x",
        "/x",
        "../x",
        "\ud800",
        "x.y",
        "{{ x.__class__ }}",
        "{%",
    ),
    *(
        [],
        [None],
        [1, "x"],
        ["diffusers", "AutoencoderKL"],
        [["x"]],
        [{}],
        {},
        {"x": 1},
        {"auto_map": []},
    ),
    *(
        {"content": []},
        {"content": "x", "__type": []},
        {"template": {}},
        [{"template": None}],
        {"__x__": [{}]},
    ),
)
"""Values of every kind that JSON has, and some that look like what belongs elsewhere."""
Step = str | int


def places(value: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """Where something stands in a JSON value, itself included."""
    yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value[:3])
        if isinstance(value, list)
        else ()
    )
    for key, part in inner:
        yield from places(part, (*path, key))


def with_other(value: Any, path: tuple[Step, ...], other: Any) -> Any:
    """The value with something else at a place."""
    if not path:
        return other
    spoilt = copy.deepcopy(value)
    spot = spoilt
    for step in path[:-1]:
        spot = spot[step]
    spot[path[-1]] = other
    return spoilt


def configs() -> dict[str, Any]:
    """The settings of all restated families, by family and path."""
    found = {
        f"{name} {path}": (path, config)
        for name, make in families.TAKEN.items()
        for path, config in make().items()
        if isinstance(config, dict)
    }
    index = {"metadata": {"total_size": 8}, "weight_map": {EMBEDDING: "model.safetensors"}}
    extra = {
        "adapter_config.json": ADAPTER,
        "model.safetensors.index.json": index,
        "judge.json": {"frames": "first-2"},
    }
    return found | {f"extra {path}": (path, config) for path, config in extra.items()}


def answered(path: str, data: bytes) -> None:
    """Both with and without a base in the manifest there is an answer, in whole sentences."""
    for wanted in (DeclaredModel(), DeclaredModel(BASE, ("video",))):
        for problem in problems_of({path: data}, wanted):
            assert problem.code[:2] in ("E_", "W_") and problem.message and problem.hint


@pytest.mark.parametrize("name", configs())
def test_any_other_value_at_any_place_gets_an_answer(name: str) -> None:
    path, config = configs()[name]

    for place in places(config):
        for other in OTHERS:
            answered(f"model/{path}", json.dumps(with_other(config, place, other)).encode())


def test_any_other_value_in_the_published_folders_gets_an_answer() -> None:
    chance = random.Random(7)
    files = [
        (path, data)
        for folder in models_in(published()).values()
        for path, data in read(folder).items()
        if path.endswith(".json") and len(data) < 40_000
    ]
    until, tried = time.monotonic() + SECONDS, 0

    while time.monotonic() < until:
        path, data = chance.choice(files)
        config = json.loads(data)
        for place in chance.sample(list(places(config)), 3) if len(config) > 3 else places(config):
            answered(path, json.dumps(with_other(config, place, chance.choice(OTHERS))).encode())
            tried += 1

    assert tried > 100


@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_any_other_value_in_the_header_of_weights_gets_an_answer(other: Any) -> None:
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    headers = [
        other,
        {EMBEDDING: other},
        {EMBEDDING: entry, "__metadata__": other},
        {EMBEDDING: entry, "__metadata__": {"format": other}},
        {
            EMBEDDING: entry,
            "__metadata__": {"lora_adapter_metadata": json.dumps(other), "x": json.dumps(other)},
        },
        *({EMBEDDING: {**entry, key: other}} for key in entry),
    ]

    for header in headers:
        answered("model/x.safetensors", with_header(json.dumps(header).encode(), bytes(8)))


@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_at_the_door_itself_a_spoilt_model_is_an_intake_error_or_taken(
    other: Any, rows: Catalogue, spot: Path
) -> None:
    files = as_bytes(families.flux())
    files["model/model_index.json"] = json.dumps(
        {"_class_name": other, "unet": other, "x": other}
    ).encode()
    files["model/adapter_config.json"] = json.dumps(
        {**ADAPTER, "base_model_name_or_path": other}
    ).encode()

    with pytest.raises(IntakeError):
        check(
            bundle(spot, {name: (None, data) for name, data in files.items()}, kind="model"), rows
        )


LONG = 200_000
SLOW = {
    "letters": "a" * LONG,
    "bars": "_" * LONG,
    "pieces of an address": "http" * LONG,
    "hyphens": "-" * LONG,
    "functions": "lambda x " * (LONG // 9),
    "spaces": "eval" + " " * LONG,
    "dots": "../x" * (LONG // 4) + "y",
    "slashes": "x/" * LONG,
}


@pytest.mark.parametrize("name", SLOW)
def test_a_long_text_is_looked_through_in_no_time(name: str) -> None:
    text = SLOW[name]
    half = text[:49_000]
    files = {
        "model/text_encoder/config.json": json.dumps(
            {"x": text, text: 1, "y": {text: text}}
        ).encode(),
        "model/tokenizer/tokenizer_config.json": json.dumps(
            {"chat_template": f"{{{{ '{half}' }}}}"}
        ).encode(),
        "model/adapter_config.json": json.dumps(
            {**ADAPTER, "target_modules": text, text: text}
        ).encode(),
        "model/x.safetensors": with_header(
            json.dumps(
                {
                    EMBEDDING: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
                    "__metadata__": {"x": text, "lora_adapter_metadata": json.dumps({text: text})},
                }
            ).encode(),
            bytes(8),
        ),
    }
    began = time.process_time()

    problems_of(files, DeclaredModel(BASE))

    assert time.process_time() - began < 20, (
        "a search whose time grows with the square of the text takes minutes"
    )


@pytest.mark.parametrize("join", ["+", "~", ".", " or ", "|trim|", " if a else "])
def test_a_template_deeper_than_python_goes_is_refused(
    join: str, rows: Catalogue, spot: Path
) -> None:
    source = "{{ " + join.join("a" * 20_000) + " }}"
    files = {"model/chat_template.jinja": source[:99_000].encode()}

    found = problems_of(files, DeclaredModel())

    assert all(problem.message for problem in found)
