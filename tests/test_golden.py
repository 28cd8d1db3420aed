"""Every golden case holds, ours and those in the folder that GOLDEN_DIR names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pandas as pd
import pytest

from evaluators.aggregate.columns import tabulate
from evaluators.contracts import ALL, Cell, Facets, Outcome, Sample, Score
from evaluators.metrics.image import Frames, psnr
from evaluators.metrics.outcomes import MatchedOutcome, ObjectOutcome, reproduction
from evaluators.metrics.ranking import Ballot, bws, mmrv, pearson
from evaluators.metrics.rates import PlausibilityRating, SubgoalJudgment, afs, pps, tsr
from evaluators.metrics.rubric import PartAnswers, score_rubric
from evaluators.metrics.sampling import allocate, choose_frames
from evaluators.metrics.text import exact_match, rouge
from evaluators.metrics.uncertainty import ActionChunk, terminate
from evaluators.metrics.voting import Ticket, majority_vote
from evaluators.statistics.agreement import krippendorff_alpha, pairwise_spearman
from evaluators.statistics.grading import GradedItem, accuracy, primary_agreement
from evaluators.suites.tailor import SUITE as TAILOR
from flows.studies.people import mean_of_raters
from leaderboard.draw.suite_charts import tailor_tables as tables

Fields = Mapping[str, Any]
Adapter = Callable[[Fields], Fields]

OURS = Path(__file__).parent / "golden"
TAILOR_ADDRESS = ("setting", "modality", "model", "scenario", "evaluator", "metric")
TAILOR_METRICS = (
    "instruction_adherence",
    "interaction_accuracy",
    "physical_realism",
    "perceptual_quality",
)


@dataclass(frozen=True, slots=True)
class Golden:
    """One case of one golden file."""

    file: Path
    metric: str
    id: str
    tolerance: float
    input: Fields
    expected: Fields


def run_afs(given: Fields) -> Fields:
    result = afs(given["af"])
    return {"afs": result.value, "n_scored": result.n_scored, "n_invalid": result.n_invalid}


def run_bws(given: Fields) -> Fields:
    ballots = [
        Ballot(tuple(v["shown"]), v.get("best"), v.get("worst"), _unable(v)) for v in given["votes"]
    ]
    result = bws(given["methods"], ballots)
    return {
        "scores": {standing.method: standing.score for standing in result.standings},
        "rank": {standing.method: standing.rank for standing in result.standings},
        "n_valid": result.n_valid,
        "n_invalid": result.n_invalid,
    }


def run_cohen_kappa(given: Fields) -> Fields:
    items = [GradedItem(a, b) for a, b in zip(given["rater_a"], given["rater_b"], strict=True)]
    result = primary_agreement(items)
    return {
        "kappa": result.value,
        "kappa_quadratic": result.quadratic,
        "n_valid": result.n_valid,
        "raw_agreement": result.raw_agreement,
    }


def run_em_rouge(given: Fields) -> Fields:
    match = exact_match(given["prediction"], given["reference"])
    score = rouge(given["prediction"], given["reference"], given["format"])
    return {
        "em_strict": int(match.strict),
        "em_normalised": int(match.normalised),
        "nominal_order": score.nominal_order,
        "effective_order": score.effective_order,
        "rouge_f1": score.f1,
        "rouge_precision": score.precision,
        "rouge_recall": score.recall,
        "rouge_strict_order_f1": score.strict_order_f1,
        "rouge1_f1": score.rouge1_f1,
        "rougeL_f1": score.rouge_l_f1,
    }


def run_frame_sampling(given: Fields) -> Fields:
    return {"indices": list(choose_frames(given["length"], given["n"], given["policy"]))}


def run_graded_strict(given: Fields) -> Fields:
    result = accuracy([_graded_item(item) for item in given["items"]])
    return {**asdict(result), "final_labels": list(result.final_labels)}


def run_krippendorff_alpha(given: Fields) -> Fields:
    result = krippendorff_alpha(given["ratings"], given["level"])
    return {"alpha": result.value, "n_pairable_units": result.n_pairable_units}


def run_majority_vote(given: Fields) -> Fields:
    ticket = Ticket(seed=7, rollout="rollout", question="question")
    vote = majority_vote(given["answers"], ticket)

    assert vote.answer in vote.candidates or not vote.candidates
    assert majority_vote(given["answers"], ticket) == vote
    return {"candidates": list(vote.candidates), "decided_by": vote.decided_by, "count": vote.count}


def run_mixture_allocation(given: Fields) -> Fields:
    shares = allocate(given["n"], given["alpha"], given["beta"])
    return {
        "counts": {share.key: share.count for share in shares},
        "total": sum(share.count for share in shares),
    }


def run_mmrv(given: Fields) -> Fields:
    # Turning both signs round turns every > into the < of the variant and leaves the gaps as they
    # are.
    turned = {side: [-value for value in given[side]] for side in ("sim", "real")}
    return {"mmrv": mmrv(sim=given["sim"], real=given["real"]), "mmrv_lt_variant": mmrv(**turned)}


def run_outcome_reproduction(given: Fields) -> Fields:
    pairs = [
        MatchedOutcome(_objects(p["real_objects"]), _objects(p.get("rollout_objects")))
        for p in given["pairs"]
    ]
    result = reproduction(pairs)
    return {
        "categories": [{"real": pair.real, "rollout": pair.rollout} for pair in result.pairs],
        "per_category": {rate.category: rate.value for rate in result.rates},
        "average": result.average,
        "n_real": {rate.category: rate.n_real for rate in result.rates},
        "n_missing": result.n_missing,
    }


def run_pearson(given: Fields) -> Fields:
    return {"r": pearson(given["predicted"], given["real"])}


def run_pps(given: Fields) -> Fields:
    result = pps(
        [
            PlausibilityRating(r["video"], r["evaluator"], r.get("score"), _unable(r))
            for r in given["ratings"]
        ]
    )
    return {"mean": result.value, "n_videos": result.n_videos, "n_ratings": result.n_ratings}


def run_psnr(given: Fields) -> Fields:
    result = psnr(reference=_frames(given["reference"]), generated=_frames(given["generated"]))
    return {
        "per_frame_db": list(result.frames),
        "per_frame_capped_db": list(result.frames_capped),
        "rollout_psnr_db": result.value,
        "pooled_mse_psnr_db": result.pooled,
    }


def run_rubric_scoring(given: Fields) -> Fields:
    parts = [PartAnswers(name, tuple(answers)) for name, answers in given["answers"].items()]
    result = score_rubric(parts, given["modality"])
    return {**asdict(result), "sub_scores": {part.name: part.value for part in result.parts}}


def run_rubric_parents(given: Fields) -> Fields:
    rows = given["questions"]
    parts = [
        PartAnswers(
            name,
            tuple(row["answer"] for row in rows if row["part"] == name),
            tuple(row["id"] for row in rows if row["part"] == name),
        )
        for name in dict.fromkeys(row["part"] for row in rows)
    ]
    parents = {row["id"]: row["parent"] for row in rows if "parent" in row}
    result = score_rubric(parts, given["modality"], parents)
    return {**asdict(result), "sub_scores": {part.name: part.value for part in result.parts}}


def run_spearman_pairwise(given: Fields) -> Fields:
    result = pairwise_spearman(given["ratings"])
    return {
        "mean": result.mean,
        "pairs": {
            f"{pair.first}-{pair.second}": pair.rho for pair in result.pairs if pair.rho is not None
        },
        "skipped_pairs": [[pair.first, pair.second] for pair in result.pairs if pair.rho is None],
    }


def run_tailor_aggregation(given: Fields) -> Fields:
    """By the suite's own cells, from the mean of the raters, printed as in the board's grid."""
    entries: dict[tuple[str, str], list[Fields]] = {}
    for record in given["records"]:
        entries.setdefault((record["model"], record["evaluator"]), []).append(record)
    rows: list[Fields] = [
        {
            "setting": cell.facets.setting,
            "modality": cell.facets.modality,
            "scenario": cell.facets.scenario,
            "model": model,
            "evaluator": evaluator,
            "metric": cell.metric,
            "value": cell.value,
            "n_samples": cell.n_scored,
        }
        for (model, evaluator), records in entries.items()
        for cell in _tailor_cells(records)
        if ALL not in (cell.facets.setting, cell.facets.modality, cell.facets.scenario)
        and cell.facets.task == ALL
    ]
    printed = _printed(rows)
    places = [tuple(str(row[name]) for name in TAILOR_ADDRESS) for row in rows]
    return {
        "cells": [
            {**row, "display": printed.get(place)} for row, place in zip(rows, places, strict=True)
        ]
    }


def run_tsr(given: Fields) -> Fields:
    judgments = [
        SubgoalJudgment(j["case"], j["evaluator"], j.get("completed"), j["total"], _unable(j))
        for j in given["judgments"]
    ]
    result = tsr(judgments)
    return {"tsr": result.value, "n_cases": result.n_cases}


def run_uchunk(given: Fields) -> Fields:
    chunks = [ActionChunk(chunk["commanded"], chunk["recovered"]) for chunk in given["chunks"]]
    result = terminate(chunks, given["tau"], given["execution_horizon"])
    return {
        "u_chunk": list(result.u_chunk),
        "terminated": result.terminated,
        "terminated_at_chunk": result.stopped_at,
        "kept_chunks": result.kept_chunks,
        "kept_frames": result.kept_frames,
    }


ADAPTERS: Mapping[str, Adapter] = {
    "afs": run_afs,
    "bws": run_bws,
    "cohen_kappa": run_cohen_kappa,
    "em_rouge": run_em_rouge,
    "frame_sampling": run_frame_sampling,
    "graded_strict": run_graded_strict,
    "krippendorff_alpha": run_krippendorff_alpha,
    "majority_vote": run_majority_vote,
    "mixture_allocation": run_mixture_allocation,
    "mmrv": run_mmrv,
    "outcome_reproduction": run_outcome_reproduction,
    "pearson": run_pearson,
    "pps": run_pps,
    "psnr": run_psnr,
    "rubric_parents": run_rubric_parents,
    "rubric_scoring": run_rubric_scoring,
    "spearman_pairwise": run_spearman_pairwise,
    "tailor_aggregation": run_tailor_aggregation,
    "tsr": run_tsr,
    "uchunk": run_uchunk,
}


def golden_files() -> list[Path]:
    """Find the golden files, and refuse a GOLDEN_DIR without any."""
    files = sorted(OURS.glob("*.json"))
    if named := os.environ.get("GOLDEN_DIR"):
        theirs = sorted(Path(named).glob("*.json"))
        if not theirs:
            raise FileNotFoundError(
                f"GOLDEN_DIR is {named!r}, which holds no *.json. Name a folder of golden files."
            )
        files += theirs
    return files


def golden_cases() -> Iterator[Golden]:
    """Read every case of every file."""
    for file in golden_files():
        content = json.loads(file.read_text(encoding="utf-8"))
        for case in content["cases"]:
            yield Golden(
                file,
                content["metric"],
                case["id"],
                content["tolerance"],
                case["input"],
                case["expected"],
            )


def differences(expected: object, actual: object, tolerance: float, at: str = "") -> list[str]:
    """Name the places where an answer is not what was expected; None equals only None or an absent
    field."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        keys = (
            [*expected, *(key for key in actual if key not in expected)] if at else list(expected)
        )
        inside = (differences(expected.get(k), actual.get(k), tolerance, f"{at}/{k}") for k in keys)
        return [line for lines in inside for line in lines]
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        rows = enumerate(zip(_ordered(expected), _ordered(actual), strict=True))
        return [line for i, (e, a) in rows for line in differences(e, a, tolerance, f"{at}/{i}")]
    same = (
        _close(expected, actual, tolerance)
        if _is_number(expected) and _is_number(actual)
        else expected == actual
    )
    return [] if same else [f"{at}: expected {expected!r}, got {actual!r}"]


@pytest.mark.parametrize("file", golden_files(), ids=lambda file: f"{file.parent.name}/{file.name}")
def test_every_golden_file_has_cases_and_an_adapter(file: Path) -> None:
    content = json.loads(file.read_text(encoding="utf-8"))

    metric = content["metric"]

    assert metric in ADAPTERS, (
        f"{file} is about {metric!r}, for which there is no adapter. Add one to ADAPTERS."
    )
    assert content["cases"], f"{file} has no cases."


@pytest.mark.parametrize(
    "case",
    list(golden_cases()),
    ids=lambda case: f"{case.file.parent.name}/{case.metric}/{case.id}",
)
def test_golden_case_gives_what_is_expected(case: Golden) -> None:
    assert case.metric in ADAPTERS, (
        f"{case.file} is about {case.metric!r}, for which there is no adapter."
    )

    actual = ADAPTERS[case.metric](case.input)

    assert case.expected.keys() <= actual.keys()
    assert differences(case.expected, actual, case.tolerance) == []


def test_a_file_about_an_unknown_metric_fails_rather_than_being_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = {"id": "one", "input": {}, "expected": {}}
    (tmp_path / "novel.json").write_text(
        json.dumps({"metric": "novel", "tolerance": 0, "cases": [case]})
    )
    monkeypatch.setenv("GOLDEN_DIR", str(tmp_path))

    found = [golden for golden in golden_cases() if golden.metric == "novel"]

    assert len(found) == 1
    with pytest.raises(AssertionError, match="no adapter"):
        test_every_golden_file_has_cases_and_an_adapter(found[0].file)
    with pytest.raises(AssertionError, match="no adapter"):
        test_golden_case_gives_what_is_expected(found[0])


def test_a_named_folder_without_golden_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLDEN_DIR", str(tmp_path))

    with pytest.raises(FileNotFoundError, match="holds no"):
        golden_files()


def test_an_expected_none_is_not_met_by_zero() -> None:
    found = differences({"r": None, "n": 1}, {"r": 0.0, "n": 1}, 1e-9)

    assert found == ["/r: expected None, got 0.0"]


def test_an_expected_number_is_not_met_by_none_nor_by_one_beyond_the_tolerance() -> None:
    found = differences({"a": 0.0, "b": [1.0]}, {"a": None, "b": [1.1]}, 1e-9)

    assert found == ["/a: expected 0.0, got None", "/b/0: expected 1.0, got 1.1"]


def test_an_entry_too_many_in_a_table_is_a_difference() -> None:
    found = differences(
        {"pairs": {"0-1": 0.5}}, {"pairs": {"0-1": 0.5, "0-2": 0.5}, "extra": 1}, 1e-9
    )

    assert found == ["/pairs/0-2: expected None, got 0.5"]


def _unable(record: Fields) -> bool:
    return bool(record.get("unable_to_label", False))


def _graded_item(record: Fields) -> GradedItem:
    first, second = record["primary"]
    return GradedItem(first, second, record.get("adjudicated"))


def _objects(records: Iterable[Fields] | None) -> tuple[ObjectOutcome, ...]:
    return tuple(ObjectOutcome(**record) for record in records or ())


def _frames(pixels: list[Any]) -> Frames:
    return np.array(pixels, dtype=np.uint8) if pixels else np.zeros((0, 1, 1, 3), dtype=np.uint8)


def _tailor_cells(records: Sequence[Fields]) -> tuple[Cell, ...]:
    """The cells of one entry under one evaluator; a sample is known by where it stands and its
    id."""
    samples: dict[str, Sample] = {}
    by_sample: dict[str, list[Fields]] = {}
    for record in records:
        facets = Facets(record["scenario"], "any action", record["setting"], record["modality"])
        name = "/".join((*astuple(facets), record["sample_id"]))
        samples[name] = Sample(name, facets, cluster=name, prompt="")
        by_sample.setdefault(name, []).append(record)
    scores = [
        mean_of_raters([_score(name, metric, record.get(metric)) for record in ratings])
        for name, ratings in by_sample.items()
        for metric in TAILOR_METRICS
        if any(metric in record for record in records)
    ]
    return tabulate(TAILOR, list(samples.values()), scores)


def _score(sample_id: str, metric: str, value: float | None) -> Score:
    return Score(sample_id, metric, Outcome.JUDGE_ERROR if value is None else Outcome.SCORED, value)


def _printed(rows: Sequence[Fields]) -> dict[tuple[str, ...], str]:
    """What the grid of the board's TailOR page prints, by address; nothing where there is no
    value."""
    if not rows:
        return {}
    keys = ["setting", "modality", "model", "scenario"]
    grid = tables.grid(pd.DataFrame([{**row, "task": ALL} for row in rows]))
    return {
        (*address, evaluator, metric): text
        for *address, metric, both in grid[[*keys, "metric", "shown"]].itertuples(index=False)
        for evaluator, text in zip(("auto", "human"), both.split(" / "), strict=True)
        if text != "—"
    }


def _ordered(rows: list[Any]) -> list[Any]:
    """Put a table's cells in the order of their address, which the definition leaves open."""
    is_table = all(isinstance(row, dict) and "scenario" in row for row in rows)
    return (
        sorted(rows, key=lambda row: [str(row[field]) for field in TAILOR_ADDRESS])
        if is_table
        else rows
    )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _close(expected: float, actual: float, tolerance: float) -> bool:
    return abs(expected - actual) <= tolerance
