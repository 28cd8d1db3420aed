"""The human study: graded and strict accuracy a setting, agreement, and correlations with supplied metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evaluators.contracts import ALL
from evaluators.suites.universe.study import (
    COLUMNS,
    BadTable,
    correlations,
    p_of,
    read_metrics,
    read_ratings,
    standings,
)

ROWS = [
    ("1", "r1", "action_recognition", "binary", "correct", "correct", ""),
    ("1", "r1", "action_recognition", "open_ended", "partially_correct", "partially_correct", ""),
    ("1", "r2", "action_recognition", "open_ended", "correct", "incorrect", "incorrect"),
    ("1", "r2", "character_recognition", "binary", "unclear", "correct", "unclear"),
    ("1", "r3", "action_recognition", "binary", "correct", "incorrect", ""),
    ("8", "r4", "action_recognition", "binary", "correct", "correct", ""),
]


def table(folder: Path, rows: Sequence[tuple[str, ...]]) -> Path:
    path = folder / "ratings.csv"
    path.write_text("\n".join(",".join(row) for row in [COLUMNS, *rows]))
    return path


def test_accuracies_count_answerable_answers_and_tell_what_is_pending(tmp_path: Path) -> None:
    found = {(one.setting, one.task, one.format): one for one in standings(read_ratings(table(tmp_path, ROWS)))}

    whole = found[("1", ALL, ALL)].accuracy
    assert whole.graded == 50
    assert whole.strict == pytest.approx(100 / 3)
    assert (whole.n_answerable, whole.n_unclear, whole.n_pending) == (3, 1, 1)
    assert found[("1", "character_recognition", "binary")].accuracy.graded is None
    assert found[("8", ALL, ALL)].accuracy.graded == 100
    assert found[("8", ALL, ALL)].kappa.value is None


def test_kappa_is_of_the_two_primaries_without_unclear_pairs(tmp_path: Path) -> None:
    found = {(one.setting, one.task): one.kappa for one in standings(read_ratings(table(tmp_path, ROWS)))}

    assert found[("1", ALL)].value == pytest.approx(2 / 11 * 1.0, abs=0.2)
    assert found[("1", ALL)].value == found[("1", "action_recognition")].value


def test_correlations_with_supplied_metrics_are_scipys(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    labels = ["correct", "partially_correct", "incorrect"]
    rows = [("2", f"r{i}", "action_recognition", "binary", label, label, "")
            for i, label in enumerate(rng.choice(labels, 30))]  # fmt: skip
    fvd = rng.normal(size=30)
    (tmp_path / "metrics.csv").write_text("rollout,fvd,flat\n" + "\n".join(f"r{i},{v},1" for i, v in enumerate(fvd)))
    worth = [{"correct": 1.0, "partially_correct": 0.5, "incorrect": 0.0}[row[4]] for row in rows]

    found = correlations(read_ratings(table(tmp_path, rows)), read_metrics(tmp_path / "metrics.csv"))

    wanted = stats.pearsonr(fvd, worth)
    assert found[0].r == pytest.approx(wanted.statistic)
    assert found[0].p == pytest.approx(wanted.pvalue, abs=1e-3)
    assert found[0].n == 30
    assert (found[1].metric, found[1].r, found[1].p) == ("flat", None, None)


@pytest.mark.parametrize(("r", "n"), [(0.1, 30), (-0.33, 28), (0.9, 5), (0.0, 10)])
def test_p_values_are_students(r: float, n: int) -> None:
    t = r * np.sqrt((n - 2) / (1 - r * r))

    assert p_of(r, n) == pytest.approx(2 * stats.t.sf(abs(t), n - 2), abs=1e-4)


def test_a_wrong_label_a_missing_column_and_a_word_for_a_number_are_named(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("rollout,fvd\nr1,low\n")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")

    with pytest.raises(BadTable, match="line 2: the label is 'good'"):
        read_ratings(table(tmp_path, [("1", "r", "t", "f", "good", "", "")]))
    with pytest.raises(BadTable, match="line 2: fvd is 'low'"):
        read_metrics(tmp_path / "metrics.csv")
    with pytest.raises(BadTable, match="no column setting"):
        read_ratings(tmp_path / "other.csv")
