"""An exam is balanced, gives nothing away, and is the same each time."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from evaluators.contracts import Question
from evaluators.judges.exam.exam import HIGH, LOW, Exam, ExamItem, items_sha256, request_of
from evaluators.judges.menus import check
from evaluators.judges.prompts import render
from evaluators.media import Pixels
from evaluators.statistics.intervals import Floats
from evaluators.suites.liva.bank import ALIGNED
from evaluators.suites.liva.exam import LOOKS, frame
from evaluators.suites.liva.exam import draw as draw_liva
from evaluators.suites.liva.exam.actions import ACTIONS, StagedAction
from evaluators.suites.tailor.bank import RATINGS, YES_NO
from evaluators.suites.tailor.exam import FAMILIES
from evaluators.suites.tailor.exam import draw as draw_tailor
from evaluators.suites.tailor.exam.design import TABLE, facts
from tests.exams.judges import EXAMS

DRAW = {"tailor": draw_tailor, "liva": draw_liva}
ITEMS = {
    "tailor": "288d6391e2f10772b70878502393553b9f2c6d589461be8327af71e515ae54d2",
    "liva": "105917b73f4bfb4f2d545700c3e41b8ba5b19afcc9e1c1613e7292aba98e5f4f",
}
"""If one of these changes, the exam has: raise its version and write the new hash down."""

DRAWINGS = {
    "tailor": "861c5f3353245ca01faa20fe4f5aa60524f4b18f013ccf6cc0d3c7fa8bfe0b45",
    "liva": "004c3872ccfd4e356e419c188ffe46a919c762caa52449990ad02db6a24b7d82",
}
FEWEST = {"tailor": 200, "liva": 100}


@pytest.fixture(params=EXAMS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def exam(name: str) -> Exam:
    return EXAMS[name]


def closed(exam: Exam) -> list[tuple[ExamItem, Question]]:
    return [
        (item, question) for item in exam.items() if not item.twin for question in item.questions
    ]


def words(item: ExamItem, question: Question) -> str:
    return f"{item.prompt} {question.text}"


def test_there_are_enough_questions_and_as_many_yes_as_no(name: str, exam: Exam) -> None:
    right = Counter(item.answers[question.id] for item, question in closed(exam))

    assert right.total() >= FEWEST[name]
    assert right[exam.menu[0]] == right[exam.menu[1]]
    assert 0 <= right["unclear"] <= 0.1 * right.total()


def test_questions_are_put_in_the_words_and_menus_of_the_suite() -> None:
    for item, question in closed(EXAMS["tailor"]):
        assert (question.kind, question.options) == ("yes_no", YES_NO), item.id
    assert {question for _, question in closed(EXAMS["liva"])} == {ALIGNED}
    ratings = {
        question for item in EXAMS["tailor"].items() if item.twin for question in item.questions
    }
    assert ratings == set(RATINGS)


def test_every_question_can_be_answered_and_has_a_right_answer_on_its_menu(exam: Exam) -> None:
    for item in exam.items():
        check(item.questions)
        assert item.answers.keys() == {question.id for question in item.questions}
    for item, question in closed(exam):
        assert item.answers[question.id] in question.options


def test_every_wording_goes_with_the_same_answers_so_that_words_alone_are_exactly_chance(
    exam: Exam,
) -> None:
    answers: dict[str, Counter[str]] = {}
    for item, question in closed(exam):
        answers.setdefault(words(item, question), Counter())[item.answers[question.id]] += 1

    assert len({frozenset(counted.items()) for counted in answers.values()}) == 1


def test_every_medium_has_as_many_yes_as_no_so_that_files_alone_are_exactly_chance(
    exam: Exam,
) -> None:
    answers: dict[str, Counter[str]] = {}
    for item, question in closed(exam):
        answers.setdefault(str(item.scene), Counter())[item.answers[question.id]] += 1

    assert all(counted[exam.menu[0]] == counted[exam.menu[1]] > 0 for counted in answers.values())


def decided(exam: Exam) -> tuple[list[str], Floats]:
    """The wordings of the questions that have a yes or no, and whether it is a yes."""
    pairs = [(words(item, question), item.answers[question.id]) for item, question in closed(exam)]
    both = [(text, right) for text, right in pairs if right in exam.menu[:2]]
    return [text for text, _ in both], np.array(
        [right == exam.menu[0] for _, right in both], np.float64
    )


def read_words(texts: list[str], right: Floats, folds: Any) -> float:
    """How often a classifier is right that knows the words alone, over held-out questions."""
    model = make_pipeline(
        CountVectorizer(ngram_range=(1, 2)), LogisticRegression(C=10, max_iter=2000)
    )
    predicted = np.empty_like(right)
    for train, test in folds:
        model.fit([texts[n] for n in train], right[train])
        predicted[test] = model.predict([texts[n] for n in test])
    return float((predicted == right).mean())


def test_a_classifier_on_words_stays_at_chance_with_wordings_it_has_not_read(exam: Exam) -> None:
    texts, right = decided(exam)

    accuracy = read_words(texts, right, GroupKFold(5).split(texts, groups=texts))

    assert abs(accuracy - 0.5) <= noise(right)


def test_a_classifier_on_words_stays_at_chance_with_wordings_it_has_read(exam: Exam) -> None:
    texts, right = decided(exam)
    strata = [f"{text} {answer}" for text, answer in zip(texts, right, strict=True)]

    accuracy = read_words(texts, right, StratifiedKFold(2).split(texts, strata))
    mixed = StratifiedKFold(5, shuffle=True, random_state=0).split(texts, right)
    shuffled = read_words(texts, right, mixed)

    assert abs(accuracy - 0.5) <= noise(right)
    assert shuffled <= 0.5 + noise(right)


def test_the_classifier_on_words_would_notice_wordings_that_lean_to_one_answer(exam: Exam) -> None:
    texts, right = decided(exam)
    leaning = right.copy()
    half = sorted(set(texts))[::2]
    for text in half:
        wrong = [n for n, same in enumerate(texts) if same == text and not right[n]]
        leaning[wrong] = 1.0
    strata = [f"{text} {answer}" for text, answer in zip(texts, leaning, strict=True)]

    accuracy = read_words(texts, leaning, StratifiedKFold(2).split(texts, strata))

    assert accuracy > 0.5 + noise(right)


def noise(right: Floats) -> float:
    """Two standard errors of an accuracy by chance."""
    return 2 * sqrt(0.25 / len(right))


def test_a_classifier_on_ids_and_order_stays_at_chance(exam: Exam) -> None:
    questions = closed(exam)
    places = {item.id: place for place, item in enumerate(exam.items())}
    features = np.array([[places[item.id], *item.id.encode()[5:]] for item, _ in questions])
    right = np.array([item.answers[question.id] for item, question in questions])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    predicted = cross_val_predict(DecisionTreeClassifier(random_state=0), features, right, cv=folds)

    assert_at_chance(predicted, right, exam)


def assert_at_chance(predicted: Any, right: Any, exam: Exam) -> None:
    """No better than two standard errors above what the predictions would reach by chance."""
    chance = sum(float((predicted == word).mean() * (right == word).mean()) for word in exam.menu)
    agreement = float((predicted == right).mean())

    assert agreement <= chance + 2 * sqrt(chance * (1 - chance) / len(right))


def test_files_of_a_kind_have_one_size_one_shape_of_name_and_nothing_of_the_answer_in_it(
    exam: Exam, tmp_path: Path
) -> None:
    sizes: dict[str, set[int]] = {}
    for item in exam.items()[::7]:
        path = exam.write(item, tmp_path)
        sizes.setdefault(path.suffix, set()).add(path.stat().st_size)
        assert path.stem == item.id and len(item.id) == len("exam.123456")

    assert all(len(different) == 1 for different in sizes.values())
    assert len({item.id for item in exam.items()}) == len(exam.items())


def test_the_words_of_a_rendered_prompt_are_the_same_whatever_the_right_answer_is(
    exam: Exam, tmp_path: Path
) -> None:
    texts: dict[tuple[str, tuple[Question, ...]], set[str]] = {}
    answers: dict[tuple[str, tuple[Question, ...]], set[str]] = {}
    for item in exam.items():
        key = (item.prompt, item.questions)
        text = spoken(item, exam, tmp_path)
        texts.setdefault(key, set()).add(text)
        answers.setdefault(key, set()).add(str(sorted(item.answers.items())))
        assert item.id not in text and str(tmp_path) not in text

    assert all(len(different) == 1 for different in texts.values())
    assert all(len(different) > 1 for different in answers.values())


def spoken(item: ExamItem, exam: Exam, folder: Path) -> str:
    """Every word that a judge is told about an item, by the template of its modality."""
    blank = folder / f"blank.{item.modality}"
    if not blank.exists():
        sample = next(like for like in exam.items() if like.modality == item.modality)
        exam.write(sample, folder).rename(blank)
    messages: Any = render(request_of(item, blank), "uniform-2", structured=False)
    parts = messages[1]["content"]
    return str(messages[0]["content"]) + "".join(
        part["text"] for part in parts if part["type"] == "text"
    )


def test_a_request_holds_neither_answers_nor_scene(exam: Exam, tmp_path: Path) -> None:
    item = exam.items()[0]
    request = request_of(item, exam.write(item, tmp_path))

    fields = set(request.__slots__)

    assert not fields & {"answers", "scene", "cluster", "twin"}


def test_twins_share_prompt_question_and_modality_and_one_of_the_two_is_sound() -> None:
    pairs: dict[str, list[ExamItem]] = {}
    for item in EXAMS["tailor"].items():
        if item.twin:
            pairs.setdefault(item.twin, []).append(item)

    assert len(pairs) == 24
    for pair in pairs.values():
        assert {answer for item in pair for answer in item.answers.values()} == {HIGH, LOW}
        assert (
            len({(item.prompt, item.questions, item.modality, item.cluster) for item in pair}) == 1
        )


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_what_a_screen_hides_cannot_be_seen(family: Any) -> None:
    for columns, letters in ((("first", "third"), "uyun"), (("second", "fourth"), "yunu")):
        looks = []
        for pair in product((True, False), repeat=2):
            covered = replace(facts(letters), **dict(zip(columns, pair, strict=True)))
            looks.append(family.draw(covered, np.random.default_rng(4)))
        assert all(np.array_equal(looks[0], look) for look in looks[1:]), (family.name, letters)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_what_is_asked_about_can_be_seen(family: Any) -> None:
    for column in range(4):
        row = ["y", "y", "y", "y"]
        yes = family.draw(facts("".join(row)), np.random.default_rng(4))
        row[column] = "n"
        no = family.draw(facts("".join(row)), np.random.default_rng(4))

        changed = np.abs(yes.astype(int) - no).max(axis=(0, 3)) > 40

        assert changed.mean() > 0.002, (family.name, column)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_the_two_versions_of_an_action_can_be_told_apart(action: StagedAction) -> None:
    for look in LOOKS:
        changed = [
            np.abs(frame(action, look, True, time).astype(int) - frame(action, look, False, time))
            > 40
            for time in (0.0, 0.5, 1.0)
        ]

        assert max(pixels.any(axis=2).mean() for pixels in changed) > 0.008, (action.name, look)


def test_media_are_the_same_bytes_each_time(exam: Exam, tmp_path: Path) -> None:
    for item in exam.items()[::17]:
        first = exam.write(item, tmp_path / "first").read_bytes()

        assert first == exam.write(item, tmp_path / "second").read_bytes()


def test_a_change_of_words_scenes_or_answers_is_another_version(name: str, exam: Exam) -> None:
    assert (exam.version, items_sha256(exam.items())) == ("1", ITEMS[name])


def test_a_change_of_drawings_is_another_version(name: str, exam: Exam) -> None:
    scenes = {str(sorted(item.scene.items())): item for item in exam.items()}
    drawn = hashlib.sha256()
    for key in sorted(scenes):
        frames: Pixels = DRAW[name](scenes[key])
        drawn.update(frames.tobytes())

    assert (exam.version, drawn.hexdigest()) == ("1", DRAWINGS[name])


def test_a_table_of_facts_is_balanced_in_rows_and_columns() -> None:
    columns = [Counter(column) for column in zip(*TABLE, strict=True)]

    assert all(column == Counter({"y": 6, "n": 6, "u": 1}) for column in columns)
    assert all(row.count("y") == row.count("n") for row in TABLE)


def test_an_exam_is_read_without_torch_and_without_drawing_anything() -> None:
    code = (
        "import sys; from evaluators.suites.tailor.exam import EXAM as a; "
        "from evaluators.suites.liva.exam import EXAM as b; a.items(), b.items(); "
        "assert not {'torch', 'sklearn', 'av', 'PIL.ImageDraw'} & set(sys.modules)"
    )

    subprocess.run([sys.executable, "-c", code], check=True)
