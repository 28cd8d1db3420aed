"""What a suite may bring of its own, and that it is used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evaluators.aggregate.columns import tabulate
from evaluators.contracts import ALL, Cell, Facets, Outcome, Output, Score, Scoring
from evaluators.suites import suite_named
from flows.workers.outputs import store_generated
from infra.store import open_store

EVERYWHERE = Facets(ALL, ALL, ALL, ALL)


def test_a_suite_with_its_own_table_is_tabulated_by_it() -> None:
    own = (Cell("physical_realism", EVERYWHERE, 0.5, 1, 1),)
    suite = replace(
        suite_named("tailor"),
        scoring=Scoring(lambda *_: (), tabulate=lambda _samples, _scores: own),
    )

    assert tabulate(suite, [], []) == own


def test_a_suite_without_one_gets_means() -> None:
    suite = suite_named("tailor")
    sample = suite.samples()[0]
    scores = [Score(sample.id, suite.metrics[0].name, Outcome.SCORED, 0.5)]

    found = {
        cell.metric: cell.value
        for cell in tabulate(suite, [sample], scores)
        if cell.facets == EVERYWHERE
    }

    assert found[suite.metrics[0].name] == 0.5


def test_a_generated_answer_is_kept_as_a_file_and_as_a_value(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(" walks left \n", "utf-8")
    store = open_store(str(tmp_path / "store"))

    kept = store_generated(Output("one", Outcome.SCORED, tmp_path / "one.txt"), "text", store)

    assert kept.record["value"] == "walks left"
    assert kept.media_type == "text/plain"
    assert len(kept.media_sha256) == 64


def test_a_generated_answer_that_is_no_text_is_invalid_not_empty(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_bytes(b"\xff\xfe\x00")
    store = open_store(str(tmp_path / "store"))

    kept = store_generated(Output("one", Outcome.SCORED, tmp_path / "one.txt"), "text", store)

    assert kept.outcome is Outcome.OUTPUT_INVALID
    assert "UTF-8" in kept.reason
