"""Automatic judges against the people of a study: per metric, over everything and in each of its
cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from sqlmodel import Session, col, select

from evaluators.contracts import Facets
from evaluators.metrics.ranking import pearson, spearman
from evaluators.suites import suite_named
from flows.studies.people import People
from infra import tables

EVERYWHERE = "everything"
PLACES = ("scenario", "setting", "modality")
Pairs = list[tuple[float, float]]
Agree = Callable[[Sequence[tuple[float, float]]], Mapping[str, float | None]]
SampleValues = dict[tuple[str, str, str], float]
"""People's value by submission, sample and metric."""


def judges_and_people(db: Session, entries: Sequence[People]) -> dict[str, Any]:
    """For each automatic judge, by fingerprint, and each metric of people's how the two go
    together, place by place."""
    if not entries:
        return {}
    suite = suite_named(entries[0].submission.suite)
    assert suite.rating is not None
    beside = suite.rating.beside
    places = {sample.id: sample.facets for entry in entries for sample in entry.samples}
    people_values: SampleValues = {
        (entry.submission.id, score.sample_id, score.metric): score.value
        for entry in entries
        for score in entry.scores
        if score.value is not None
    }
    metrics = dict.fromkeys(metric for _, _, metric in people_values)
    machine = _machines(
        db, [entry.submission.id for entry in entries], {beside.get(name, name) for name in metrics}
    )
    return {
        judge: {
            metric: _places(
                _pairs(people_values, theirs, metric, beside.get(metric, metric)),
                places,
                suite.rating.agree,
            )
            for metric in metrics
            if any(name == beside.get(metric, metric) for _, _, name in theirs)
        }
        for judge, theirs in machine.items()
    }


def _machines(
    db: Session, submissions: Sequence[str], metrics: set[str]
) -> dict[str, SampleValues]:
    score, run = tables.Score, tables.Run
    query = (
        select(run.judge, run.submission_id, score.sample_id, score.metric, score.value)  # type: ignore[call-overload]
        .join(run, col(run.id) == col(score.run_id))
        .join(tables.Judge, col(tables.Judge.fingerprint) == col(run.judge))
        .where(tables.Judge.kind == "auto", run.state == "published", col(score.value).is_not(None))
        .where(col(run.submission_id).in_(submissions), col(score.metric).in_(metrics))
    )
    values_by_judge: dict[str, SampleValues] = {}
    for judge, submission, sample, metric, value in db.execute(query):
        values_by_judge.setdefault(judge, {})[submission, sample, metric] = value
    return values_by_judge


def _pairs(
    people: SampleValues, machine: SampleValues, metric: str, judge_metric: str
) -> dict[tuple[str, str], tuple[float, float]]:
    """The judge's value and people's, by submission and sample."""
    return {
        (submission, sample): (machine[submission, sample, judge_metric], value)
        for (submission, sample, name), value in people.items()
        if name == metric and (submission, sample, judge_metric) in machine
    }


def _places(
    pairs: Mapping[tuple[str, str], tuple[float, float]],
    facets: Mapping[str, Facets],
    agree: Agree | None,
) -> dict[str, Any]:
    """Single samples over everything and at each place, and the means of cells against each
    other."""
    by_place: dict[str, Pairs] = {EVERYWHERE: list(pairs.values())}
    cells: dict[tuple[str, ...], Pairs] = {}
    for (submission, sample), pair in pairs.items():
        for place in _named(facets[sample]):
            by_place.setdefault(place, []).append(pair)
        cells.setdefault((submission, *_named(facets[sample])), []).append(pair)
    means = [
        (fmean(judged for judged, _ in place_pairs), fmean(two for _, two in place_pairs))
        for place_pairs in cells.values()
    ]
    across = {
        "cells": len(means),
        "pearson_of_cells": pearson(*zip(*means, strict=True)) if len(means) > 2 else None,
    }
    return {
        place: {
            **judge_and_people(place_pairs),
            **(agree(place_pairs) if agree else {}),
            **(across if place == EVERYWHERE else {}),
        }
        for place, place_pairs in by_place.items()
    }


def _named(facets: Facets) -> Iterator[str]:
    return (f"{name} {getattr(facets, name)}" for name in PLACES)


def judge_and_people(pairs: Sequence[tuple[float, float]]) -> dict[str, float | None]:
    """How a judge's scores of single samples go with people's: rank correlation, and how much
    higher it is."""
    if len(pairs) < 3:
        return {"spearman": None, "difference": None, "n": float(len(pairs))}
    first, second = [judged for judged, _ in pairs], [two for _, two in pairs]
    return {
        "spearman": spearman(first, second),
        "difference": fmean(first) - fmean(second),
        "n": float(len(pairs)),
    }
