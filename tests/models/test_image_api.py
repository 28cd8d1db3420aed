"""An image API: pictures in order, filters told from faults, a busy endpoint waited for, a key
never repeated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from openai import APIStatusError

from evaluators.contracts import CannotProduce, Outcome
from evaluators.models.generate.image_api import ApiGenerator, ImageApi
from submissions.media.facts import inspect
from tests.models.image_server import ImageServer, serve
from tests.models.test_diffusion import SAMPLES


@pytest.fixture
def server() -> Iterator[ImageServer]:
    with serve() as found:
        yield found


def generator(server: ImageServer, tries: int = 3) -> ApiGenerator:
    api = ImageApi(
        server.url, "painter-1", "2026-11-01", "sk-very-secret", concurrency=2, tries=tries
    )
    return ApiGenerator(api, 512, 512)


def test_every_prompt_gets_its_own_outcome_in_order(server: ImageServer, tmp_path: Path) -> None:
    server.faults = {
        "a dog": ["busy", "broken"],
        "water": ["blocked"],
        "a red cup on a blue table": ["wrong"],
    }

    made = list(generator(server).generate(SAMPLES, tmp_path))

    assert [one.sample_id for one in made] == [sample.id for sample in SAMPLES]
    assert [one.outcome for one in made] == [
        Outcome.SCORED,
        Outcome.SCORED,
        Outcome.BLOCKED,
        Outcome.MODEL_FAILED,
    ]
    assert server.asked.count("a dog") == 3
    assert made[0].file and inspect(made[0].file, made[0].file.name, "image").width == 48
    assert made[0].record["snapshot"] == "2026-11-01" and made[0].record["size"] == "512x512"


def test_an_endpoint_that_stays_broken_is_nobodys_failed_item(
    server: ImageServer, tmp_path: Path
) -> None:
    server.faults = {"a dog": ["broken!"]}

    with pytest.raises(APIStatusError):
        list(generator(server, tries=1).generate(SAMPLES[:1], tmp_path))


def test_a_wrong_key_tells_the_operator_and_is_not_repeated(
    server: ImageServer, tmp_path: Path
) -> None:
    server.faults = {"a dog": ["key!"]}

    with pytest.raises(CannotProduce) as refused:
        list(generator(server).generate(SAMPLES[:1], tmp_path))

    assert "Check URL and key" in str(refused.value) and "sk-very" not in str(refused.value)


def test_without_an_address_the_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotProduce, match="ARMILLARY_IMAGE_URL"):
        list(ApiGenerator(ImageApi("", "painter-1", "1")).generate(SAMPLES, tmp_path))
