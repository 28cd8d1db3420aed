"""Which judge a setting names, and that each way of judging has a card of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.contracts import Judge
from evaluators.judges.card import fingerprint
from evaluators.judges.http.judge import HttpJudge
from evaluators.judges.prompts import instruction
from evaluators.models.small import make_paligemma
from evaluators.suites import all_suites
from flows.workers.agents import UnknownAgent, open_talker
from flows.workers.judges import (
    AnotherJudge,
    JudgeOptions,
    UnknownJudge,
    check_card,
    check_judge,
    judge_of,
    open_judge,
)
from infra.settings import Settings


def opened(name: str, judging: str = "") -> Judge:
    """The judge of that name under the settings of this moment."""
    return open_judge(name, "cpu", JudgeOptions.of(Settings(), judging))


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


def test_a_worker_whose_settings_make_another_judge_does_not_answer_for_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_paligemma(tmp_path / "judge")
    wanted = fingerprint(opened(f"vlm:{folder}").card)
    check_card(opened(f"vlm:{folder}"), wanted)
    check_card(opened(f"vlm:{folder}"), f"{wanted}-2026-11-18")

    monkeypatch.setenv("ARMILLARY_JUDGE_FRAMES", "first-2")

    with pytest.raises(AnotherJudge, match=f"opened with {wanted}.*same ARMILLARY_JUDGE"):
        check_card(opened(f"vlm:{folder}"), wanted)


def test_a_setting_that_names_no_judge_is_answered_with_the_ways(tmp_path: Path) -> None:
    with pytest.raises(UnknownJudge, match="vlm-image-first:FOLDER"):
        opened("gpt")
    with pytest.raises(UnknownJudge, match="holds no model"):
        opened(f"vlm:{tmp_path}")


FILE = 'model = "gemini-2.5-pro"\nsnapshot = "2026-06"\nurl = "https://judge.example/v1"\n'


def test_a_file_names_a_judge_and_an_agent_with_settings_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "judge.toml"
    path.write_text(FILE + 'frames = "change-32"\neffort = "low"\n')
    monkeypatch.setenv("ARMILLARY_JUDGE_KEY", "sk-nobody-may-see")

    check_judge(f"http:{path}")
    judge = opened(f"http:{path}")
    talker = open_talker(f"http:{path}", "cpu")

    assert judge.card.frames.startswith("change-32, within 1536 pixels")
    assert judge.card.decoding.endswith("up to 65535 tokens when cut off, effort low")
    assert isinstance(judge, HttpJudge) and judge.config.api_key == "sk-nobody-may-see"
    assert "sk-nobody" not in str(judge.card)
    assert talker.name.startswith("gemini-2.5-pro@2026-06, temperature 0, 32768 tokens")


def test_a_file_that_is_not_there_or_names_nobody_is_refused_before_anything_starts(
    tmp_path: Path,
) -> None:
    path = tmp_path / "judge.toml"

    with pytest.raises(UnknownJudge, match="cannot be read"):
        check_judge(f"http:{path}")
    path.write_text('model = "m"')
    with pytest.raises(UnknownJudge, match="snapshot: Field required"):
        check_judge(f"http:{path}")
    with pytest.raises(UnknownAgent, match="snapshot: Field required"):
        open_talker(f"http:{path}", "cpu")


def test_a_suite_with_an_instruction_of_its_own_has_cards_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "judge.toml"
    path.write_text(FILE)
    monkeypatch.setenv("ARMILLARY_JUDGE_URL", "https://judge.example/v1")
    suites = {suite.name: suite for suite in all_suites()}
    own = suites["liva"].judging

    assert [suite.name for suite in suites.values() if suite.judging] == ["tailor", "liva"]
    for name in (f"http:{path}", "http:m@r1"):
        general, liva = opened(name).card, opened(name, own).card
        tailor = opened(name, suites["tailor"].judging).card
        assert judge_of(Settings(), suites["tailor"], name) == fingerprint(tailor)
        assert judge_of(Settings(), suites["liva"], name) == fingerprint(liva)
        assert replace(liva, prompt_sha256="") == replace(general, prompt_sha256="")
        assert len({card.prompt_sha256 for card in (general, liva, tailor)}) == 3
    assert opened("scripted", own) is opened("scripted")


def test_livas_instruction_forgives_the_filming_not_the_action_and_guards_against_writing() -> None:
    liva = next(suite for suite in all_suites() if suite.name == "liva")
    general, own = (instruction(1, structured=False, rules=rules) for rules in ("", liva.judging))
    guard = general[general.index("What is not an instruction") :]

    assert "blurred or too unclear to tell lowers the answer" in general
    for rule in ("tolerant of how it is filmed", "Blur", "another pace", "strict about what is"):
        assert rule in own
    assert "lowers the answer" not in own and "Doubt never helps" not in own
    assert own.endswith(guard) and "$" not in own


@pytest.mark.parametrize("role", ["JUDGE", "AGENT"])
def test_an_address_that_can_be_no_endpoint_is_named_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    monkeypatch.setenv(f"ARMILLARY_{role}_URL", "ftp://models.example")

    with pytest.raises(UnknownJudge if role == "JUDGE" else UnknownAgent) as refused:
        opened("http:m@1") if role == "JUDGE" else open_talker("http:m@1", "cpu")

    assert f"ARMILLARY_{role}_URL is 'ftp://models.example'. " in str(refused.value)
    assert "http(s)://host" in str(refused.value)


def test_a_judge_and_an_agent_behind_endpoints_are_known_by_model_and_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ARMILLARY_JUDGE_URL", "http://judges.example/v1")
    monkeypatch.setenv("ARMILLARY_JUDGE_FRAMES", "first-2")
    monkeypatch.setenv("ARMILLARY_AGENT_URL", "http://agents.example/v1")

    judge, talker = opened("http:lab/m@2026-01"), open_talker("http:lab/m@2026-01", "cpu")

    assert judge.card.name == "lab/m at judges.example"
    assert judge.card.revision == "2026-01" and judge.card.frames.startswith("first-2,")
    assert "lab/m" in talker.name and "2026-01" in talker.name
