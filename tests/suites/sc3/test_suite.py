"""The suite: from rollouts through reading and scoring to cells, and through the door to the
board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import ALL, Outcome, Output, Sample, Score
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.fakes import criterion_mean, shuffled_policies
from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.real import as_rollout
from evaluators.suites.sc3.rollouts.stopping import cut, random_stops, stops, tune
from evaluators.suites.sc3.rollouts.trajectories import (
    CRITERIA,
    BadTrajectory,
    OutcomeAnnotation,
    Trajectory,
    from_bytes,
    to_bytes,
)
from evaluators.suites.sc3.samples import (
    BadTable,
    criteria_of,
    private_samples,
    recording_of,
    samples,
    trial_of,
    truth_of,
)
from evaluators.suites.sc3.scoring import _match, score, tabulate
from evaluators.suites.sc3.table.trials import SHIPPED_TABLE
from evaluators.worlds.actions import BadActions
from evaluators.worlds.tabletop.blind import frozen
from submissions.bundle.answers import AnswerRule, value_facts
from submissions.media.facts import Refused
from tests.suites.sc3.rolled import DEMO, cell, playback, rolled, scored


@pytest.fixture(scope="module")
def perfect(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return rolled(playback(), DEMO, tmp_path_factory.mktemp("perfect"))


@pytest.fixture(scope="module")
def scores(perfect: dict[str, Path]) -> list[Score]:
    return scored(perfect)


def test_there_are_seven_policies_with_ten_starts_in_two_modes() -> None:
    assert len(samples()) == 7 * 10 * 2 and len(DEMO) == 7 * 3 * 2
    assert {sample.facets.scenario for sample in samples()} == {
        "in_distribution",
        "out_of_distribution",
    }


def test_the_real_run_itself_is_as_good_as_the_annotator_can_tell(scores: list[Score]) -> None:
    found = tabulate(DEMO, scores)

    for mode in ("offline", "online"):
        assert (cell(found, "pearson_r", "pooled", mode).value or 0) > 0.7
        assert (cell(found, "reproduction_average", ALL, mode).value or 0) > 0.6
    assert cell(found, "psnr", ALL, "offline").value == 100.0
    assert cell(found, "ssim", ALL, "offline").value == 1.0
    assert cell(found, "termination_rate", ALL, "online").value == 0.0
    assert cell(found, "pearson_r", "pooled", "online").low is not None
    assert cell(found, "mmrv", "object_lifting", "online", "in_distribution").value is not None
    assert (
        cell(found, "real_rate", "policy_1 object_placing", "online", "in_distribution").value
        is not None
    )


def test_a_world_in_which_nothing_happens_has_no_correlation_and_cells_that_say_why(
    tmp_path: Path,
) -> None:
    offline = [sample for sample in DEMO if sample.facets.setting == "offline"]
    found = tabulate(offline, scored(rolled(frozen(), offline, tmp_path), chosen=offline))

    empty = cell(found, "pearson_r", "pooled", "offline")
    assert empty.value is None and "does not vary" in empty.why_empty
    assert 10 < (cell(found, "psnr", ALL, "offline").value or 0) < 30
    assert (cell(found, "ssim", ALL, "offline").value or 1) < 0.9


def _missing(names: set[str]) -> list[Score]:
    lost = [sample for sample in DEMO if sample.id in names]
    return [
        one
        for sample in lost
        for one in score(sample, Output(sample.id, Outcome.OUTPUT_MISSING), {})
    ]


def test_removing_rollouts_never_raises_what_is_measured(scores: list[Score]) -> None:
    gone = {sample.id for sample in DEMO[::2]}
    whole = tabulate(DEMO, scores)
    part = tabulate(DEMO, [one for one in scores if one.sample_id not in gone] + _missing(gone))

    for metric in ("reproduction_average", "psnr"):
        mode = "offline"
        assert (cell(part, metric, ALL, mode).value or 0) < (
            cell(whole, metric, ALL, mode).value or 0
        )


def test_agreement_of_a_part_has_no_value_and_says_why(scores: list[Score]) -> None:
    gone = next(one for one in DEMO if one.facets.setting == "offline")

    found = tabulate(
        DEMO, [one for one in scores if one.sample_id != gone.id] + _missing({gone.id})
    )

    empty = cell(found, "pearson_r", "pooled", "offline")
    assert (empty.value, empty.low, empty.n_expected - empty.n_scored) == (None, None, 1)
    assert "1 of 21 rollouts are missing" in empty.why_empty
    assert cell(found, "pearson_r", "pooled", "online").value is not None


def test_labels_of_one_s_own_stand_beside_and_change_no_criterion(
    perfect: dict[str, Path], tmp_path: Path
) -> None:
    sample = DEMO[0]
    made = from_bytes(perfect[sample.id].read_bytes())
    said = ObjectOutcome(False, True, False)
    named = str(sample.reference["object"])
    path = tmp_path / "one.npz"
    path.write_bytes(to_bytes(replace(made, annotations=(OutcomeAnnotation("ann", named, said),))))

    value = read(sample, path)

    assert value["criteria"] == read(sample, perfect[sample.id])["criteria"]
    assert (value["annotator"], value["labels"]) == ("automatic", "automatic")
    assert value["own_labels"] == [
        {"language_following": False, "object_lifting": True, "object_placing": False}
    ]


def test_labels_of_the_submitter_s_own_move_no_number_and_are_told_beside_each(
    perfect: dict[str, Path], tmp_path: Path
) -> None:
    labelled, right = dict(perfect), 0
    for sample in [one for one in DEMO if one.facets.setting == "online"][:2]:
        made = from_bytes(perfect[sample.id].read_bytes())
        said = OutcomeAnnotation(
            "automatic", str(sample.reference["object"]), ObjectOutcome(True, True, True)
        )
        right += read(sample, perfect[sample.id])["criteria"] == dict.fromkeys(CRITERIA, True)
        labelled[sample.id] = tmp_path / f"{sample.id}.npz"
        labelled[sample.id].write_bytes(to_bytes(replace(made, annotations=(said,))))

    found = tabulate(DEMO, scored(labelled))

    marked = (
        "the submitter labelled 2 of 21 rollouts; those labels do not count here, and "
        f"{right} say the same"
    )
    unlabelled = tabulate(DEMO, scored(perfect))
    assert [one.value for one in found] == [one.value for one in unlabelled]
    assert cell(found, "pearson_r", "pooled", "online").note == marked
    assert cell(found, "reproduction_average", ALL, "online").note == marked
    assert cell(found, "termination_rate", ALL, "online").note == ""
    assert cell(found, "pearson_r", "pooled", "offline").note == ""


def test_a_rollout_under_another_samples_name_is_refused(perfect: dict[str, Path]) -> None:
    with pytest.raises(BadTrajectory, match="under its own sample"):
        read(DEMO[1], perfect[DEMO[0].id])


def test_an_online_rollout_has_no_likeness(perfect: dict[str, Path]) -> None:
    sample = next(one for one in DEMO if one.facets.setting == "online")

    value = read(sample, perfect[sample.id])

    assert value["psnr"] is None and value["ssim"] is None


def test_fakes_that_know_no_policy_are_told_from_one_that_does(scores: list[Score]) -> None:
    online = [one for one in DEMO if one.facets.setting == "online"]
    by_id = {(s.sample_id, s.metric): s for s in scores}
    matches = [_match(one, by_id[one.id, "reproduction_average"]) for one in online]

    means, others = criterion_mean(matches), shuffled_policies(matches)

    assert len(means) == len(others) == len(matches)
    assert [one.real[0] for one in matches] != others


def test_stops_are_cut_after_the_fact_as_they_would_have_happened() -> None:
    whole = replace(
        as_rollout(recording_of(DEMO[0])),
        u_chunk=np.array([0.1, 0.2, 0.9, 0.1], np.float32),
        recovered=np.zeros((4, 16, 7), np.float32),
    )

    short = cut(whole, 0.5, 16)

    assert (short.terminated_at, short.steps, len(short.u_chunk)) == (2, 32, 3)
    assert cut(whole, None, 16).terminated_at is None
    assert stops([whole, whole], 0.5) == [2, 2]
    assert cut(whole, 0.5, 16).tau == 0.5
    assert (
        sum(one.terminated_at is not None for one in random_stops([whole] * 5, [2, 1], 16, 0)) == 2
    )
    assert tune(
        [whole], lambda made: float(made[0].terminated_at == 1), execute=16
    ) == pytest.approx(0.15, abs=0.1)
    assert tune([whole], lambda made: float(made[0].steps == 8), execute=8) == pytest.approx(
        0.15, abs=0.1
    )


def door(data: bytes) -> str:
    with pytest.raises(Refused) as refused:
        value_facts(data, "a.npz", "trajectory", AnswerRule())
    return refused.value.message


def arrays(tmp_path: Path, one: Trajectory, **changes: object) -> bytes:
    kept = {
        "views": one.frames,
        "actions": one.actions,
        "recovered": one.recovered,
        "u_chunk": one.u_chunk,
    }
    made = {**kept, "line": np.zeros(3, np.uint8), **changes}
    np.savez(
        tmp_path / "t.npz",
        **{name: value for name, value in made.items() if value is not None},  # type: ignore[arg-type]
    )
    return (tmp_path / "t.npz").read_bytes()


def test_the_door_takes_a_sound_rollout_and_says_what_is_wrong_with_others(tmp_path: Path) -> None:
    one = as_rollout(recording_of(DEMO[0]))

    facts = value_facts(to_bytes(one), "a.npz", "trajectory", AnswerRule())

    assert (facts.frames, facts.height, facts.width) == (201, 64, 64)
    assert "finite" in door(arrays(tmp_path, one, actions=np.full((200, 7), np.nan, np.float32)))
    assert "shape (200, 65)" in door(arrays(tmp_path, one, actions=np.zeros((200, 65), np.float32)))
    with pytest.raises(BadTrajectory, match="no trajectory"):
        from_bytes(arrays(tmp_path, one, actions=np.zeros((200, 6), np.float32)))
    with pytest.raises(BadActions, match="7 numbers"):
        from_bytes(to_bytes(replace(one, actions=np.zeros((200, 6), np.float32))))
    assert "201 frames for 40 actions" in door(
        arrays(tmp_path, one, actions=np.zeros((40, 7), np.float32))
    )
    assert "out of step" in door(
        arrays(
            tmp_path,
            one,
            views=None,
            view_agent=one.frames[0],
            view_front=one.frames[1],
            view_wrist=one.frames[2, 1:],
        )
    )
    assert "float64" in door(arrays(tmp_path, one, u_chunk=np.zeros(1)))
    assert "known are" in door(arrays(tmp_path, one, payload=np.zeros(1, np.uint8)))
    assert "objects" in door(arrays(tmp_path, one, line=np.array([{}], object)))
    assert "cannot be read" in door(b"PK\x03\x04 nonsense")


def test_the_truth_is_the_simulator_s_state_and_not_what_the_annotator_sees() -> None:
    told = [truth_of(sample) for sample in samples()]
    seen = [
        ObjectOutcome(*(read_off[name] for name in CRITERIA))
        for read_off in (criteria_of(_annotated(sample)) for sample in samples())
    ]

    assert told != seen and told[: len(told) // 2] == told[len(told) // 2 :]


def _annotated(sample: Sample) -> ObjectOutcome:
    return trial_of(sample).outcomes["real as annotated"]


def test_an_operator_s_starts_are_samples_that_stay_on_the_server(tmp_path: Path) -> None:
    private = private_samples(SHIPPED_TABLE)

    assert len(private) == len(samples()) and all(one.id.startswith("private.") for one in private)
    assert {truth_of(one) for one in private} == {truth_of(one) for one in samples()}
    with pytest.raises(BadTable, match="armillary sc3 trials"):
        private_samples(tmp_path)
