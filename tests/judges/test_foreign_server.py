"""A server that nobody here wrote: `transformers serve` with a small random PaliGemma."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import Outcome
from evaluators.judges import showing
from evaluators.judges.http.judge import HttpJudge, HttpJudgeConfig
from evaluators.media import write_mp4
from tests.judges.endpoints import YES_NO, asked
from tests.judges.foreign import transformers_serving

pytestmark = [pytest.mark.timeout(400), pytest.mark.xdist_group("transformers serve")]
WORD = '{"q1":"no"}'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpJudgeConfig]:
    """The model runs as it is; only one of its tokens is respelled and its settings let it say
    nothing but that."""
    pytest.importorskip("transformers")
    from evaluators.models.small import make_paligemma

    home = tmp_path_factory.mktemp("serve")
    folder = make_paligemma(home / "paligemma")
    _say_only(folder, WORD)
    with transformers_serving(folder, home) as url:
        config = HttpJudgeConfig(url, str(folder), "small random model")
        yield replace(
            config,
            max_tokens=8,
            deadline=120,
            tries=2,
            backoff=0.01,
            concurrency=1,
            frames="uniform-3",
        )


def test_a_picture_and_a_clip_are_judged_over_a_protocol_we_did_not_write(
    served: HttpJudgeConfig, tmp_path: Path
) -> None:
    clip = write_mp4(np.zeros((6, 32, 32, 3), dtype=np.uint8), tmp_path / "clip.mp4", fps=8)
    still, moving = asked(2, tmp_path, [YES_NO])

    judge = HttpJudge(served)
    replies = list(judge.judge([still, replace(moving, media=clip, modality="video")]))

    assert [
        (reply.answers[0].outcome, reply.answers[0].value, reply.raw) for reply in replies
    ] == 2 * [(Outcome.SCORED, "no", WORD)]
    assert replies[0].tokens_in > 100 and replies[0].tokens_out >= 1
    assert judge.budget.spent.calls == 2


def test_a_server_that_ignores_the_schema_without_a_word_is_found_out(
    served: HttpJudgeConfig, tmp_path: Path
) -> None:
    (reply,) = HttpJudge(replace(served, structured=True)).judge(asked(1, tmp_path, [YES_NO]))

    assert reply.answers[0].outcome == Outcome.JUDGE_UNPARSABLE
    assert reply.answers[0].reason == 'the key "reasoning" is missing or not a string'
    assert reply.raw.startswith(WORD)


def test_its_500_to_a_bad_picture_is_a_judge_error(
    served: HttpJudgeConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(showing, "data_url", lambda *_, **__: "data:image/png;base64,AAAA")

    judge = HttpJudge(replace(served, backoff=0.5))
    (reply,) = judge.judge(asked(1, tmp_path, [YES_NO]))

    assert reply.answers[0].outcome == Outcome.JUDGE_ERROR
    assert reply.answers[0].reason.startswith(("HTTP 500", "the connection failed"))
    assert judge.budget.spent.calls == 2


def _say_only(folder: Path, word: str) -> None:
    spelled = json.dumps(word)[1:-1]
    for name in ("tokenizer.json", "tokenizer_config.json"):
        path = folder / name
        path.write_text(path.read_text().replace("<loc0500>", spelled))
    vocabulary = {
        token["content"]: token["id"]
        for token in json.loads((folder / "tokenizer.json").read_text())["added_tokens"]
    }
    settings = json.loads((folder / "generation_config.json").read_text())
    config = json.loads((folder / "config.json").read_text())
    said, end = vocabulary[word], settings["eos_token_id"]
    everything = range(config["text_config"]["vocab_size"])
    settings |= {"suppress_tokens": [token for token in everything if token not in {said, end}],
                 "begin_suppress_tokens": [end], "no_repeat_ngram_size": 1}  # fmt: skip
    (folder / "generation_config.json").write_text(json.dumps(settings))
