"""The dataset builder: counts, frames and order are what the settings say, and the same seed gives
the same items."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from evaluators.media import frame_indices
from evaluators.suites.universe.construction import Built
from evaluators.suites.universe.mixture import Dataset, build, in_board_words
from evaluators.suites.universe.questions import DESCRIPTION, AnswerSpace
from evaluators.suites.universe.segments import SegmentAnnotation, answer_space


def test_counts_follow_the_mixture_by_largest_remainder(built: tuple[Path, Built]) -> None:
    data = build(*_data(built), total=100)

    counts = Counter((item.task.split("_")[0], item.format) for item in data.items)

    assert counts == {
        ("action", "binary"): 12,
        ("action", "multiple_choice"): 4,
        ("action", "open_ended"): 64,
        ("character", "binary"): 3,
        ("character", "multiple_choice"): 1,
        ("character", "open_ended"): 16,
    }


def test_one_item_a_clip_unless_told_otherwise(built: tuple[Path, Built]) -> None:
    assert len(build(*_data(built))) == len(built[1].annotations)


def test_no_clip_comes_again_before_all_were_drawn(built: tuple[Path, Built]) -> None:
    only = {"open_ended": 1.0, "binary": 0.0, "multiple_choice": 0.0}
    clips = len(built[1].annotations)

    data = build(
        *_data(built),
        {"action_recognition": 1.0, "character_recognition": 0.0},
        only,
        total=2 * clips + 1,
    )

    assert sorted(Counter(item.filename for item in data.items).values()) == [2] * (clips - 1) + [3]


def test_the_same_seed_gives_the_same_items_and_another_one_others(
    built: tuple[Path, Built],
) -> None:
    assert build(*_data(built), total=40).items == build(*_data(built), total=40).items
    assert build(*_data(built), total=40).items != build(*_data(built), total=40, seed=1).items


def test_frames_are_first_or_uniform_and_long_contexts_are_seen_at_once(
    built: tuple[Path, Built],
) -> None:
    first = build(*_data(built), context_length=2, sampling_strategy="first_n")
    uniform = build(*_data(built), context_length=2)

    assert {item.frames for item in first.items} == {(0, 1)}
    assert {item.frames for item in uniform.items} == {(0, 13)}
    twelve = build(*_data(built), context_length=12)
    assert {item.frames for item in twelve.items} == {frame_indices("uniform-12", 14)}


def test_several_questions_a_lesson_are_different_ones_about_one_clip(
    built: tuple[Path, Built],
) -> None:
    data = build(*_data(built), questions=4)

    assert len(data) == len(built[1].annotations)
    for number in range(len(data)):
        items = data.items[4 * number : 4 * number + 4]
        assert len({item.filename for item in items}) == 1
        assert len({item.question for item in items}) == len(data[number].questions) == 4


def test_a_lesson_of_pairs_has_yes_no_and_one_that_names_about_one_task(
    built: tuple[Path, Built],
) -> None:
    data = build(*_data(built), pairs=True)

    assert len(data) == len(built[1].annotations)
    for number in range(len(data)):
        yes, no, naming = data.items[3 * number : 3 * number + 3]
        assert (yes.answer, no.answer) == ("yes", "no")
        assert naming.format in ("multiple_choice", "open_ended")
        assert len({(item.filename, item.task) for item in (yes, no, naming)}) == 1


def test_pairs_keep_to_the_mixture_and_need_a_format_that_names(built: tuple[Path, Built]) -> None:
    only_open = {"binary": 1.0, "multiple_choice": 0.0, "open_ended": 1.0}
    actions = {"action_recognition": 1.0, "character_recognition": 0.0}

    data = build(*_data(built), actions, only_open, pairs=True)

    assert {item.task for item in data.items} == {"action_recognition"}
    assert {item.format for item in data.items} == {"binary", "open_ended"}
    with pytest.raises(ValueError, match="one question that names"):
        build(*_data(built), beta_format={**only_open, "open_ended": 0.0}, pairs=True)


def test_the_fingerprint_of_lessons_tells_other_questions_and_other_clips(
    built: tuple[Path, Built],
) -> None:
    first, again = build(*_data(built)), build(*_data(built))
    others = [
        build(*_data(built), seed=1),
        build(*_data(built), context_length=4),
        build(*_data(built), questions=2),
        build(built[0], built[1].annotations[1:]),
    ]

    assert first.fingerprint == again.fingerprint
    assert first.fingerprint not in {other.fingerprint for other in others}


def test_more_questions_than_a_mixture_leaves_are_refused(built: tuple[Path, Built]) -> None:
    only = {"open_ended": 1.0, "binary": 0.0, "multiple_choice": 0.0}

    with pytest.raises(ValueError, match="fewer than 3 questions a clip"):
        build(*_data(built), beta_format=only, questions=3)


def test_an_item_is_a_lesson_with_its_frames(built: tuple[Path, Built]) -> None:
    data = build(*_data(built), context_length=4)

    lesson = data[0]

    assert lesson.frames.shape == (4, 180, 300, 3)
    assert lesson.questions == ((data.items[0].question, data.items[0].answer),)


def test_no_clips_and_no_frames_are_mistakes_that_are_told(built: tuple[Path, Built]) -> None:
    with pytest.raises(ValueError, match="no clip to ask about"):
        build(built[0], ())
    with pytest.raises(ValueError, match="at least 1"):
        build(*_data(built), context_length=0)


def _data(built: tuple[Path, Built]) -> tuple[Path, tuple[SegmentAnnotation, ...]]:
    return built[0], built[1].annotations


def worded(built: tuple[Path, Built], share: float) -> tuple[Dataset, Dataset, AnswerSpace]:
    """Lessons of pairs as they are, and with such a share in the words of the board of worlds."""
    folder, annotations = _data(built)
    lessons = build(folder, annotations, total=200, pairs=True)
    space = answer_space(folder, annotations)
    return lessons, in_board_words(lessons, share, space, seed=4), space


def test_in_the_boards_words_every_question_has_a_menu_and_its_answer_is_on_it(
    built: tuple[Path, Built],
) -> None:
    plain, board, space = worded(built, 1.0)

    assert [(i.filename, i.task, i.answer) for i in board.items] == [
        (i.filename, i.task, i.answer) for i in plain.items
    ]
    for before, item in zip(plain.items, board.items, strict=True):
        yes_no = item.format == "binary"
        assert item.menu == (("yes", "no") if yes_no else space.of(item.task))
        assert item.answer in item.menu and item.format != "open_ended"
        assert item.question == before.question if yes_no else "Choose one: " in item.question
    judged = board[0].judged
    assert judged and judged.description == DESCRIPTION and len(judged.menus) == 3
    assert plain[0].judged is None


def test_a_share_of_the_lessons_is_in_the_boards_words_whole_and_by_seed(
    built: tuple[Path, Built],
) -> None:
    plain, half, _ = worded(built, 0.5)
    lessons = [half.items[first : first + 3] for first in range(0, len(half.items), 3)]
    in_words = [all(item.menu for item in lesson) for lesson in lessons]

    assert all(
        is_all == any(i.menu for i in one) for is_all, one in zip(in_words, lessons, strict=True)
    )
    assert 70 < sum(in_words) < 130
    assert worded(built, 0.5)[1].fingerprint == half.fingerprint != plain.fingerprint
    assert worded(built, 0.0)[1].fingerprint == plain.fingerprint
