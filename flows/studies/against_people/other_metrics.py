"""Other metrics of the rated outputs held against people's marks: entry by entry, output by output,
and beside what a paper printed of the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from evaluators.contracts import OtherMetric, Outcome, Output, Published, Sample
from evaluators.statistics.correlation import (
    Correlation,
    of_groups,
    of_points,
    without_means,
)
from evaluators.suites import suite_named
from flows.studies.people import People

NOT_TOLD = "no output tells it"
SEVERAL = "outputs were read with several weights, which cannot be compared"


@dataclass(frozen=True, slots=True)
class RatedClip:
    """One output that people rated: whose, of which sample, and people's marks by metric."""

    entry: str
    sample: Sample
    output: Output
    marks: Mapping[str, float]


Correlate = Callable[[OtherMetric, str], Correlation]


def others_and_people(entries: Sequence[People], seed: int = 0) -> dict[str, Any]:
    """Each metric's correlation with each of people's marks.

    `entries` are means over the outputs that people rated, and correlations over them rest on as
    many points as there are entries. `outputs` are single ones, `within` the same less the means of
    their entry, `places` the latter scenario by scenario; intervals by drawing starts again, with
    everybody's outputs. Empty for a suite that names no such metrics.
    """
    suite = suite_named(entries[0].submission.suite) if entries else None
    others = suite.rating.others if suite and suite.rating else None
    if others is None:
        return {}
    rated = [clip for entry in entries for clip in _rated(entry)]
    marks = list(dict.fromkeys(name for clip in rated for name in clip.marks))
    scenarios = sorted({clip.sample.facets.scenario for clip in rated})
    table = {entry.submission.id: _row(entry, rated, marks, others.metrics) for entry in entries}
    absent = {metric.name: _why_absent(metric, rated) for metric in others.metrics}
    known = [metric for metric in others.metrics if not absent[metric.name]]

    def over(clips: Sequence[RatedClip], *, within: bool) -> Any:
        return _each(known, marks, lambda m, name: _of_clips(m, name, clips, seed, within=within))

    return {
        "metrics": {
            metric.name: {
                "title": metric.title,
                "direction": metric.direction,
                "absent": absent[metric.name],
            }
            for metric in others.metrics
        },
        "table": table,
        "entries": _each(known, marks, lambda m, name: _of_entries(m, name, table)),
        "outputs": over(rated, within=False),
        "within": over(rated, within=True),
        "places": {
            scenario: over([c for c in rated if c.sample.facets.scenario == scenario], within=True)
            for scenario in scenarios
        },
        "printed": [_printed(figure) for figure in others.printed()],
    }


def _rated(entry: People) -> Iterator[RatedClip]:
    """The outputs that people gave a mark; one that failed was shown to nobody."""
    marks: dict[str, dict[str, float]] = {}
    for score in entry.scores:
        if score.value is not None and score.outcome is Outcome.SCORED:
            marks.setdefault(score.sample_id, {})[score.metric] = score.value
    for sample in entry.samples:
        if sample.id in marks:
            name = entry.submission.id
            yield RatedClip(name, sample, entry.outputs[sample.id], marks[sample.id])


def _row(
    entry: People, rated: Sequence[RatedClip], marks: Sequence[str], metrics: Sequence[OtherMetric]
) -> dict[str, Any]:
    """An entry's means over what was rated of it."""
    mine = [clip for clip in rated if clip.entry == entry.submission.id]
    outputs = [clip.output for clip in mine]
    return {
        "model": entry.submission.model,
        "n": len(mine),
        **{name: _mean([c.marks[name] for c in mine if name in c.marks]) for name in marks},
        **{metric.name: _together(metric, outputs) for metric in metrics},
    }


def _together(metric: OtherMetric, outputs: Sequence[Output]) -> float | None:
    if not outputs:
        return None
    if metric.together is not None:
        return metric.together(outputs)
    values = [metric.single(output) for output in outputs]
    return None if None in values else _mean([value for value in values if value is not None])


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _why_absent(metric: OtherMetric, rated: Sequence[RatedClip]) -> str:
    told = [clip.output for clip in rated if metric.single(clip.output) is not None]
    if not told:
        return metric.absent or NOT_TOLD
    weights = {metric.weights(output) for output in told} if metric.weights else {""}
    return SEVERAL if len(weights) > 1 else ""


def _each(
    metrics: Sequence[OtherMetric], marks: Sequence[str], correlate: Correlate
) -> dict[str, dict[str, Any]]:
    return {
        metric.name: {name: asdict(correlate(metric, name)) for name in marks} for metric in metrics
    }


def _of_entries(
    metric: OtherMetric, mark: str, table: Mapping[str, Mapping[str, Any]]
) -> Correlation:
    """A point an entry."""
    points = [(row[metric.name], row[mark]) for row in table.values()]
    whole = [point for point in points if None not in point]
    return of_points([value for value, _ in whole], [said for _, said in whole])


def _of_clips(
    metric: OtherMetric, mark: str, clips: Sequence[RatedClip], seed: int, *, within: bool
) -> Correlation:
    """A point an output; those of one start are drawn together."""
    points = [
        (value, clip.marks[mark], clip)
        for clip in clips
        if mark in clip.marks and (value := metric.single(clip.output)) is not None
    ]
    values, said = [point[0] for point in points], [point[1] for point in points]
    owners = [clip.entry for _, _, clip in points]
    if within:
        values, said = without_means(values, owners), without_means(said, owners)
    return of_groups(values, said, [clip.sample.id for _, _, clip in points], seed)


def _printed(figure: Published) -> dict[str, Any]:
    return {
        "model": figure.model,
        "place": figure.facets.scenario,
        "task": figure.facets.task,
        "metric": figure.metric,
        "value": figure.value,
        "source": figure.source,
        "note": figure.note,
    }
