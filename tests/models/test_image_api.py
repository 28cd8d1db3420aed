"""An image API: pictures in order, filters told from faults, a busy endpoint waited for, a key
never repeated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from openai import APIStatusError

from evaluators.contracts import CannotProduce, Outcome
from evaluators.models.generate.endpoints.ledger import BudgetUsedUp, Price
from evaluators.models.generate.image_api import ApiGenerator, ImageApi
from flows.workers.apis import StoreLedger
from infra.store import open_store
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


def test_a_picture_at_an_address_is_fetched_from_the_api_s_own_host_only(
    server: ImageServer, tmp_path: Path
) -> None:
    server.by_url = server.url.removesuffix("/v1") + "/files"
    (own,) = generator(server).generate(SAMPLES[:1], tmp_path)
    server.by_url = "http://files.invalid"
    (foreign,) = generator(server).generate(SAMPLES[1:2], tmp_path)

    assert own.outcome is Outcome.SCORED and own.file
    assert inspect(own.file, own.file.name, "image").width == 48
    assert foreign.outcome is Outcome.MODEL_FAILED and "not its own host" in foreign.reason


def test_every_try_at_a_picture_carries_one_key_and_another_picture_another(
    server: ImageServer, tmp_path: Path
) -> None:
    server.faults = {SAMPLES[0].prompt: ["busy", "broken"]}

    list(generator(server).generate(SAMPLES[:2], tmp_path))

    assert len(server.keys) == 4 and len(set(server.keys)) == 2 and "" not in server.keys


def test_pictures_count_against_the_budget(server: ImageServer, tmp_path: Path) -> None:
    ledger = StoreLedger(open_store(str(tmp_path / "store")), "s", 0.1)
    api = ImageApi(server.url, "painter-1", "1", concurrency=1, price=Price(picture=0.04))

    with pytest.raises(BudgetUsedUp, match="costs 0.04"):
        list(ApiGenerator(api, ledger=ledger).generate(SAMPLES, tmp_path))

    assert len(server.asked) == 2 and ledger.spent() == pytest.approx(0.08)
