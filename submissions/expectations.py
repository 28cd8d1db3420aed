"""The gate between stages: what a table of rows must be before anything is built on it (Great Expectations)."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SHA256 = r"^[0-9a-f]{64}$"
MEDIA_OUTCOME = "scored"


@dataclass(frozen=True, slots=True)
class Finding:
    """One expectation that does not hold, in words."""

    expectation: str
    column: str
    found: str


def check_outputs(rows: Sequence[Mapping[str, Any]], expected: Sequence[str], outcomes: Sequence[str]) -> list[Finding]:
    """Every expected sample has just one row; every row that has media has sound facts about it."""
    if len(rows) != len(expected):
        return [Finding("row count", "sample_id", f"{len(rows)} rows where {len(expected)} were expected")]
    import great_expectations.expectations as gxe

    media = [row for row in rows if row["outcome"] == MEDIA_OUTCOME]
    keys = [
        gxe.ExpectColumnValuesToBeUnique(column="sample_id"),
        gxe.ExpectColumnDistinctValuesToEqualSet(column="sample_id", value_set=list(expected)),
        gxe.ExpectColumnValuesToBeInSet(column="outcome", value_set=list(outcomes)),
    ]
    facts = [
        gxe.ExpectColumnValuesToNotBeNull(column="media_sha256"),
        gxe.ExpectColumnValuesToMatchRegex(column="media_sha256", regex=SHA256),
        *(
            gxe.ExpectColumnValuesToBeBetween(column=column, min_value=1)
            for column in ("size", "width", "height", "frames")
        ),
    ]
    return _validate(rows, keys) + (_validate(media, facts) if media else [])


def _validate(rows: Sequence[Mapping[str, Any]], expectations: Sequence[Any]) -> list[Finding]:
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    import pandas as pd

    # This one module sets its own level to INFO when it is imported.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("rows").add_dataframe_asset("rows")
    batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": pd.DataFrame(rows)})
    result = batch.validate(gx.ExpectationSuite(name="gate", expectations=list(expectations)))
    return [_finding(one) for one in result.results if not one.success]


def _finding(result: Any) -> Finding:
    config = result.expectation_config
    shown = result.result.get("partial_unexpected_list") or result.result.get("observed_value") or result.exception_info
    return Finding(config.type, config.kwargs.get("column", ""), str(shown)[:200])
