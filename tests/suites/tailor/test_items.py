"""Item statistics say which questions tell nothing, the wrong thing, or divide the judges."""

from __future__ import annotations

from evaluators.suites.tailor.upkeep.items import ItemAnswer, ItemStatistic, statistics


def answers(
    question: str, met: dict[str, list[bool]], judge: str = "j", fallen: bool = False
) -> list[ItemAnswer]:
    """What a judge says of each entry's outputs, one a prompt."""
    return [
        ItemAnswer("cut_rope.0", question, entry, f"p{number}", judge, value, fallen)
        for entry, values in met.items()
        for number, value in enumerate(values)
    ]


GOOD = {"good": [True] * 4, "fair": [True, True, False, False], "bad": [False] * 4}
BACKWARDS = {"good": [False] * 4, "fair": [True, False, False, True], "bad": [True] * 4}


def found() -> dict[str, ItemStatistic]:
    rows = statistics(
        [
            *answers("tells", GOOD),
            *answers("tells_too", GOOD),
            *answers("and_this", GOOD),
            *answers("backwards", BACKWARDS),
            *answers("always", {name: [True] * 4 for name in GOOD}),
            *answers("never_asked", {name: [False] * 4 for name in GOOD}, fallen=True),
            *answers("divides", GOOD),
            *answers("divides", BACKWARDS, judge="k"),
            *answers("rare", {"good": [True]}),
        ]
    )
    return {row.question: row for row in rows}


def test_a_question_that_good_entries_meet_more_often_is_not_flagged() -> None:
    row = found()["tells"]

    assert row.flags == () and row.discrimination is not None and row.discrimination > 0.5
    assert (row.n, row.entries, row.difficulty, row.disagreement) == (12, 3, 0.5, None)


def test_each_kind_of_bad_question_has_its_name() -> None:
    rows = found()

    assert rows["backwards"].flags == ("tells the wrong way",)
    assert rows["always"].flags == ("never varies",) and rows["always"].discrimination is None
    assert rows["never_asked"].flags == ("never counts",)
    assert "judges disagree" in rows["divides"].flags and rows["divides"].disagreement == 10 / 12
    assert rows["rare"].flags == ()


def test_the_worst_come_first() -> None:
    order = list(found())

    flagged = ["backwards", "always", "never_asked", "divides"]
    assert set(order[:4]) == set(flagged) and order[0] == "backwards"
