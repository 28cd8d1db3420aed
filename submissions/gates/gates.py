"""The three gates: after intake (one row a file), after generation (an output), before publication
(a score)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from submissions.gates.expectations import KEY, ExpectedRows, Gate, Row

SHA256 = r"^[0-9a-f]{64}$"
SCORED = "scored"
COUNTS = ("size", "width", "height", "frames")
LEAST_SIDE, MOST_SIDE = 16, 16_384
MOST_SECONDS = 600
MOST_REPEATED = MOST_STATIC = 0.05
MOST_WARNED = 0.2


@dataclass(frozen=True, slots=True)
class Range:
    """Between which values a metric's scores lie."""

    metric: str
    low: float
    high: float


def after_intake(rows: Sequence[Row], expected: Sequence[str]) -> Gate:
    """One row a file, keyed by its path: `sha256`, and for outputs what was found in it."""
    import great_expectations.expectations as gxe

    sound = [
        gxe.ExpectColumnValuesToNotBeNull(column="sha256"),
        gxe.ExpectColumnValuesToMatchRegex(column="sha256", regex=SHA256),
    ]
    media = [row for row in rows if row.get("width") is not None]
    return Gate(
        "intake",
        expected,
        rows,
        [ExpectedRows("files", rows, sound), *_media_tables(media, "sha256")],
    )


def after_generation(rows: Sequence[Row], expected: Sequence[str], outcomes: Sequence[str]) -> Gate:
    """One row an output, keyed by its sample; those that can be scored have sound media."""
    import great_expectations.expectations as gxe

    known_outcomes = [gxe.ExpectColumnValuesToBeInSet(column="outcome", value_set=list(outcomes))]
    media = [row for row in rows if row["outcome"] == SCORED]
    facts = [
        gxe.ExpectColumnValuesToNotBeNull(column="media_sha256"),
        gxe.ExpectColumnValuesToMatchRegex(column="media_sha256", regex=SHA256),
        *(gxe.ExpectColumnValuesToBeBetween(column=name, min_value=1) for name in COUNTS),
    ]  # fmt: skip
    tables = [
        ExpectedRows("outputs", rows, known_outcomes),
        ExpectedRows("media", media, facts),
        *_media_tables(media, "media_sha256"),
    ]
    return Gate("generation", expected, rows, tables)


def before_publication(
    rows: Sequence[Row], expected: Sequence[str], outcomes: Sequence[str], ranges: Sequence[Range]
) -> Gate:
    """One row a score, keyed by sample and metric: a value in range just where something was
    scored."""
    import great_expectations.expectations as gxe

    known_outcomes = [gxe.ExpectColumnValuesToBeInSet(column="outcome", value_set=list(outcomes))]
    tables = [ExpectedRows("scores", rows, known_outcomes)]
    for (low, high), scored_rows in _by_range(rows, ranges).items():
        limits = [
            gxe.ExpectColumnValuesToNotBeNull(column="value"),
            gxe.ExpectColumnValuesToBeBetween(column="value", min_value=low, max_value=high),
        ]
        tables.append(ExpectedRows(f"values from {low:g} to {high:g}", scored_rows, limits))
    return Gate("publication", expected, rows, tables)


def _by_range(
    rows: Sequence[Row], ranges: Sequence[Range]
) -> Mapping[tuple[float, float], list[Row]]:
    """What was scored, metrics of one range together: a look at a table costs more than its
    rows."""
    limits = {metric.metric: (metric.low, metric.high) for metric in ranges}
    rows_by_range: Mapping[tuple[float, float], list[Row]] = defaultdict(list)
    for row in rows:
        if row["outcome"] == SCORED and row["metric"] in limits:
            rows_by_range[limits[row["metric"]]].append(row)
    return rows_by_range


def _media_tables(rows: Sequence[Row], sha256: str) -> list[ExpectedRows]:
    """What is asked of pictures and clips; shares that are too high are worth a word and stop
    nothing."""
    import great_expectations.expectations as gxe

    visual = [row for row in rows if str(row["media_type"]).startswith(("image/", "video/"))]
    clips = [row for row in visual if str(row["media_type"]).startswith("video/")]
    size = [
        gxe.ExpectColumnValuesToBeBetween(column=side, min_value=LEAST_SIDE, max_value=MOST_SIDE)
        for side in ("width", "height")
    ]
    return [
        ExpectedRows("pictures", visual, [*size, *_shares(gxe, sha256)]),
        ExpectedRows(
            "clips",
            clips,
            [
                gxe.ExpectColumnValuesToBeBetween(column="frames", min_value=2, max_value=2_000),
                gxe.ExpectColumnValuesToBeBetween(
                    column="duration", min_value=0, max_value=MOST_SECONDS, strict_min=True
                ),
            ],
        ),
    ]


def _shares(gxe: Any, sha256: str) -> list[Any]:
    return [
        gxe.ExpectColumnProportionOfUniqueValuesToBeBetween(
            column=sha256, min_value=1 - MOST_REPEATED, severity="warning"
        ),
        gxe.ExpectColumnMeanToBeBetween(column="static", max_value=MOST_STATIC, severity="warning"),
        gxe.ExpectColumnMeanToBeBetween(column="black", max_value=MOST_STATIC, severity="warning"),
        gxe.ExpectColumnMeanToBeBetween(column="warned", max_value=MOST_WARNED, severity="warning"),
    ]


def media_row(key: str, facts: Mapping[str, Any], warned: bool) -> dict[str, Any]:
    """A file's facts as columns; `black` is the share of its frames that are black."""
    frames, fps = facts.get("frames"), facts.get("fps")
    return {
        KEY: key,
        **{name: facts.get(name) for name in ("media_type", "width", "height", "frames")},
        "duration": frames / fps if frames and fps else None,
        "static": float(bool(facts.get("static"))),
        "black": (facts.get("black") or 0) / (frames or 1),
        "warned": float(warned),
    }
