"""Which judge a setting names, and that each way of judging has a card of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.judges.card import fingerprint
from evaluators.models.small import make_paligemma
from flows.workers.judges import UnknownJudge, open_judge


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Settings are read when a judge is opened."""
    open_judge.cache_clear()
    yield
    open_judge.cache_clear()


def test_frames_precision_and_mask_of_a_local_judge_come_from_the_settings_and_make_other_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_paligemma(tmp_path / "judge")
    plain = open_judge(f"vlm:{folder}", "cpu").card
    image_first = open_judge(f"vlm-image-first:{folder}", "cpu").card

    open_judge.cache_clear()
    monkeypatch.setenv("ARMILLARY_JUDGE_FRAMES", "first-2")
    monkeypatch.setenv("ARMILLARY_JUDGE_DTYPE", "bf16")
    other = open_judge(f"vlm:{folder}", "cpu").card

    assert len({fingerprint(card) for card in (plain, image_first, other)}) == 3
    assert (plain.frames, other.frames) == ("uniform-8", "first-2")
    assert plain.precision.startswith("fp32") and other.precision.startswith("bf16")


def test_a_setting_that_names_no_judge_is_answered_with_the_ways(tmp_path: Path) -> None:
    with pytest.raises(UnknownJudge, match="vlm-image-first:FOLDER"):
        open_judge("gpt", "cpu")
    with pytest.raises(UnknownJudge, match="holds no model"):
        open_judge(f"vlm:{tmp_path}", "cpu")
