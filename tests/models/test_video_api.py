"""Text-to-video behind two protocols: nothing is bought twice, refusals are told from faults, the
sound is dropped and said so, files come from known hosts only."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import av
import pytest

from evaluators.contracts import CannotProduce, Facets, Outcome, Sample
from evaluators.media import drop_sound, read_frames
from evaluators.models.generate.endpoints.connection import EndpointDown
from evaluators.models.generate.endpoints.ledger import BudgetUsedUp, Price, read_prices
from evaluators.models.generate.video_api import ApiFilms, VideoEndpoint
from flows.workers.apis import StoreLedger
from infra.store import open_store
from submissions.media.facts import inspect
from tests.models.video_server import VideoServer, clip_with_sound, serve

PROTOCOLS = ("openai", "predictions")
Protocol = Literal["openai", "predictions"]
PROMPTS = ("a dog", "a red cup", "water", "a bird")
SAMPLES = [
    Sample(f"s{i}.video", Facets("", "", "", "video"), f"s{i}", prompt)
    for i, prompt in enumerate(PROMPTS)
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VideoServer]:
    (tmp_path / "served").mkdir()
    with serve(tmp_path / "served") as running:
        yield running


@pytest.fixture
def ledger(tmp_path: Path) -> StoreLedger:
    return StoreLedger(open_store(str(tmp_path / "store")), "submission", None)


def films(server: VideoServer, ledger: Any, protocol: str = "openai", **more: Any) -> ApiFilms:
    place = VideoEndpoint(
        server.url,
        "studio/filmer",
        "2026-11",
        "sk-film",
        size="",
        pause=0.01,
        price=Price(second=0.1),
        protocol=protocol,  # type: ignore[arg-type]
    )
    return ApiFilms(replace(place, **more), ledger, "bundle")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_prompt_gets_its_own_outcome_in_order(
    server: VideoServer, ledger: StoreLedger, tmp_path: Path, protocol: str
) -> None:
    server.faults = {
        "a dog": ["busy", "broken", "lost"],
        "a red cup": ["blocked"],
        "water": ["job blocked"],
        "a bird": ["job failed"],
    }

    outputs = list(films(server, ledger, protocol).generate(SAMPLES, tmp_path / "out"))

    assert [output.sample_id for output in outputs] == [sample.id for sample in SAMPLES]
    assert [output.outcome for output in outputs] == [
        Outcome.SCORED,
        Outcome.BLOCKED,
        Outcome.BLOCKED,
        Outcome.MODEL_FAILED,
    ]
    first = outputs[0]
    assert first.file and inspect(first.file, first.file.name, "video").frames == 8
    assert first.record["sound"] == "dropped" and first.record["price"] == pytest.approx(0.4)
    assert first.record["protocol"] == protocol and first.record["size"] == "auto"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_lost_answer_buys_one_clip_and_not_two(
    server: VideoServer, ledger: StoreLedger, tmp_path: Path, protocol: str
) -> None:
    server.faults = {"a dog": ["lost", "lost"]}

    (output,) = films(server, ledger, protocol).generate(SAMPLES[:1], tmp_path / "out")

    assert output.outcome is Outcome.SCORED
    assert len(server.posts) == 3 and len({post["key"] for post in server.posts}) == 1
    assert len(server.jobs) == 1, "one job was begun and billed"
    assert ledger.spent() == pytest.approx(0.4)


def test_after_a_kill_the_same_job_is_waited_for(
    server: VideoServer, ledger: StoreLedger, tmp_path: Path
) -> None:
    impatient = films(server, ledger, deadline=0.0)
    with pytest.raises(EndpointDown, match="the same job is waited for"):
        list(impatient.generate(SAMPLES[:1], tmp_path / "out"))

    (output,) = films(server, ledger).generate(SAMPLES[:1], tmp_path / "out")

    assert output.outcome is Outcome.SCORED and len(server.posts) == 1


def test_a_job_that_the_endpoint_loses_is_begun_anew_and_then_nobody_s_failure(
    server: VideoServer, ledger: StoreLedger, tmp_path: Path
) -> None:
    server.faults = {"a dog": ["job error"], "water": ["job error!"]}

    (output,) = films(server, ledger).generate(SAMPLES[:1], tmp_path / "out")

    assert output.outcome is Outcome.SCORED and output.record["jobs"] == 2
    with pytest.raises(EndpointDown, match="lost 3 jobs in a row"):
        list(films(server, ledger).generate(SAMPLES[2:3], tmp_path / "out"))


@pytest.mark.parametrize("fault", ["key!", "money!"])
def test_what_the_operator_has_to_mend_stops_the_shard_and_repeats_no_key(
    server: VideoServer, ledger: StoreLedger, tmp_path: Path, fault: str
) -> None:
    server.faults = {"a dog": [fault]}

    with pytest.raises(CannotProduce, match="Check URL, key, model and account") as refused:
        list(films(server, ledger).generate(SAMPLES[:1], tmp_path / "out"))

    assert "sk-film" not in str(refused.value)


@pytest.mark.parametrize("end", ["elsewhere", "redirected"])
def test_a_clip_on_another_host_is_not_fetched(
    server: VideoServer, ledger: StoreLedger, tmp_path: Path, end: str
) -> None:
    server.faults = {"a dog": [end]}

    (output,) = films(server, ledger, "predictions").generate(SAMPLES[:1], tmp_path / "out")

    assert output.outcome is Outcome.MODEL_FAILED
    assert "not its own host" in output.reason or "sends us elsewhere" in output.reason


def test_a_budget_is_never_passed_and_what_was_bought_is_kept(
    server: VideoServer, tmp_path: Path
) -> None:
    store = open_store(str(tmp_path / "store"))
    poor, rich = StoreLedger(store, "s", 1.0), StoreLedger(store, "s", 2.0)

    with pytest.raises(BudgetUsedUp, match=r"raise ARMILLARY_API_BUDGET"):
        list(films(server, poor).generate(SAMPLES, tmp_path / "out"))
    assert poor.spent() <= 1.0 and len(server.jobs) <= 2
    outputs = list(films(server, rich).generate(SAMPLES, tmp_path / "out"))

    assert [output.outcome for output in outputs] == [Outcome.SCORED] * 4
    assert len(server.jobs) == 4 and rich.spent() == pytest.approx(1.6)


def test_a_price_list_with_a_wrong_entry_is_refused() -> None:
    assert read_prices('["a/b"]\nclip = 1\n')["a/b"].of_clip(9) == 1
    for text in ('["m"]\nclip = -1', '["m"]\nminute = 1', "m = 3", '["m"]\nclip = true'):
        with pytest.raises(ValueError, match="Write a table"):
            read_prices(text)


def test_only_the_sound_is_dropped(tmp_path: Path) -> None:
    heard, silent = tmp_path / "a.mp4", tmp_path / "b.mp4"
    heard.write_bytes(clip_with_sound(tmp_path / "x.mp4"))
    silent.write_bytes(clip_with_sound(tmp_path / "y.mp4", sound=False))
    with av.open(heard) as clip:
        assert len(clip.streams.audio) == 1

    assert drop_sound(heard) and not drop_sound(silent)

    assert (read_frames(heard) == read_frames(silent)).all()
    assert not drop_sound(heard)
    (tmp_path / "no.mp4").write_bytes(b"no clip")
    assert not drop_sound(tmp_path / "no.mp4")


def test_two_workers_that_buy_at_once_never_stumble_over_what_the_other_gave_up(
    tmp_path: Path,
) -> None:
    store = open_store(str(tmp_path / "store"))
    ledger = StoreLedger(store, "s", 1.0)

    def buy(number: int) -> bool:
        try:
            ledger.buy(f"{number:04d}", 0.3)
        except BudgetUsedUp:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        bought = list(pool.map(buy, range(200)))

    assert ledger.spent() == pytest.approx(0.3 * sum(bought)) and sum(bought) <= 3
