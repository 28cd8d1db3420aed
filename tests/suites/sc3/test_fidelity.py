"""LPIPS and FVD beside PSNR: there with weights, absent with a word without them, and worse for
worlds that show something else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import ALL, Cell, Json, Outcome, Output, Score
from evaluators.suites.likeness import FOLDER, NO_WEIGHTS, BadFidelity
from evaluators.suites.sc3.reading import likeness
from evaluators.suites.sc3.samples import criteria_of, recording_of, truth_of
from evaluators.suites.sc3.scoring import score, tabulate
from evaluators.worlds.tabletop.views import Frames
from tests.models.fidelity_weights import write_film, write_lpips
from tests.suites.sc3.rolled import DEMO, cell

OFFLINE = [sample for sample in DEMO if sample.facets.setting == "offline"]
REAL = [recording_of(sample).kept_frames()[:, 1::4] for sample in OFFLINE]
Painter = Callable[[int], Frames]


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_lpips(tmp_path)
    write_film(tmp_path)
    monkeypatch.setenv(FOLDER, str(tmp_path))
    return tmp_path


def same(number: int) -> Frames:
    return REAL[number]


def noisy(number: int) -> Frames:
    noise = np.random.default_rng(number).normal(0, 12, REAL[number].shape)
    return (REAL[number] + noise).round().clip(0, 255).astype(np.uint8)


def grey(number: int) -> Frames:
    return np.full_like(REAL[number], 128)


def another(number: int) -> Frames:
    return REAL[(number + 5) % len(REAL)]


def scores(painted: Painter, lost: int = 0) -> list[Score]:
    """Of rollouts whose frames are these, the first few missing."""
    rows: list[Score] = []
    for number, sample in enumerate(OFFLINE):
        if number < lost:
            output = Output(sample.id, Outcome.OUTPUT_MISSING)
        else:
            value = {
                **likeness(painted(number), REAL[number]),
                "criteria": criteria_of(truth_of(sample)),
                "terminated_at": None,
            }
            stored = json.loads(json.dumps(value))
            output = Output(sample.id, Outcome.SCORED, record={"value": stored})
        rows += score(sample, output, {})
    return rows


def cells(painted: Painter, lost: int = 0) -> tuple[Cell, Cell]:
    table = tabulate(OFFLINE, scores(painted, lost))
    lpips, fvd = (cell(table, metric, ALL, "offline") for metric in ("lpips", "fvd"))
    return lpips, fvd


def test_the_real_film_is_at_no_distance_and_worse_worlds_are_further(weights: Path) -> None:
    lpips, fvd = zip(*(cells(painted) for painted in (same, noisy, grey)), strict=True)

    assert lpips[0].value == 0.0 and fvd[0].value == pytest.approx(0.0, abs=1e-4)
    assert lpips[0].value < lpips[1].value < lpips[2].value
    assert fvd[0].value < fvd[1].value < fvd[2].value
    assert lpips[1].low is not None and lpips[1].low < lpips[1].value < lpips[1].high


def test_another_start_s_film_looks_different_though_the_set_of_films_is_the_same(
    weights: Path,
) -> None:
    lpips, fvd = cells(another)

    assert (lpips.value or 0) > 0.01
    assert fvd.value == pytest.approx(0.0, abs=1e-4)


def test_without_weights_both_are_absent_with_a_word_even_where_rollouts_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(FOLDER, raising=False)

    for lost in (0, 3, len(OFFLINE)):
        for empty in cells(same, lost):
            assert (empty.value, empty.low, empty.why_empty) == (None, None, NO_WEIGHTS)


def test_a_missing_rollout_costs_lpips_and_leaves_no_fvd(weights: Path) -> None:
    lpips, fvd = cells(same, lost=3)

    assert lpips.value == pytest.approx(3 / len(OFFLINE)) and lpips.n_scored == len(OFFLINE) - 3
    assert fvd.value is None and "could steer" in fvd.why_empty


def test_with_one_of_the_two_folders_only_its_number_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lpips(tmp_path)
    monkeypatch.setenv(FOLDER, str(tmp_path))

    lpips, fvd = cells(noisy)

    assert lpips.value and fvd.why_empty == NO_WEIGHTS


def test_online_rollouts_have_neither() -> None:
    online = [sample for sample in DEMO if sample.facets.setting == "online"]
    value: dict[str, Json] = {
        **likeness(None, None),
        "criteria": dict(criteria_of(truth_of(online[0]))),
    }
    rows = score(online[0], Output(online[0].id, Outcome.SCORED, record={"value": value}), {})

    assert {row.outcome for row in rows if row.metric == "lpips"} == {Outcome.NOT_APPLICABLE}
    assert not [c for c in tabulate(online[:1], rows) if c.metric in ("lpips", "fvd")]


def test_a_broken_folder_is_the_operator_s_fault_and_never_a_rollout_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))

    with pytest.raises(BadFidelity, match="neither lpips/ nor film/"):
        likeness(REAL[0], REAL[0])
    (tmp_path / "lpips").mkdir()
    with pytest.raises(BadFidelity, match="cannot be opened"):
        likeness(REAL[0], REAL[0])
    assert not issubclass(BadFidelity, ValueError)
