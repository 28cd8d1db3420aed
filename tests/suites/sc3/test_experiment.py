"""The experiment in a minute: the shipped eyes, two variants of one seed, a few starts; nothing of
it is quoted."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from evaluators.models.dynamics.course import DynamicsCourse
from evaluators.models.dynamics.training import DynamicsPlan
from tests.bench.sc3 import experiment
from tests.bench.sc3_models import VARIANTS, Effort
from tests.bench.sc3_tables import Line, tables

pytestmark = pytest.mark.xdist_group("sc3 experiment")

SHORT = Effort(
    course=DynamicsCourse(
        training=DynamicsPlan(steps=300, warm_up=30, second_stride=0.0), episodes=240
    ),
    starts=4,
    seeds=(0,),
    variants=tuple(variant for variant in VARIANTS if variant.name in ("full", "forward only")),
    shipped_eyes=True,
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    with ThreadPoolExecutor(1) as pool:
        made = experiment(tmp_path_factory.mktemp("experiment"), SHORT, pool)
    return [Line(**line) for line in made["lines"]]  # type: ignore[attr-defined]


def pooled(found: Sequence[Line], name: str, mode: str = "online") -> Line:
    return next(
        line for line in found if (line.evaluator, line.mode, line.split) == (name, mode, "pooled")
    )


def test_a_model_trained_for_a_minute_is_above_every_fake(found: list[Line]) -> None:
    model = pooled(found, "full, never stopped")

    for name in ("criterion mean", "shuffled policies", "copy of the last frame", "never grasps"):
        fake = pooled(found, name)
        assert (model.reproduction or 0) > (fake.reproduction or 0), name
        assert (model.pearson_r_within or -1) > (fake.pearson_r_within or -1), name


def test_the_ceiling_is_above_the_model_and_less_noise_is_above_more(found: list[Line]) -> None:
    order = ["simulator", "noisy simulator 0.012", "noisy simulator 0.03"]

    rates = [pooled(found, name).reproduction or 0 for name in order]

    assert rates == sorted(rates, reverse=True) and rates[0] == 1.0
    ceiling = pooled(found, "simulator through tokeniser").reproduction or 0
    assert ceiling >= (pooled(found, "full, never stopped").reproduction or 0)


def test_early_stops_stand_beside_as_many_by_chance_and_only_where_actions_are_read_back(
    found: list[Line],
) -> None:
    names = {line.evaluator for line in found}

    stopped, chance = pooled(found, "full"), pooled(found, "full, stopped by chance")

    assert stopped.stopped == chance.stopped and pooled(found, "full, never stopped").stopped == 0
    assert (
        "forward only, never stopped" not in names and pooled(found, "forward only").mean_u is None
    )
    assert pooled(found, "copy of the last frame, with the U of full").mean_u is not None


def test_the_papers_tables_are_printed_with_our_numbers(found: list[Line]) -> None:
    console = Console(width=220, file=StringIO())

    for table in tables(found):
        console.print(table)

    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(f"Table {number}" in said for number in (1, 2, 4, 5, 6)) and "inf" in said
    assert "simulator through tokeniser" in said and "by chance" in said


def test_another_effort_is_kept_elsewhere(tmp_path: Path) -> None:
    assert SHORT.folder() == SHORT.folder() != replace(SHORT, starts=6).folder()
