"""From a judge's answers about clips, and a run's record, to L-IVA's numbers for a sample, and from
these to cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluators.aggregate.cells import cells
from evaluators.contracts import (
    ALL,
    FACETS,
    OUR_FAILURES,
    SUBMITTER_FAILURES,
    Answer,
    Cell,
    Json,
    Metric,
    Outcome,
    Output,
    Part,
    Sample,
    Score,
)
from evaluators.metrics.rates import afs
from evaluators.suites.liva.bank import ALIGNED, STEPS_A_SUBGOAL, most_clips
from evaluators.suites.liva.metrics import (
    BEST_WORST,
    BY_PEOPLE,
    BY_POSITION,
    FAILURE_TAGS,
    FIDELITY,
    LOOP,
)

NO_STUDY = "no human study yet"
AFS = FIDELITY
IN_LOOP = frozenset(metric.name for metric in LOOP)


def parts(_sample: Sample, output: Output) -> tuple[Part, ...]:
    """Each accepted clip is judged by itself, against the caption it was filmed from."""
    return tuple(
        Part(
            str(number),
            clip["sha256"],
            "video/mp4",
            clip["caption"],
            (replace(ALIGNED, id=f"{number}.af"),),
        )
        for number, clip in enumerate(_clips(output))
    )


def score(sample: Sample, output: Output, answers: Mapping[str, Answer]) -> tuple[Score, ...]:
    """Action fidelity over the accepted clips, and how the loop went where we ran it."""
    return (_fidelity(sample, output, answers), *_loop(sample, output))


def _fidelity(sample: Sample, output: Output, answers: Mapping[str, Answer]) -> Score:
    if output.outcome is not Outcome.SCORED:
        return Score(sample.id, AFS.name, output.outcome)
    verdicts = _verdicts(output, answers)
    alignment = afs(verdicts)
    if alignment.value is None:
        bad = (answer.outcome for answer in answers.values() if answer.outcome in OUR_FAILURES)
        return Score(sample.id, AFS.name, next(bad, Outcome.JUDGE_ERROR))
    detail: dict[str, Json] = {"af": list(verdicts), "n_invalid": alignment.n_invalid}
    return Score(sample.id, AFS.name, Outcome.SCORED, alignment.value, detail)


def _loop(sample: Sample, output: Output) -> Iterator[Score]:
    values = _loop_values(output) if "tries" in output.record else {}
    for metric in LOOP:
        value = values.get(metric.name)
        outcome = Outcome.NOT_APPLICABLE if value is None else Outcome.SCORED
        yield Score(sample.id, metric.name, outcome, value)


def _loop_values(output: Output) -> dict[str, float | None]:
    """Shares of a case's steps and clips; a case without a step has none."""
    record: Mapping[str, Any] = output.record
    tries, accepted_steps, end = record["tries"], record["accepted"], record["end"]
    settled = [count for count, accepted in zip(tries, accepted_steps, strict=True) if accepted]
    looks = [clip["dense"]["success"] for clip in record["clips"] if clip.get("dense")]
    vanished = {
        suspect["step"]
        for suspect in record["suspects"]
        if suspect["kind"] == "object_permanence_or_hallucination"
    }
    return {
        "completed": float(end == "completed"),
        "attempts": _share(sum(tries), len(tries)),
        "first_try": _share(settled.count(1), len(tries)),
        "second_try": _share(settled.count(2), len(tries)),
        "third_try": _share(sum(count >= 3 for count in settled), len(tries)),
        "gave_up": _share(len(tries) - len(settled), len(tries)),
        "end_failed_after_retries": float(end == "failed_after_retries"),
        "end_max_steps": float(end == "max_steps"),
        "end_generator_error": float(end == "generator_error"),
        "end_agent": float(end in ("vlm_unusable", "budget", "deadline")),
        "false_accept": _share(looks.count(False), len(looks)),
        "vanished": _share(len(vanished), len(tries)),
    }


def tabulate(samples: Sequence[Sample], scores: Sequence[Score]) -> tuple[Cell, ...]:
    """Means over samples for the loop and for people, over clips for fidelity, over ballots for
    best and worst.

    Without a study people's cells are empty; a study by itself has nothing to say of the loop and
    its clips.
    """
    fidelity = [score for score in scores if score.metric == AFS.name]
    by_clip = cells([AFS], *_by_clip(samples, fidelity), resamples=0) if fidelity else ()
    loop_scores = [score for score in scores if score.metric in IN_LOOP]
    loop = cells(LOOP, samples, loop_scores, resamples=0) if loop_scores else ()
    named = {score.metric for score in scores}
    by_raters = (*BY_PEOPLE, *BY_POSITION, *FAILURE_TAGS)
    rated = [metric for metric in by_raters if metric.name in named]
    means = [metric for metric in rated if metric is not BEST_WORST]
    people = cells(means, samples, _rated(samples, scores, means), resamples=0) if means else ()
    chosen = (
        cells([BEST_WORST], *_by_ballot(samples, scores), resamples=0)
        if BEST_WORST in rated
        else ()
    )
    unrated = [metric_by_people for metric_by_people in BY_PEOPLE if metric_by_people not in rated]
    places = by_clip or [cell for cell in people if cell.metric == means[0].name]
    return (*by_clip, *loop, *people, *chosen, *_empty(samples, places, unrated))


def _rated(
    samples: Sequence[Sample], scores: Sequence[Score], metrics: Sequence[Metric]
) -> list[Score]:
    """People's scores with those that nobody gave: worst where there is no video, otherwise unknown
    and counted."""
    score_by_key = {(score.sample_id, score.metric): score for score in scores}
    complete: list[Score] = []
    for sample in samples:
        video = score_by_key.get((sample.id, AFS.name))
        failed = (
            video.outcome if video and video.outcome in SUBMITTER_FAILURES else Outcome.JUDGE_ERROR
        )
        for metric in metrics:
            outcome = failed if _applies(metric, sample) else Outcome.NOT_APPLICABLE
            complete.append(
                score_by_key.get((sample.id, metric.name), Score(sample.id, metric.name, outcome))
            )
    return complete


def _applies(metric: Metric, sample: Sample) -> bool:
    """A case without a fifth subgoal has nothing to say about fifth subgoals."""
    return (
        metric not in BY_POSITION
        or BY_POSITION.index(metric) < most_clips(sample) // STEPS_A_SUBGOAL
    )


def _empty(
    samples: Sequence[Sample], places: Sequence[Cell], unrated: Sequence[Metric]
) -> Iterator[Cell]:
    """A cell of each metric at each place, that says why there is nothing in it."""
    for place in places:
        count = sum(_within(sample, place) for sample in samples)
        yield from (Cell(metric.name, place.facets, None, 0, count, NO_STUDY) for metric in unrated)


def _by_clip(
    samples: Sequence[Sample], scores: Sequence[Score]
) -> tuple[list[Sample], list[Score]]:
    """Every clip as a row of its own, so that each weighs alike and clips of a case stay together.

    A case without a video counts as the most clips it could have had, all wrong: leaving a video
    out never helps.
    """
    score_by_sample = {score.sample_id: score for score in scores}
    rows: list[Sample] = []
    worth: list[Score] = []
    for sample in samples:
        score = score_by_sample.get(sample.id, Score(sample.id, AFS.name, Outcome.OUTPUT_MISSING))
        for number, row_score in enumerate(_clip_scores(sample, score)):
            rows.append(replace(sample, id=f"{sample.id}#{number}"))
            worth.append(replace(row_score, sample_id=rows[-1].id, detail={}))
    return rows, worth


def _by_ballot(
    samples: Sequence[Sample], scores: Sequence[Score]
) -> tuple[list[Sample], list[Score]]:
    """Every ballot as a row of its own, so that each counts once and those of a case stay together.

    A video that is missing was shown to nobody; it counts as called the worst by as many as any
    other was shown to.
    """
    rated = _rated(samples, scores, [BEST_WORST])
    most_ballots = max((len(_ballots(score)) for score in rated), default=1)
    rows: list[Sample] = []
    worth: list[Score] = []
    for sample, score in zip(samples, rated, strict=True):
        leads = _ballots(score)
        several = [replace(score, value=100.0 * lead) for lead in leads] if leads else [score]
        for number, row_score in enumerate(
            several * most_ballots if score.outcome in SUBMITTER_FAILURES else several
        ):
            rows.append(replace(sample, id=f"{sample.id}#{number}"))
            worth.append(replace(row_score, sample_id=rows[-1].id, detail={}))
    return rows, worth


def _ballots(score: Score) -> list[int]:
    leads = score.detail.get("ballots", [])
    assert isinstance(leads, list)
    return [int(str(lead)) for lead in leads]


def _clip_scores(sample: Sample, score: Score) -> list[Score]:
    if score.outcome in SUBMITTER_FAILURES:
        return [score] * most_clips(sample)
    if score.outcome is not Outcome.SCORED:
        return [score]
    verdicts = score.detail["af"]
    assert isinstance(verdicts, list)
    unread = replace(score, outcome=Outcome.JUDGE_UNPARSABLE, value=None)
    return [unread if af is None else replace(score, value=float(str(af))) for af in verdicts]


def _verdicts(output: Output, answers: Mapping[str, Answer]) -> tuple[int | None, ...]:
    clip_answers = (answers.get(f"{number}.af") for number in range(len(_clips(output))))
    return tuple(
        int(answer.value) if answer and answer.value in ("0", "1") else None
        for answer in clip_answers
    )


def _clips(output: Output) -> Sequence[Mapping[str, str]]:
    record: Mapping[str, Any] = output.record
    return list(record.get("clips", ()))


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _within(sample: Sample, place: Cell) -> bool:
    pairs = ((getattr(place.facets, name), getattr(sample.facets, name)) for name in FACETS)
    return all(cell_value in (ALL, sample_value) for cell_value, sample_value in pairs)
