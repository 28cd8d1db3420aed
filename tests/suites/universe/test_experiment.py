"""The experiment in small, one seed: it runs, and the same seed gives the same cells."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.bench import universe_runs
from tests.bench.universe import MAIN, TABLES, table_rows
from tests.bench.universe_clips import CHOOSING, EXAMINING, TRAINING
from tests.bench.universe_runs import (
    CELLS,
    QUICK,
    Bench,
    Cells,
    Job,
    Ran,
    Size,
    make,
    run,
    run_once,
)


@pytest.fixture(scope="module")
def bench() -> Bench:
    torch.set_num_threads(1)
    return make(QUICK)


def test_the_base_has_not_learned_the_game(bench: Bench) -> None:
    before = run(bench, Job("zero_shot", frames=QUICK.frames)).cells

    assert set(before) == set(CELLS)
    assert before["actions, open_ended"] < 30 and before["characters, open_ended"] < 30


def test_a_few_steps_of_full_tuning_teach_the_words_of_the_game(bench: Bench) -> None:
    before = run(bench, Job("zero_shot", frames=QUICK.frames)).cells
    after = run(bench, Job("full", frames=QUICK.frames, steps=QUICK.steps)).cells

    assert sum(after.values()) > sum(before.values())


def test_the_same_seed_gives_the_same_cells(bench: Bench) -> None:
    short = Job("projector", frames=1, steps=5)

    assert run(bench, short).cells == run(bench, short).cells


def test_every_table_has_three_seeds_and_every_row_its_mean_and_spread() -> None:
    size = Size()
    level = {"zero_shot": 0.0, "projector": 10.0, "lora": 20.0, "full": 30.0, "upper": 40.0}

    def pretended(job: Job) -> Ran:
        cells: Cells = dict.fromkeys(CELLS, level[job.strategy] + job.seed)
        return Ran(cells, 1, 2.0, 3.0, dict.fromkeys(job.look, cells))

    for name, wanted in TABLES.items():
        entries = list(wanted(size))
        rows = list(table_rows(entries, [pretended(entry.job) for entry in entries]))
        trained = [row for row in rows if row.get("strategy") != "zero_shot"]
        assert {row["seeds"] for row in trained} == {3}, name
        assert {row[CELLS[0]]["std"] for row in trained} == {1.0}, name
    main = list(TABLES["strategies"](size))
    rows = list(table_rows(main, [pretended(entry.job) for entry in main]))
    assert [row["strategy"] for row in rows] == list(MAIN)
    assert [row[CELLS[0]]["mean"] for row in rows] == [0.0, 11.0, 21.0, 31.0, 41.0]


def test_looks_on_the_way_are_rows_of_their_own(bench: Bench) -> None:
    job = Job("projector", frames=1, steps=4, look=(2,), mask="own", questions=2)

    ran = run(bench, job)

    assert set(ran.looks) == {2}
    assert ran.looks[2].keys() == ran.cells.keys()


def test_a_run_that_was_made_is_read_and_not_made_again(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = replace(bench, folder=tmp_path)
    job = Job("projector", frames=1, steps=2, look=(1,))
    first = run_once(kept, job)
    monkeypatch.setattr(universe_runs, "run", _not_again)

    assert run_once(kept, job) == first
    with pytest.raises(AssertionError, match="made again"):
        run_once(kept, replace(job, seed=1))


def test_the_examined_clips_have_every_action_equally_often_and_are_of_other_sessions(
    bench: Bench,
) -> None:
    counts = Counter(action for action, _ in bench.held.labels)

    assert set(counts.values()) == {QUICK.held // 8}
    assert bench.size.held_from == EXAMINING > CHOOSING > TRAINING + 10 * Size().train


def _not_again(_bench: Bench, _job: Job) -> Ran:
    raise AssertionError("made again")
