"""From clips and their verdicts to L-IVA's numbers, and what only people can tell."""

from __future__ import annotations

from typing import Any

import pytest

from evaluators.aggregate import columns
from evaluators.contracts import ALL, Answer, Cell, Facets, Outcome, Output, Sample, Score
from evaluators.metrics.ranking import Ballot
from evaluators.suites.liva import SUITE
from evaluators.suites.liva.bank import most_clips, samples
from evaluators.suites.liva.failures import SIDES, Suspect, distribution
from evaluators.suites.liva.people import (
    BestWorstChoice,
    RatedVideo,
    best_worst,
    faulty,
    profile,
    scores,
)
from evaluators.suites.liva.scoring import NO_STUDY, parts, score, tabulate

CLOSED = [sample for sample in samples() if sample.facets.setting == "closed_loop"]
FIRST, SECOND = (
    next(s for s in CLOSED if s.cluster == case) for case in ("kitchen_case01", "office_case05")
)
EVERYWHERE = Facets(ALL, ALL, ALL, ALL)


def output(sample: Sample, clips: int, **record: Any) -> Output:
    told: list[Any] = [
        {"sha256": f"{number:064}", "caption": f"The person does {number}."}
        for number in range(clips)
    ]
    return Output(sample.id, Outcome.SCORED, record={"clips": told, **record})


def answers(*said: str | None) -> dict[str, Answer]:
    outcomes = (Outcome.SCORED if value else Outcome.JUDGE_UNPARSABLE for value in said)
    return {f"{n}.af": Answer(f"{n}.af", outcome, said[n]) for n, outcome in enumerate(outcomes)}


def cell(cells: tuple[Cell, ...], metric: str, facets: Facets = EVERYWHERE) -> Cell:
    (found,) = (one for one in cells if one.metric == metric and one.facets == facets)
    return found


def test_each_accepted_clip_is_asked_about_with_its_own_caption() -> None:
    asked = parts(FIRST, output(FIRST, 3))

    assert [part.prompt for part in asked] == [f"The person does {number}." for number in range(3)]
    assert [part.questions[0].id for part in asked] == ["0.af", "1.af", "2.af"]
    assert asked[0].questions[0].options == ("1", "0")


def test_fidelity_is_the_share_of_clips_and_an_unread_verdict_is_counted_not_scored() -> None:
    (fidelity, *_) = score(FIRST, output(FIRST, 4), answers("1", "0", None, "1"))

    assert fidelity.value == pytest.approx(2 / 3)
    assert fidelity.detail["n_invalid"] == 1
    assert fidelity.detail["af"] == [1, 0, None, 1]


def test_verdicts_that_cannot_be_read_at_all_are_no_score() -> None:
    (fidelity, *_) = score(FIRST, output(FIRST, 2), answers(None, None))

    assert (fidelity.outcome, fidelity.value) == (Outcome.JUDGE_UNPARSABLE, None)


def test_over_cases_every_clip_weighs_alike() -> None:
    found = [
        score(FIRST, output(FIRST, 4), answers("1", "1", "1", "1")),
        score(SECOND, output(SECOND, 1), answers("0")),
    ]

    table = tabulate([FIRST, SECOND], [one for every in found for one in every])

    assert cell(table, "afs").value == pytest.approx(0.8)
    assert cell(table, "afs").n_scored == 5
    assert cell(table, "afs", Facets("kitchen", ALL, ALL, ALL)).value == 1.0
    assert cell(table, "afs", Facets(ALL, "office_case05", ALL, ALL)).value == 0.0


def test_the_interval_draws_cases_again_and_keeps_their_clips_together() -> None:
    said = [("1", "1", "0") if number % 3 else ("0", "0") for number in range(len(CLOSED))]
    found = [
        score(s, output(s, len(given)), answers(*given))
        for s, given in zip(CLOSED, said, strict=True)
    ]

    fidelity = cell(
        columns.tabulate(SUITE, CLOSED, [one for every in found for one in every]), "afs"
    )

    assert fidelity.low is not None and fidelity.value is not None and fidelity.high is not None
    assert 0.3 < fidelity.low < fidelity.value < fidelity.high < 0.7


@pytest.mark.parametrize("said", [("0", "0", "0", "1"), ("0",), ("1",) * 6, ("0",) * 6])
def test_leaving_a_video_out_never_helps(said: tuple[str, ...]) -> None:
    assert len(said) <= most_clips(SECOND)
    with_it = [
        *score(FIRST, output(FIRST, 2), answers("1", "0")),
        *score(SECOND, output(SECOND, len(said)), answers(*said)),
    ]
    missing = score(SECOND, Output(SECOND.id, Outcome.OUTPUT_MISSING), {})

    whole = cell(tabulate([FIRST, SECOND], with_it), "afs").value
    less = cell(tabulate([FIRST, SECOND], [*with_it[: len(missing)], *missing]), "afs").value

    assert less is not None and whole is not None and less <= whole


def test_the_numbers_of_people_are_empty_and_say_why_until_there_is_a_study() -> None:
    table = tabulate([FIRST, SECOND], score(FIRST, output(FIRST, 1), answers("1")))

    for metric in ("tsr", "pps", "bws"):
        assert (cell(table, metric).value, cell(table, metric).why_empty) == (None, NO_STUDY)
        assert cell(table, metric).n_expected == 2


def test_how_the_loop_went_is_told_of_runs_of_ours_only() -> None:
    ours = output(
        FIRST, 2, tries=[1, 3, 3], accepted=[True, True, False], end="failed_after_retries",
        suspects=[{"kind": "object_permanence_or_hallucination", "step": 1, "sign": "gone: mug"}],
    )  # fmt: skip

    values = {one.metric: one.value for one in score(FIRST, ours, answers("1", "0"))}
    theirs = {one.metric: one.outcome for one in score(FIRST, output(FIRST, 2), answers("1", "0"))}

    assert values["attempts"] == pytest.approx(7 / 3)
    assert [values[name] for name in ("first_try", "second_try", "third_try", "gave_up")] == [
        1 / 3,
        0,
        1 / 3,
        1 / 3,
    ]
    assert (values["completed"], values["end_failed_after_retries"]) == (0, 1)
    assert (values["false_accept"], values["vanished"]) == (None, 1 / 3)
    assert theirs.pop("afs") is Outcome.SCORED and set(theirs.values()) == {Outcome.NOT_APPLICABLE}


@pytest.mark.parametrize(
    ("looks", "outcome", "value"),
    [
        ([True, False, None], Outcome.SCORED, 0.5),
        ([True, True, True], Outcome.SCORED, 0.0),
        ([None, None, None], Outcome.NOT_APPLICABLE, None),
        ([], Outcome.NOT_APPLICABLE, None),
    ],
)
def test_false_accepts_are_clips_that_a_dense_look_rejects_whatever_the_judge_says(
    looks: list[bool | None], outcome: Outcome, value: float | None
) -> None:
    clips: list[Any] = [
        {
            "sha256": f"{number:064}",
            "caption": "The person waves.",
            "dense": None if look is None else {"success": look, "reason": "seen"},
        }
        for number, look in enumerate(looks)
    ]
    loop: dict[str, Any] = {"tries": [1], "accepted": [True], "end": "completed", "suspects": []}
    ours = Output(FIRST.id, Outcome.SCORED, record={"clips": clips, **loop})

    for verdicts in (("0", "0", "0"), ("1", "1", "1")):
        (false_accept,) = (
            one for one in score(FIRST, ours, answers(*verdicts)) if one.metric == "false_accept"
        )

        assert (false_accept.outcome, false_accept.value) == (outcome, value)


def test_what_people_mark_as_gone_wrong_is_counted_by_kind() -> None:
    glitch = "temporal_information_loss"
    rows = [
        RatedVideo(FIRST.id, "r1", (), 5, 4, tags=(glitch,)),
        RatedVideo(FIRST.id, "r2", (), 5, 4),
        RatedVideo(FIRST.id, "r3", (), 5, None, unable=True, tags=(glitch,)),
    ]

    table = tabulate([FIRST], scores(rows))

    assert cell(table, f"tag_{glitch}").value == pytest.approx(0.5)
    assert cell(table, "tag_no_3d_awareness").value == 0.0


def test_a_case_that_made_no_video_still_tells_how_its_loop_went() -> None:
    told: dict[str, Any] = {
        "tries": [3],
        "accepted": [False],
        "end": "failed_after_retries",
        "suspects": [],
        "clips": [],
    }
    failed = Output(FIRST.id, Outcome.MODEL_FAILED, record=told)

    found = {one.metric: one for one in score(FIRST, failed, {})}

    assert found["afs"].outcome is Outcome.MODEL_FAILED
    assert found["gave_up"].value == 1.0


def test_every_kind_of_failure_has_a_side_and_is_counted() -> None:
    found = (
        Suspect("temporal_information_loss", 1, "accepted from a few frames, rejected from all"),
        Suspect("weak_instruction_following", 2, "3 of 3 rejected"),
    )

    assert distribution(found) == {
        "temporal_information_loss": 1, "no_3d_awareness": 0, "weak_instruction_following": 1,
        "object_permanence_or_hallucination": 0,
    }  # fmt: skip
    assert set(SIDES.values()) == {"vlm", "i2v"}


def test_ticks_and_ratings_become_scores_and_cells_with_raters_averaged_first() -> None:
    rows = [
        RatedVideo(FIRST.id, "r1", (0, 1), 5, 4),
        RatedVideo(FIRST.id, "r2", (0, 1, 2, 3), 5, 2),
        RatedVideo(SECOND.id, "r1", (), 3, 5),
        RatedVideo(SECOND.id, "r3", (), 3, None, unable=True),
    ]

    table = tabulate([FIRST, SECOND], scores(rows))

    assert cell(table, "tsr").value == pytest.approx((0.6 + 0.0) / 2)
    assert cell(table, "pps").value == pytest.approx((3 + 5) / 2)
    assert cell(table, "bws").why_empty == NO_STUDY
    assert cell(table, "subgoal_1").value == pytest.approx((1 + 0) / 2)
    assert (cell(table, "subgoal_5").value, cell(table, "subgoal_5").n_expected) == (0.0, 1), (
        "only one case has a fifth"
    )
    assert profile(rows) == {0: 2 / 3, 1: 2 / 3, 2: 1 / 3, 3: 0.5, 4: 0.0}


def test_a_video_nobody_rated_leaves_the_mean_and_a_missing_one_counts_as_worst() -> None:
    rated = scores([RatedVideo(FIRST.id, "r1", (0, 1, 2, 3, 4), 5, 5)])

    unrated = tabulate([FIRST, SECOND], [*rated, *score(SECOND, output(SECOND, 1), answers("1"))])
    missing = tabulate(
        [FIRST, SECOND], [*rated, *score(SECOND, Output(SECOND.id, Outcome.MODEL_FAILED), {})]
    )

    assert (
        cell(unrated, "tsr").value,
        cell(unrated, "tsr").n_scored,
        cell(unrated, "tsr").n_expected,
    ) == (1.0, 1, 2)
    assert (cell(missing, "tsr").value, cell(missing, "pps").value) == (0.5, 3.0)


def test_a_video_nobody_could_label_is_left_out_and_its_case_is_queued_for_repair() -> None:
    rows = [
        RatedVideo(FIRST.id, "r1", (), 5, None, unable=True),
        RatedVideo(FIRST.id, "r2", (0,), 5, 3),
    ]
    unable = [RatedVideo(SECOND.id, "r1", (), 3, None, unable=True)]

    assert {one.outcome for one in scores(unable)} == {Outcome.EXCLUDED}
    assert faulty([*rows, *unable], {s.id: s.cluster for s in samples()}) == (
        "kitchen_case01",
        "office_case05",
    )
    assert faulty([*rows, RatedVideo(FIRST.id, "r3", (), 5, 1)], {FIRST.id: FIRST.cluster}) == ()


def test_best_worst_counts_every_ballot_once_and_carries_an_interval() -> None:
    methods = ("a", "b", "c", "d")
    choices = [
        BestWorstChoice(f"case{n}", "r1", Ballot(methods, "a", "d" if n % 2 else "c"))
        for n in range(10)
    ]
    choices.append(BestWorstChoice("case0", "r2", Ballot(methods, "a", "a")))

    found = best_worst(methods, choices)

    assert [one.standing.score for one in found] == [100, 0, -50, -50]
    assert [one.standing.rank for one in found] == [1, 2, 3, 3]
    assert found[2].low is not None and found[2].low < -50 < (found[2].high or -100)
    assert best_worst(methods, choices) == found, "the same ballots give the same interval"


def test_the_suite_has_every_case_in_every_loop_and_a_subset_for_each() -> None:
    sizes = {
        name: sum(wanted(sample) for sample in samples()) for name, wanted in SUITE.subsets.items()
    }

    assert sizes == {
        "full": 140,
        "demo": 4,
        "closed_loop": 35,
        "no_reflect": 35,
        "open_loop": 35,
        "single_clip": 35,
    }
    assert {sample.cluster for sample in samples()} == {sample.facets.task for sample in samples()}


def test_scores_of_another_metric_do_not_disturb_fidelity() -> None:
    table = tabulate(
        [FIRST],
        [
            Score(FIRST.id, "afs", Outcome.SCORED, 1.0, {"af": [1]}),
            *scores([RatedVideo(FIRST.id, "r", (0,), 5, 3)]),
        ],
    )

    assert cell(table, "afs").value == 1.0
