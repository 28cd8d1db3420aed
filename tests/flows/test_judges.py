"""Which judge a setting names, and that each way of judging has a card of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluators.contracts import Judge
from evaluators.judges.card import fingerprint
from evaluators.models.small import make_paligemma
from flows.workers.judges import JudgeOptions, UnknownJudge, open_judge
from infra.settings import Settings


def opened(name: str) -> Judge:
    """The judge of that name under the settings of this moment."""
    return open_judge(name, "cpu", JudgeOptions.of(Settings()))


def test_frames_precision_and_mask_of_a_local_judge_come_from_the_settings_and_make_other_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_paligemma(tmp_path / "judge")
    plain = opened(f"vlm:{folder}").card
    image_first = opened(f"vlm-image-first:{folder}").card

    monkeypatch.setenv("ARMILLARY_JUDGE_FRAMES", "first-2")
    monkeypatch.setenv("ARMILLARY_JUDGE_DTYPE", "bf16")
    other = opened(f"vlm:{folder}").card

    assert len({fingerprint(card) for card in (plain, image_first, other)}) == 3
    assert (plain.frames, other.frames) == ("uniform-8", "first-2")
    assert plain.precision.startswith("fp32") and other.precision.startswith("bf16")


def test_a_setting_that_names_no_judge_is_answered_with_the_ways(tmp_path: Path) -> None:
    with pytest.raises(UnknownJudge, match="vlm-image-first:FOLDER"):
        opened("gpt")
    with pytest.raises(UnknownJudge, match="holds no model"):
        opened(f"vlm:{tmp_path}")
