"""A model's time on our machines is its submitter's: bounds at the door, a budget, and an end
within seconds."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flows.durable.gpu_time import GpuTime, OverGpuTime
from flows.durable.lease import HeldLease, LeaseLost, under
from flows.run.errors import RETRIED, stopped_by
from flows.workers.executor import _as_finished, submit_shards
from infra.settings import Settings
from submissions.bundle.sampling_bounds import sampling_problems
from submissions.format.manifest import DeclaredSampling, Manifest
from submissions.teams.quotas import gpu_seconds
from tests.bundles import declaration
from tests.flows.long_shard import endless
from tests.servers.prefect import PrefectServer


def test_time_is_over_when_finished_shards_and_the_one_in_work_pass_it() -> None:
    moments = iter([0.0, 10.0, 49.0, 51.5])
    budget = GpuTime(100, 50, clock=lambda: next(moments))
    budget.count(10)

    budget.check()
    with pytest.raises(OverGpuTime, match="0.0 hours and was not through"):
        budget.check()


def test_waiting_for_a_machine_that_others_use_is_not_the_models_time() -> None:
    moments = iter([0.0, 7200.0, 7230.0])
    budget = GpuTime(100, clock=lambda: next(moments))

    budget.wait()
    budget.check()

    assert budget.spent == 0


def test_time_is_counted_while_a_shard_is_in_work_and_not_while_all_wait() -> None:
    """A cluster whose only machine works for somebody else for an hour, then on this shard."""
    clock, works = iter(range(0, 3600 * 9, 600)), iter([False] * 6 + [True] * 9)

    class Cluster:
        def finished(self, _futures: object, _seconds: float) -> list[Any]:
            return []

        def works_on(self, _futures: object) -> bool:
            seen.append(next(works))
            return seen[-1]

    seen: list[bool] = []
    budget = GpuTime(3600, clock=lambda: float(next(clock)))

    with pytest.raises(OverGpuTime):
        list(_as_finished(Cluster(), None, {"a shard": {}}, budget))  # type: ignore[arg-type, dict-item]

    assert seen == [False] * 6 + [True] * 7


def test_trying_for_free_has_less_of_it() -> None:
    settings = Settings(gpu_hours=40, gpu_hours_free=1, quota_free="demo")

    assert (gpu_seconds(settings, "full"), gpu_seconds(settings, "demo")) == (144_000, 3_600)
    assert gpu_seconds(settings.model_copy(update={"quota_free": ""}), "demo") == 144_000


def test_the_end_is_the_submitters_and_is_not_tried_again() -> None:
    stopped = stopped_by(OverGpuTime("Its model worked for 49.0 hours."))

    assert (stopped.code, stopped.fault) == ("E_GPU_TIME", "submitter")
    assert stopped.code not in RETRIED


@pytest.mark.timeout(300)
@pytest.mark.xdist_group("servers")
def test_work_stops_within_seconds_when_the_lease_is_lost_or_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefect_server: PrefectServer
) -> None:
    from prefect import flow, task
    from prefect.settings import PREFECT_API_URL, temporary_settings

    monkeypatch.setenv("ARMILLARY_ENGINE", "threads")
    shard = task(retries=0, persist_result=False)(endless)
    hold = HeldLease("sub-1", "somebody")

    @flow(persist_result=False)
    def generate(budget: Any) -> None:
        with under(hold):
            for _ in submit_shards(shard, [str(tmp_path)], gpu_time=budget):
                raise AssertionError("an endless shard ended")

    with temporary_settings({PREFECT_API_URL: prefect_server.api_url}):
        with pytest.raises(OverGpuTime):
            generate(GpuTime(2))
        worked = _seconds_of_work(tmp_path)
        assert hold.lost.is_set()
        with pytest.raises(LeaseLost):
            generate(None)

    assert worked < 60
    assert _seconds_of_work(tmp_path) < 60


@pytest.mark.timeout(120)
def test_without_prefect_too_work_stops_when_the_time_is_over(tmp_path: Path) -> None:
    shard = SimpleNamespace(fn=endless)

    with under(HeldLease("sub-1", "somebody")), pytest.raises(OverGpuTime):
        list(submit_shards(shard, [str(tmp_path)], gpu_time=GpuTime(2)))

    assert _seconds_of_work(tmp_path) < 60


def _seconds_of_work(folder: Path) -> float:
    """How long the shard was at work before it stopped; it can be asked once a shard."""
    begun, stopped = folder / "begun", folder / "stopped"
    seconds = stopped.stat().st_mtime - begun.stat().st_mtime
    stopped.unlink()
    return seconds


@pytest.mark.parametrize(
    ("modalities", "sampling", "field"),
    [
        (["image"], {"steps": 1000, "height": 8192, "width": 8192}, "steps"),
        (["image"], {"steps": 50, "height": 8192, "width": 8192}, "width"),
        (["video"], {"steps": 50, "height": 8192}, "width"),
        (["video"], {"steps": 150}, "steps"),
        (["video"], {"steps": 50, "height": 1088, "width": 1920, "frames": 400}, "frames"),
        (["video"], {"frames": 1000}, "frames"),
        (["video"], {"frames": 1000, "steps": 100}, "frames"),
        (["image", "video"], {"frames": 600, "height": 480}, "frames"),
    ],
)
def test_a_model_asks_no_more_than_models_of_its_kind_do(
    modalities: list[str], sampling: dict[str, int], field: str
) -> None:
    problem = next(sampling_problems(declared("model", modalities, sampling)))

    assert (problem.code, problem.where) == ("E_SAMPLING", f"manifest.sampling.{field}")
    assert "hand in outputs made elsewhere" in problem.hint


def test_a_refusal_says_which_numbers_nobody_declared() -> None:
    clip = declared("model", ["video"], {"frames": 1000})

    (problem,) = sampling_problems(clip, "LTXPipeline")

    said = "1000 frames of 704x512 pixels (its pipeline's own width, height)."
    assert problem.message == f"{said} At most 276480000 are taken from a model that we run."


WIDE = {"height": 4096, "width": 4096}
TWENTY_SECONDS = {"height": 704, "width": 1280, "frames": 481}


@pytest.mark.parametrize(
    ("modality", "sampling", "family", "others"),
    [
        ("image", WIDE, "SanaPipeline", "StableDiffusionXLPipeline"),
        ("video", TWENTY_SECONDS, "LTX2Pipeline", "LTXPipeline"),
        ("video", {"frames": 600}, "LTX2Pipeline", "HunyuanVideoPipeline"),
        ("video", {"frames": 257}, "LTXPipeline", ""),
        ("image", {"height": 4000}, "SanaPipeline", "HunyuanImagePipeline"),
    ],
)
def test_bounds_and_what_is_left_open_are_the_family_s(
    modality: str, sampling: dict[str, int], family: str, others: str
) -> None:
    asked = declared("model", [modality], sampling)

    assert list(sampling_problems(asked, family)) == []
    if others:
        assert [problem.code for problem in sampling_problems(asked, others)] == ["E_SAMPLING"]


@pytest.mark.parametrize(
    ("kind", "modalities", "sampling"),
    [
        ("outputs", ["image"], {"steps": 1000, "height": 8192, "width": 8192}),
        ("model", ["image"], {"steps": 50, "height": 2048, "width": 2048}),
        ("model", ["video"], {"steps": 50, "height": 704, "width": 1216, "frames": 257}),
        ("model", ["image", "video"], {}),
    ],
)
def test_published_settings_and_outputs_made_elsewhere_pass(
    kind: str, modalities: list[str], sampling: dict[str, int]
) -> None:
    assert list(sampling_problems(declared(kind, modalities, sampling))) == []


def declared(kind: str, modalities: list[str], sampling: dict[str, Any]) -> Manifest:
    fields = declaration(kind=kind, modalities=modalities, sampling={"seed": 1, **sampling})
    return Manifest.model_construct(**{**fields, "sampling": DeclaredSampling(seed=1, **sampling)})
