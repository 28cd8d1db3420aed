"""What an exam says of judges whose competence is known."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa  # type: ignore[import-untyped, unused-ignore]

from evaluators.contracts import Answer, Outcome, Reply
from evaluators.judges.exam.competence import Mark, competence, kappa_estimate, marks
from evaluators.judges.exam.exam import Exam
from evaluators.judges.exam.sight import verdict
from tests.exams.judges import EXAMS, always, by_chance, by_key, result

MENU = ("yes", "no", "unclear")


@pytest.fixture(params=EXAMS)
def exam(request: pytest.FixtureRequest) -> Exam:
    return EXAMS[request.param]


def test_a_judge_that_knows_the_answers_sees(exam: Exam) -> None:
    reached = result(exam, by_key)

    assert (reached.agreement.value, reached.kappa.value, reached.yes_bias.value) == (1.0, 1.0, 0.0)
    assert (reached.n_answered, reached.answer_rate) == (reached.n, 1.0)
    assert verdict(reached, exam.bounds).sight == "sees"


def test_a_judge_that_always_says_yes_is_blind_for_its_bias_and_for_kappa(exam: Exam) -> None:
    reached = result(exam, always(exam.menu[0]))

    outcome = verdict(reached, exam.bounds)

    assert reached.kappa.value == pytest.approx(0.0)
    assert reached.yes_bias.low is not None and reached.yes_bias.low > exam.bounds.yes_bias
    assert outcome.sight == "blind"
    assert any("yes-bias" in reason for reason in outcome.reasons)


def test_a_judge_that_always_says_no_is_blind_for_its_bias(exam: Exam) -> None:
    outcome = verdict(result(exam, always(exam.menu[1])), exam.bounds)

    assert outcome.sight == "blind"
    assert any("yes-bias may be -" in reason for reason in outcome.reasons)


def test_a_judge_that_always_says_unclear_is_blind() -> None:
    exam = EXAMS["tailor"]
    outcome = verdict(result(exam, always("unclear")), exam.bounds)

    assert outcome.sight == "blind"
    assert any("kappa" in reason for reason in outcome.reasons)


def test_a_judge_that_answers_by_chance_is_blind(exam: Exam) -> None:
    reached = result(exam, by_chance)

    assert reached.kappa.high is not None and reached.kappa.high < 0.3
    assert verdict(reached, exam.bounds).sight == "blind"


def test_a_judge_that_sees_but_never_says_unclear_still_sees() -> None:
    exam = EXAMS["tailor"]
    reached = result(exam, lambda item, question: by_key(item, question).replace("unclear", "no"))

    assert reached.agreement.value is not None and reached.agreement.value > 0.9
    assert verdict(reached, exam.bounds).sight == "sees"


def test_a_judge_that_sees_but_rates_everything_alike_is_blind_for_the_order() -> None:
    exam = EXAMS["tailor"]

    reached = result(
        exam, lambda item, question: "3" if question.kind == "rating" else by_key(item, question)
    )

    assert (reached.n_pairs, reached.order.value) == (24, 0.5)
    assert [reason for reason in verdict(reached, exam.bounds).reasons if "in order" in reason]


def test_a_judge_that_leaves_a_tenth_unanswered_is_blind_for_its_answer_rate(exam: Exam) -> None:
    items = exam.items()
    replies = [
        Reply(item.id, tuple(Answer(q.id, Outcome.SCORED, by_key(item, q)) for q in item.questions))
        for place, item in enumerate(items)
        if place % 10
    ]

    reached = competence(marks(items, replies), exam.menu)

    assert (reached.kappa.value, reached.agreement.value) == (1.0, 1.0)
    assert reached.answer_rate is not None and reached.answer_rate < 0.95
    assert [reason for reason in verdict(reached, exam.bounds).reasons if "answers" in reason]


def test_an_answer_that_failed_or_is_off_the_menu_is_no_answer() -> None:
    exam = EXAMS["tailor"]
    item = next(item for item in exam.items() if not item.twin)
    twin = next(item for item in exam.items() if item.twin)
    first, second, *_ = item.questions
    replies = [
        Reply(
            item.id,
            (
                Answer(first.id, Outcome.JUDGE_UNPARSABLE, "yes"),
                Answer(second.id, Outcome.SCORED, "maybe"),
            ),
        ),
        Reply(twin.id, (Answer(twin.questions[0].id, Outcome.SCORED, "9"),)),
    ]

    marked = marks([item, twin], replies)

    assert len(marked) == 5 and all(mark.answer is None for mark in marked)


def test_no_answers_at_all_are_no_values_rather_than_zeros_and_no_sight() -> None:
    reached = competence([Mark("a", "yes", None), Mark("b", "no", None)], MENU)

    assert (reached.kappa.value, reached.agreement.value, reached.yes_bias.value) == (
        None,
        None,
        None,
    )
    assert (reached.n, reached.n_answered, reached.answer_rate) == (2, 0, 0.0)
    assert verdict(reached, EXAMS["liva"].bounds).sight == "blind"


def test_the_error_of_kappa_is_the_one_that_statsmodels_gives_for_independent_items() -> None:
    random = np.random.default_rng(5)
    right = random.integers(0, 3, 400)
    answer = np.where(random.random(400) < 0.6, right, random.integers(0, 3, 400))
    table = np.zeros((3, 3))
    np.add.at(table, (right, answer), 1)

    reached = kappa_estimate(right, answer, np.arange(400), MENU)

    reference = cohens_kappa(table)
    assert reached.values[0] == pytest.approx(reference.kappa)
    assert np.sqrt((reached.influence**2).sum()) == pytest.approx(reference.std_kappa)


def test_what_a_cluster_adds_to_kappa_is_what_leaving_it_out_takes_away() -> None:
    random = np.random.default_rng(6)
    clusters = np.repeat(np.arange(60), 5)
    right = random.integers(0, 2, 300)
    answer = np.where(random.random(300) < 0.7, right, 1 - right)

    whole = kappa_estimate(right, answer, clusters, ("yes", "no"))
    without = [
        kappa_estimate(
            right[clusters != n], answer[clusters != n], clusters[clusters != n], ("yes", "no")
        )
        for n in range(60)
    ]

    moved = [float(whole.values[0] - part.values[0]) for part in without]
    assert np.corrcoef(moved, whole.influence[:, 0])[0, 1] > 0.999


def test_intervals_are_wider_where_questions_about_one_picture_stand_and_fall_together() -> None:
    sides = ("yes", "no")
    wrong = [(n, sides[n % 2], sides[(n + (n // 8 % 4 == 0)) % 2]) for n in range(200)]
    together = [Mark(str(n // 8), right, answer) for n, right, answer in wrong]
    apart = [Mark(str(n), right, answer) for n, right, answer in wrong]

    wide, narrow = (competence(marked, ("yes", "no")).kappa for marked in (together, apart))

    assert wide.value == pytest.approx(narrow.value)
    assert wide.low is not None and narrow.low is not None and wide.low < narrow.low
