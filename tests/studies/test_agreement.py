"""How far raters agree is told part by part and rating by rating, and undefined where nothing can
be compared."""

from __future__ import annotations

import pytest

from evaluators.contracts import RatedItem
from evaluators.metrics.rubric import PARTS
from flows.studies.agreement import agreement

CHECKS = {f"{part}_{number}": part for part in PARTS for number in (1, 2)}
CLIP = {"methods": {"A": "north"}, "parts": CHECKS}


def rated(
    item: int, rater: int, answers: dict[str, str], behind: dict[str, object] | None = None
) -> RatedItem:
    return RatedItem(f"i{item}", "real", f"r{rater}", rater, answers, behind or CLIP, 20.0)


def checklist(item: int, rater: int, disputed: str = "") -> RatedItem:
    """Two raters who agree, but for the disputed part, where the second always says the
    contrary."""
    said = {name: (item + number) % 2 for number, name in enumerate(CHECKS)}
    turned = {
        name: value ^ (rater == 1 and CHECKS[name] == disputed) for name, value in said.items()
    }
    return rated(item, rater, {name: "yes" if value else "no" for name, value in turned.items()})


def test_a_part_in_dispute_lowers_its_own_alpha_and_the_mean_by_a_sixth_of_it() -> None:
    ratings = [checklist(item, rater, "scene_validity") for item in range(6) for rater in range(2)]

    found = agreement(ratings, parts=PARTS)

    alphas = {part: figure["value"] for part, figure in found["parts"].items()}
    assert tuple(alphas) == PARTS
    assert {part for part, alpha in alphas.items() if alpha == 1.0} == set(PARTS) - {
        "scene_validity"
    }
    assert alphas["scene_validity"] < -0.8
    assert found["alpha_mean"]["value"] == pytest.approx((5 + alphas["scene_validity"]) / 6)


def test_a_part_that_nobody_varies_in_has_no_alpha_and_leaves_the_mean() -> None:
    answers = {"entity_completeness_1": "yes", "scene_validity_1": "yes"}
    ratings = [rated(item, rater, {**answers, "scene_validity_1": "no" if item % 2 else "yes"})
               for item in range(4) for rater in range(2)]  # fmt: skip

    found = agreement(ratings, parts=PARTS)

    assert found["parts"]["entity_completeness"] == {"value": None, "low": None, "high": None}
    assert found["alpha_mean"]["value"] == 1.0


def test_an_unclear_check_is_a_no() -> None:
    ratings = [
        rated(item, rater, {"scene_validity_1": "yes" if item % 2 else ("no", "unclear")[rater]})
        for item in range(4)
        for rater in range(2)
    ]

    assert agreement(ratings, parts=PARTS)["parts"]["scene_validity"]["value"] == 1.0


def test_each_rating_has_its_own_correlation_and_their_mean_is_not_one_over_all_marks() -> None:
    marks = [("0", "4", "5", "5"), ("1", "5", "5", "4"), ("2", "3", "4", "5"), ("3", "1", "4", "4")]
    ratings = [
        rated(item, rater, {"physical_realism": row[rater], "perceptual_quality": row[2 + rater]})
        for item, row in enumerate(marks)
        for rater in range(2)
    ]

    found = agreement(ratings, parts=PARTS)

    rho = {name: figures["spearman"]["value"] for name, figures in found["ratings"].items()}
    assert rho == pytest.approx({"physical_realism": -0.8, "perceptual_quality": 0.0})
    assert found["spearman"]["value"] == pytest.approx(-0.4)
    assert found["ratings"]["physical_realism"]["alpha"]["value"] < 0


def test_the_marks_of_videos_side_by_side_are_one_rating() -> None:
    behind: dict[str, object] = {"methods": {"A": "north", "B": "south"}}
    ratings = [
        rated(item, rater, {"A.pps": str(1 + item), "B.pps": str(5 - item)}, behind)
        for item in range(3)
        for rater in range(2)
    ]

    found = agreement(ratings, parts=PARTS)

    assert list(found["ratings"]) == ["pps"]
    assert found["spearman"]["value"] == pytest.approx(1.0)
    assert "parts" not in found and "alpha_mean" not in found


def test_nobody_has_no_agreement() -> None:
    found = agreement([])

    assert [found[name]["value"] for name in ("alpha", "kappa", "spearman")] == [None, None, None]
    assert (found["ratings"], found["raters"], found["items"]) == ({}, 0, 0)
