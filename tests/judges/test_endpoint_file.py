"""A judge named by a TOML file: defaults by family, all that changes a verdict on its card, and
errors in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.judges.card import fingerprint
from evaluators.judges.http.chat import HttpTalker
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.judges.http.endpoint_file import read_endpoint

URL = "https://judge.example/v1"
PLAIN = HttpJudgeConfig("http://localhost:1/v1", "m", "r1")
SMALL = 'model = "gemini-2.5-pro"\nsnapshot = "2026-06"\n'


def read(text: str) -> HttpJudgeConfig:
    """The settings of a file's text, with an address and a key from the environment."""
    return read_endpoint(text, URL, "sk-secret-secret")


def test_judges_and_agents_named_without_a_file_keep_their_fingerprints() -> None:
    other = replace(PLAIN, structured=True, frames="first-4", temperature=None)

    assert fingerprint(PLAIN.card) == "1080cd0c5cda0292"
    assert fingerprint(other.card) == "383737542c5b0038"
    assert HttpTalker(PLAIN).name == "m@r1, temperature 0, 4096 tokens"


@pytest.mark.parametrize(
    ("model", "limit_name", "temperature", "limit"),
    [
        ("gemini-2.5-pro", "max_tokens", 0.0, 32_768),
        ("google/gemini-3-pro-preview", "max_tokens", None, 32_768),
        ("gpt-5.1-mini", "max_completion_tokens", None, 32_768),
        ("openai/o4-mini", "max_completion_tokens", None, 32_768),
        ("Qwen/Qwen3-VL-8B-Thinking", "max_tokens", None, 32_768),
        ("gpt-4o", "max_tokens", 0.0, 8_192),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "max_tokens", 0.0, 8_192),
    ],
)
def test_a_family_has_room_to_think_and_nothing_that_it_refuses(
    model: str, limit_name: str, temperature: float | None, limit: int
) -> None:
    config = read(f'model = "{model}"\nsnapshot = "1"')

    assert (config.limit_name, config.temperature) == (limit_name, temperature)
    assert config.max_tokens == limit and config.room > limit and config.deadline >= 300


def test_a_file_shows_sixteen_frames_and_small_pictures_and_says_so_on_the_card() -> None:
    card = read(SMALL).card

    assert card.frames == (
        "uniform-16, within 1536 pixels, png up to 1048576 bytes, else jpeg 92, clips jpeg 92"
    )
    assert card.decoding == (
        "temperature 0, 32768 tokens, json in text, 2 retries, up to 65535 tokens when cut off"
    )
    assert card.name == "gemini-2.5-pro at judge.example"


@pytest.mark.parametrize(
    "line",
    [
        "limit = 9000",
        'limit_name = "max_completion_tokens"',
        "room = 0",
        "temperature = 0.7",
        'temperature = "default"',
        'effort = "low"',
        "schema = true",
        'frames = "uniform-32"',
        'frames = "change-16"',
        'frames = "video"',
        'frames = "video-2"',
        'frames = "video"\nvideo_part = "file"',
        'pictures = "png"',
        'pictures = "fit-768"',
        'url = "https://elsewhere.example/v1"',
        'headers = {x-mode = "careful"}',
    ],
)
def test_whatever_can_change_a_verdict_changes_the_card(line: str) -> None:
    assert fingerprint(read(SMALL + line).card) != fingerprint(read(SMALL).card)


def test_pace_price_and_deadline_stand_on_the_card_and_make_no_other_judge() -> None:
    config = read(
        SMALL + "deadline = 77\nrequests_a_minute = 60\ntokens_a_minute = 90000\n"
        "price_in = 1.25\nprice_out = 10\nconcurrency = 3"
    )

    assert (config.rpm, config.tpm, config.price_out, config.concurrency) == (60, 90000, 10, 3)
    assert config.card.note == (
        "Asked with 77 seconds a call, 60 requests a minute, 90000 tokens a minute, "
        "1.25 for a million tokens in and 10 out."
    )
    assert fingerprint(config.card) == fingerprint(read(SMALL).card)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("model = ", "no TOML"),
        ('model = "m"', "snapshot: Field required"),
        (SMALL + "max_token = 3", "max_token: Extra inputs"),
        (SMALL + 'limit = "many"', "limit: Input should be a valid integer"),
        (SMALL + 'frames = "some-3"', "uniform-n, first-n, change-n, video"),
        (SMALL + 'frames = "video-0"', "uniform-n, first-n, change-n, video"),
        (SMALL + 'pictures = "small"', "fit-1536"),
        (SMALL + 'headers = {api-key = "sk-1234"}', "Write ${KEY}"),
        (SMALL + 'url = "ftp://x"', "http(s)://"),
    ],
)
def test_a_file_that_names_no_judge_is_refused_in_words(text: str, problem: str) -> None:
    with pytest.raises(ValueError) as refused:
        read(text)

    assert problem in str(refused.value)
    assert "sk-1234" not in str(refused.value)


def test_an_agents_name_says_how_much_room_it_has() -> None:
    assert HttpTalker(read(SMALL + 'effort = "low"')).name == (
        "gemini-2.5-pro@2026-06, temperature 0, 32768 tokens, up to 65535 tokens when cut off, "
        "effort low"
    )
