"""The papers' figures arrive whole, have one address each, and give the sums that follow from
them."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import ROUND_HALF_UP, Decimal
from importlib import import_module
from importlib.resources import files
from statistics import correlation, fmean

import pytest

from evaluators.contracts import ALL, FACETS, Facets, Fact, Metric, Published
from evaluators.suites.figures import one_per_address, read_table
from evaluators.suites.liva import published as liva
from evaluators.suites.sc3 import published as sc3
from evaluators.suites.tailor import published as tailor
from evaluators.suites.universe import published as universe

TAILOR, LIVA, SC3, UNIVERSE = (
    tailor.published(),
    liva.published(),
    sc3.published(),
    universe.published(),
)
FIGURES = {"tailor": TAILOR, "liva": LIVA, "sc3": SC3, "universe": UNIVERSE}
METRICS: dict[str, tuple[Metric, ...]] = {
    suite: import_module(f"evaluators.suites.{suite}.metrics").METRICS for suite in FIGURES
}
UNITS = {"percent", "rating_0_5", "rating_1_5", "r", "mmrv", "db", "rate", "points", "count"}
PG = "PaliGemma 2 3B"
PROJECTOR = f"{PG}, projector"
EM = "em_normalised"
AR, CR = "environment_1/action_recognition", "environment_1/character_recognition"

every_suite = pytest.mark.parametrize("suite", FIGURES)


def figure(rows: tuple[Published, ...], model: str, metric: str, address: str) -> Published:
    """The one row at scenario/task/setting/modality/evaluator."""
    *facets, evaluator = address.split("/")
    key = (model, metric, Facets(*facets), evaluator)
    [row] = [r for r in rows if (r.model, r.metric, r.facets, r.evaluator) == key]
    return row


def rows_per_table(rows: tuple[Published, ...]) -> Counter[int]:
    return Counter(int(row.source.rpartition("Table ")[2]) for row in rows)


# Every suite


@every_suite
def test_no_two_figures_share_an_address(suite: str) -> None:
    addresses = [(r.model, r.metric, r.facets, r.evaluator) for r in FIGURES[suite]]

    assert len(addresses) == len(set(addresses))


@every_suite
def test_every_figure_has_a_whole_address_a_known_metric_and_a_value_in_its_range(
    suite: str,
) -> None:
    metrics = {m.name: m for m in METRICS[suite]}

    for row in FIGURES[suite]:
        low, high = sorted((metrics[row.metric].worst, metrics[row.metric].best))
        assert low <= row.value <= high, row
        assert all((row.model, row.source, *(getattr(row.facets, name) for name in FACETS))), row


@every_suite
def test_every_metric_has_its_own_name_a_known_unit_and_its_direction_in_words(suite: str) -> None:
    metrics = METRICS[suite]

    assert len({m.name for m in metrics}) == len(metrics)
    assert {m.unit for m in metrics} <= UNITS
    assert all((m.best > m.worst) == (m.direction == "higher") for m in metrics)
    assert all(m.explain.endswith(f"{m.direction.capitalize()} is better.") for m in metrics)
    assert any(m.headline for m in metrics)


@every_suite
def test_every_packaged_table_can_be_read(suite: str) -> None:
    names = [
        p.name for p in files("evaluators.suites").joinpath(suite, "data", "published").iterdir()
    ]

    assert names and all(read_table(suite, name.removesuffix(".csv")) for name in names)


def test_the_first_of_several_tables_is_kept_and_the_others_are_told() -> None:
    at = Facets("s", "t", "u", "video")
    first = Published("m", "x", at, "auto", 1.5, 0.1, "Paper, Table 1", "Why.")
    same = Published("m", "x", at, "auto", 1.5, 0.1, "Paper, Table 2")
    other = Published("m", "x", at, "auto", 2.5, None, "Paper, Table 3")

    [kept] = one_per_address([first, same, other])

    assert (kept.value, kept.source) == (1.5, "Paper, Table 1")
    assert kept.note == "Why. Table 2 prints the same. Table 3 prints 2.5."


@pytest.mark.parametrize(
    ("facts", "count", "some"),
    [
        (
            tailor.facts(),
            19,
            {"krippendorff_alpha_mean": "0.72", "spearman_pairwise_mean": "0.68", "tasks": "80"},
        ),
        (
            liva.facts(),
            12,
            {"videos_evaluated": "520", "evaluation_sets": "130", "human_evaluators": "8"},
        ),
        (
            sc3.facts(),
            39,
            {"pooled_online_pearson": "0.929", "terminated_rollouts": "4.88", "tau": "0.02"},
        ),
        (
            universe.facts(),
            52,
            {"input_resolution": "224x224", "tuned_params": "2.66M", "val_clips": "8113"},
        ),
    ],
)
def test_facts_are_kept_as_text(facts: tuple[Fact, ...], count: int, some: dict[str, str]) -> None:
    values = {fact.quantity: fact.value for fact in facts}

    assert len(values) == count
    assert some.items() <= values.items()


def test_liva_has_no_figures_of_any_method() -> None:
    assert LIVA == ()


# TailOR

TailorKey = tuple[str, str, str, str, str, str]
CELLS: dict[TailorKey, float] = {
    (
        r.facets.setting,
        r.facets.modality,
        r.model,
        r.facets.scenario,
        r.metric,
        r.evaluator,
    ): r.value
    for r in TAILOR
}


def test_tailor_has_all_of_table_2() -> None:
    assert rows_per_table(TAILOR) == {2: 384}
    assert len({r.model for r in TAILOR}) == 8
    assert {r.facets.task for r in TAILOR} == {ALL}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (("predictive", "image", "Z-Image", "regular", "instruction_adherence", "auto"), 52),
        (("predictive", "image", "Z-Image", "regular", "interaction_accuracy", "human"), 50),
        (("predictive", "image", "Z-Image", "unconventional", "physical_realism", "human"), 2.8),
        (("descriptive", "image", "Z-Image", "unconventional", "physical_realism", "auto"), 1.6),
    ],
)
def test_tailor_spot_values(key: TailorKey, value: float) -> None:
    assert CELLS[key] == value


def test_tailor_names_are_canonical_and_the_suspect_cell_is_marked() -> None:
    [suspect] = [r for r in TAILOR if "misprint" in r.note]

    assert (suspect.model, suspect.metric, suspect.value) == ("Z-Image", "physical_realism", 2.8)
    assert {r.note for r in TAILOR if r.model == "Veo-3.1"} == {"", "Printed as Veo-3."}


@pytest.mark.parametrize(
    ("metric", "r", "difference", "digits"),
    [
        ("instruction_adherence", 0.966, 8.9, 1),
        ("interaction_accuracy", 0.955, 8.4, 1),
        ("physical_realism", 0.934, 0.48, 2),
        ("perceptual_quality", 0.906, 0.49, 2),
    ],
)
def test_tailor_humans_follow_the_judge_and_score_higher(
    metric: str, r: float, difference: float, digits: int
) -> None:
    keys = [key[:5] for key in CELLS if key[4] == metric and key[5] == "auto"]
    auto, human = [CELLS[*key, "auto"] for key in keys], [CELLS[*key, "human"] for key in keys]

    assert len(keys) == 48
    assert round(correlation(auto, human), 3) == r
    assert round(fmean(human) - fmean(auto), digits) == difference


def test_tailor_declines_strictly_in_112_of_128_rows_and_weakly_in_119() -> None:
    rows: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for (*head, scenario, metric, evaluator), value in CELLS.items():
        rows[*head, metric, evaluator][scenario] = value
    triples = [(s["regular"], s["unconventional"], s["impossible"]) for s in rows.values()]

    assert len(triples) == 128
    assert sum(a > b > c for a, b, c in triples) == 112
    assert sum(a >= b >= c for a, b, c in triples) == 119


@pytest.mark.parametrize(
    ("modality", "model", "best", "alone"),
    [("image", "Nano-Banana-2", 44, 41), ("video", "Sora-2", 42, 40)],
)
def test_tailor_leaders_are_best_or_tied_in_most_columns(
    modality: str, model: str, best: int, alone: int
) -> None:
    columns: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for (setting, where, name, *column), value in CELLS.items():
        if where == modality:
            columns[setting, *column][name] = value
    leaders = [{name for name, v in c.items() if v == max(c.values())} for c in columns.values()]

    assert len(leaders) == 48
    assert (
        sum(model in names for names in leaders),
        sum(names == {model} for names in leaders),
    ) == (best, alone)


# SC3-Eval


def test_sc3_has_every_table_and_one_copy_of_the_runs_printed_twice() -> None:
    assert rows_per_table(SC3) == {1: 32, 2: 10, 3: 12, 4: 14, 5: 20 - 4, 6: 40}
    assert sum(r.note == "Threshold tau = 0.02. Table 5 prints the same." for r in SC3) == 4


@pytest.mark.parametrize(
    ("model", "metric", "address", "value"),
    [
        ("IRASim", "mmrv", "out_of_distribution/pooled/online/video/human", 0.364),
        ("SC3-Eval", "pearson_r", "*/pooled/online/video/human", 0.929),
        (
            "SC3-Eval without early termination",
            "pearson_r",
            "in_distribution/pooled/online/video/human",
            0.956,
        ),
        ("Ctrl-World", "psnr", "in_distribution/*/offline/video/auto", 14.80),
        ("SC3-Eval", "termination_rate", "*/*/online/video/auto", 0.0488),
        ("IRASim", "reproduction_no_failure", "*/*/offline/video/human", 0.05),
    ],
)
def test_sc3_spot_values(model: str, metric: str, address: str, value: float) -> None:
    assert figure(SC3, model, metric, address).value == value


def test_sc3_reproduction_averages_are_means_of_the_four_outcomes_rounded_half_up() -> None:
    rates: dict[tuple[str, str], dict[str, Decimal]] = defaultdict(dict)
    for row in read_table("sc3", "table6"):
        rates[row["method"], row["mode"]][row["category"]] = Decimal(row["reproduction_rate"])

    for outcomes in rates.values():
        printed = outcomes.pop("average")
        mean = sum(outcomes.values(), Decimal(0)) / 4
        assert mean.quantize(Decimal("0.01"), ROUND_HALF_UP) == printed

    assert [len(outcomes) for outcomes in rates.values()] == [4] * 8


def test_sc3_real_rates_are_12_points_in_distribution_and_9_out() -> None:
    rates = sc3.real_success_rates()

    assert Counter(r.split for r in rates) == {"in_distribution": 12, "out_of_distribution": 9}
    assert {(r.policy, r.criterion): r.rate for r in rates}[4, "object_placing"] == 0.008


def test_sc3_what_knowing_only_the_criteria_reaches_is_a_figure_that_says_it_is_computed() -> None:
    row = figure(SC3, sc3.CRITERION_MEAN, "pearson_r", "*/pooled/online/video/human")

    assert row.value == pytest.approx(0.7606, abs=5e-5)
    assert row.value == sc3.criterion_mean_r(sc3.real_success_rates())
    assert "not printed" in row.note and "no r within criterion" in row.note
    assert not any(one.metric == "pearson_r_within" for one in SC3)
    assert any("0.76 over the paper's points" in one.explain for one in METRICS["sc3"])


# UNIVERSE


def test_universe_has_every_table_and_one_copy_of_the_runs_printed_twice() -> None:
    once = {4: 60, 5: 96, 10: 60, 11: 144, 12: 108, 14: 8, 15: 96, 16: 16, 18: 16}
    repeated = {6: 84 - 6, 7: 30 - 6, 8: 120 - 30, 9: 96 - 30, 17: 60 - 12}

    assert rows_per_table(UNIVERSE) == once | repeated


@pytest.mark.parametrize(
    ("model", "metric", "address", "value", "spread"),
    [
        (f"{PROJECTOR}, 8 uniform frames, 1 epoch", EM, f"{AR}/open_ended/text/auto", 90.30, 0.04),
        (
            f"{PROJECTOR}, first 8 frames, 10 epochs",
            "rouge_f1",
            f"{AR}/multiple_choice/text/auto",
            94.22,
            0.05,
        ),
        (f"{PROJECTOR}, tasks mixed AR 0.8 CR 0.2", EM, f"{AR}/open_ended/text/auto", 30.88, 0.63),
        (f"{PG}, language model, 1 frame, 1 epoch", EM, f"{CR}/open_ended/text/auto", 98.98, 0),
        ("CLIP ViT-B/16, zero-shot, 8 frames", EM, f"{AR}/multiple_choice/text/auto", 57.36, 0),
        ("UNIVERSE", "graded_accuracy", f"{CR}/multiple_choice/text/human", 83.3, None),
        ("UNIVERSE", "cohen_kappa", "environment_7/*/*/text/human", 0.59, None),
    ],
)
def test_universe_spot_values(
    model: str, metric: str, address: str, value: float, spread: float | None
) -> None:
    row = figure(UNIVERSE, model, metric, address)

    assert (row.value, row.spread) == (value, spread)


@pytest.mark.parametrize(
    ("backbone", "task", "score"),
    [
        ("VideoLLaMA3 7B", "action_recognition", 12.7),
        ("VideoLLaMA3 7B", "character_recognition", 6.4),
        ("PaliGemma 2 10B", "action_recognition", 29.7),
        ("PaliGemma 1 3B", "character_recognition", 17.2),
    ],
)
def test_universe_task_score_is_the_mean_of_the_three_formats(
    backbone: str, task: str, score: float
) -> None:
    judge = f"{backbone}, zero-shot, 8 frames"

    formats = [r.value for r in UNIVERSE if (r.model, r.facets.task) == (judge, task)]

    assert len(formats) == 3
    assert round(fmean(formats), 1) == score


def test_universe_rouge_is_marked_and_below_exact_match_in_three_printed_rows() -> None:
    exact = {(r.model, r.facets): r.value for r in UNIVERSE if r.metric == EM}
    rouge = [r for r in UNIVERSE if r.metric == "rouge_f1"]
    below = tuple(r for r in rouge if r.value < exact.get((r.model, r.facets), 0))

    assert rows_per_table(below) == {8: 1, 11: 2}
    assert all("ROUGE not comparable with ours" in r.note for r in rouge)


def test_universe_tables_7_and_8_disagree_about_one_frame_and_the_note_says_so() -> None:
    row = figure(UNIVERSE, f"{PROJECTOR}, 1 frame, 2 epochs", EM, f"{AR}/binary/text/auto")

    assert (row.value, row.source[-7:]) == (84.92, "Table 7")
    assert row.note.endswith("Table 8 prints 85.1 ± 0.02.")
