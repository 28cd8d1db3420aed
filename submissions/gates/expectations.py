"""The gate between stages: what a table of rows must be before anything is built on it (Great
Expectations).

The library takes seconds to import, so it is imported where a gate runs and nowhere else.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

Row = Mapping[str, Any]
Severity = Literal["critical", "warning"]
KEY = "key"
EXPECTED = "expected"
MOST_KEYS = 200
WORDS = {
    "expect_table_row_count_to_equal": "one row for each that is expected",
    "expect_column_values_to_be_unique": "each only once",
    "expect_column_values_to_not_be_null": "a value everywhere",
    "expect_column_values_to_be_null": "no value here",
    "expect_column_values_to_match_regex": "the right form",
    "expect_column_values_to_be_in_set": "one of the known values",
    "expect_column_values_to_be_between": "values in range",
    "expect_column_mean_to_be_between": "a small share",
    "expect_column_proportion_of_unique_values_to_be_between": "few repeats",
}


@dataclass(frozen=True, slots=True)
class BrokenExpectation:
    """One expectation that does not hold, in words, and the rows that break it, if it is about
    single rows."""

    table: str
    expectation: str
    column: str
    found: str
    severity: Severity
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectedRows:
    """Some rows, each with a `key`, and what is expected of them."""

    name: str
    rows: Sequence[Row]
    expectations: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Gate:
    """The rows that must be there, exactly, and the tables in which they are looked at."""

    name: str
    expected: Sequence[str]
    rows: Sequence[Row]
    tables: Sequence[ExpectedRows] = ()


def findings(gate: Gate) -> list[BrokenExpectation]:
    """What is wrong: the number of rows and their keys first; only when these are right, all the
    rest."""
    if not gate.rows or not gate.expected:
        message = f"{len(gate.rows)} rows where {len(gate.expected)} were expected"
        return [BrokenExpectation(gate.name, "rows at all", KEY, message, "critical")]
    if not _as_expected(gate):
        return [_counted(broken, gate) for broken in _validate(_keys(gate))]
    return [finding for table in gate.tables if table.rows for finding in _validate(table)]


def write_docs(gates: Sequence[Gate], folder: Path) -> Path:
    """Great Expectations' own pages about the same gates, for whoever wants all the detail; returns
    the index."""
    gx, context = _library(), _fresh_context()
    place = {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder.resolve())}
    site = {
        "class_name": "SiteBuilder",
        "store_backend": place,
        "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
    }
    for name in list(context.get_site_names()):
        context.delete_data_docs_site(name)
    context.add_data_docs_site(site_name="gates", site_config=site)
    source = context.data_sources.add_pandas("gates")
    for gate in gates:
        for table in (_keys(gate), *gate.tables):
            if table.rows:
                _checkpoint(gx, context, source, f"{gate.name}-{table.name}", table)
    context.build_data_docs()
    return folder / "index.html"


def _as_expected(gate: Gate) -> bool:
    """As many as expected, each once and each expected: what `_keys` asks, too, and then says what
    is wrong."""
    keys = {row[KEY] for row in gate.rows}
    return len(gate.rows) == len(gate.expected) == len(keys) and keys <= set(gate.expected)


def _keys(gate: Gate) -> ExpectedRows:
    """As many as expected, each once and each expected: just those. (A set of thousands costs the
    library seconds.)"""
    import great_expectations.expectations as gxe

    expected_keys = frozenset(gate.expected)
    return ExpectedRows(
        "keys",
        [{KEY: row[KEY], EXPECTED: row[KEY] in expected_keys} for row in gate.rows],
        [
            gxe.ExpectTableRowCountToEqual(value=len(gate.expected)),
            gxe.ExpectColumnValuesToBeUnique(column=KEY),
            gxe.ExpectColumnValuesToBeInSet(column=EXPECTED, value_set=[True]),
        ],
    )


def _counted(finding: BrokenExpectation, gate: Gate) -> BrokenExpectation:
    """Say which keys are missing or too many instead of showing all of them."""
    present, expected_keys = {str(row[KEY]) for row in gate.rows}, set(gate.expected)
    missing, extra = sorted(expected_keys - present), sorted(present - expected_keys)
    parts = [
        f"{len(group)} {word}, first {group[0]}"
        for group, word in ((missing, "missing"), (extra, "too many"))
        if group
    ]
    parts = [f"{len(gate.rows)} rows where {len(expected_keys)} were expected", *parts]
    return BrokenExpectation(
        gate.name, finding.expectation, finding.column, "; ".join(parts), "critical", finding.keys
    )


def _validate(table: ExpectedRows) -> list[BrokenExpectation]:
    """Yes or no first; a table in which something does not hold is looked at again, row by row."""
    import pandas as pd

    batch = _rows().get_batch({"dataframe": pd.DataFrame(table.rows)})
    if not _broken(batch, table.expectations, {"result_format": "BOOLEAN_ONLY"}):
        return []
    output_format = {
        "result_format": "COMPLETE",
        "unexpected_index_column_names": [KEY],
        "return_unexpected_index_query": False,
    }
    return [
        _finding(table.name, result) for result in _broken(batch, table.expectations, output_format)
    ]


def _broken(batch: Any, expectations: Sequence[Any], output_format: Mapping[str, Any]) -> list[Any]:
    suite = _library().ExpectationSuite(name="gate", expectations=list(expectations))
    return [
        result
        for result in batch.validate(suite, result_format=output_format).results
        if not result.success
    ]


def _finding(table: str, result: Any) -> BrokenExpectation:
    config, details = result.expectation_config, result.result
    keys = tuple(str(row[KEY]) for row in details.get("unexpected_index_list") or ())
    sample_values = details.get("partial_unexpected_list") or details.get("observed_value")
    words = WORDS.get(config.type, config.type.removeprefix("expect_").replace("_", " "))
    observed = (
        str(sample_values)[:200]
        if sample_values is not None
        else f"could not be checked: {str(result.exception_info)[:200]}"
    )
    severity: Severity = "warning" if "warning" in str(config.severity).lower() else "critical"
    return BrokenExpectation(
        table, words, config.kwargs.get("column", ""), observed, severity, keys[:MOST_KEYS]
    )


def _checkpoint(gx: Any, context: Any, source: Any, name: str, table: ExpectedRows) -> None:
    import pandas as pd

    batch = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("all")
    suite = context.suites.add(
        gx.ExpectationSuite(name=name, expectations=list(table.expectations))
    )
    definition = gx.ValidationDefinition(name=name, data=batch, suite=suite)
    context.validation_definitions.add(definition).run(
        batch_parameters={"dataframe": pd.DataFrame(table.rows)}
    )


@lru_cache(maxsize=1)
def _context() -> Any:
    """One for the process: making it takes longer than a gate."""
    return _fresh_context()


@lru_cache(maxsize=1)
def _rows() -> Any:
    """Where every table is put in: a source of its own for each would be written down each time."""
    return (
        _context()
        .data_sources.add_pandas("gate")
        .add_dataframe_asset("rows")
        .add_batch_definition_whole_dataframe("all")
    )


def _fresh_context() -> Any:
    context = _library().get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    return context


def _library() -> Any:
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx

    # This one module sets its own level to INFO when it is imported.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    return gx
