"""What a study found about other metrics beside people's marks, as rows of a page and of the
command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlmodel import Session

from infra.tables.study import Study
from leaderboard.draw.words import plain
from leaderboard.studies.states import StudyError

Found = Mapping[str, Any]
OVER = {
    "entries": "means of entries",
    "outputs": "outputs",
    "within": "outputs, less their entry's mean",
}
SIDES = ("pearson", "spearman")
OTHER_DATA = "Other data than ours: the paper's own rollouts"


def others_of(db: Session, study_id: str) -> Found:
    """What a published study found; StudyError says what is missing."""
    study = db.get(Study, study_id)
    if study is None or study.state != "published":
        raise StudyError(
            f"{study_id} is {study.state if study else 'not there'}: publish it, then hold other "
            "metrics against it."
        )
    found: Found = study.result.get("others") or {}
    if not found:
        raise StudyError(
            f"{study_id} is of {study.suite}, for which no other metrics are named. Studies of "
            "universe_worlds have them."
        )
    return found


def rows(others: Found) -> list[dict[str, Any]]:
    """A row a metric and mark, over entries, outputs, and outputs within their entry.

    >>> none = {"value": None, "low": None, "high": None}
    >>> each = {"psnr": {"strict_accuracy": {"pearson": none, "spearman": none, "n": 2,
    ...     "absent": "too few"}}}
    >>> told = {"psnr": {"title": "PSNR", "direction": "higher", "absent": ""}}
    >>> found = rows({"metrics": told, "entries": each, "outputs": {}, "within": {}})
    >>> [(row["Metric"], row["Over"], row["Pearson"], row["Points"]) for row in found]
    [('PSNR', 'means of entries', None, 2)]
    """
    return [
        {"Metric": title, "Mark": plain(mark), "Over": over, **_figures(correlation)}
        for name, title in _titles(others)
        for key, over in OVER.items()
        for mark, correlation in others[key].get(name, {}).items()
    ]


def place_rows(others: Found) -> list[dict[str, Any]]:
    """The same scenario by scenario, over outputs within their entry."""
    return [
        {"Where": plain(place), "Metric": title, "Mark": plain(mark), **_figures(correlation)}
        for place, metrics in others["places"].items()
        for name, title in _titles(others)
        for mark, correlation in metrics.get(name, {}).items()
    ]


def entry_rows(others: Found) -> list[dict[str, Any]]:
    """What both sides of the correlations over entries are."""
    titles = {name: metric["title"] for name, metric in others["metrics"].items()}
    return [
        {
            "Entry": row["model"],
            "Outputs": row["n"],
            **{
                titles.get(key, plain(key)): value
                for key, value in row.items()
                if key not in ("model", "n")
            },
        }
        for row in others["table"].values()
    ]


def printed_rows(others: Found) -> list[dict[str, Any]]:
    """A paper's figures of the same, said to be about its own data."""
    return [
        {
            "Of": f"{row['model']}. {OTHER_DATA}",
            "Where": plain(row["place"]),
            "Task": plain(row["task"]),
            "What": plain(row["metric"]),
            "Value": row["value"],
            "Source": row["source"],
            "Note": row["note"],
        }
        for row in others["printed"]
    ]


def absences(others: Found) -> list[str]:
    """Which metrics are not there, and why.

    >>> absences({"metrics": {"fvd": {"title": "FVD", "absent": "needs weights"}}})
    ['FVD: needs weights.']
    """
    return [
        f"{metric['title']}: {metric['absent']}."
        for metric in others["metrics"].values()
        if metric["absent"]
    ]


def _titles(others: Found) -> Iterator[tuple[str, str]]:
    """The metrics that are there; one of which less is better says so."""
    for name, metric in others["metrics"].items():
        if not metric["absent"]:
            lower = " (lower is better)" if metric["direction"] == "lower" else ""
            yield name, f"{metric['title']}{lower}"


def _figures(correlation: Found) -> dict[str, Any]:
    sides = {
        f"{plain(side)}{suffix}": correlation[side][key]
        for side in SIDES
        for suffix, key in (("", "value"), (" from", "low"), (" to", "high"))
    }
    return {**sides, "Points": correlation["n"], "Why none": correlation["absent"]}
