"""The whole path with a judge behind a server that nobody here wrote: `transformers serve` with a
small random model of a published class. What it says is no answer, and none is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import select

from infra import tables
from infra.db import session
from infra.settings import Settings
from tests.bundles import drawn_outputs
from tests.command import Machine
from tests.judges.foreign import transformers_serving

pytestmark = [pytest.mark.timeout(560), pytest.mark.xdist_group("transformers serve")]


def test_words_that_are_no_answer_are_kept_and_never_become_a_score(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from tests.models.published_vlms import make_published

    model = make_published("gemma3", tmp_path / "gemma3")
    file = tmp_path / "judge.toml"
    with transformers_serving(model, tmp_path) as url:
        file.write_text(
            f'model = "{model}"\nsnapshot = "random weights"\nurl = "{url}"\nlimit = 6\nroom = 6\n'
            "deadline = 120\nconcurrency = 1\n"
        )
        machine = Machine(tmp_path / "home", {"ARMILLARY_JUDGE": f"http:{file}"})
        machine.run("init")
        submission = machine.submit(drawn_outputs(tmp_path / "bundle.zip"))
        said = machine.run("evaluate", submission, status=2)

    assert "E_JUDGE" in said and "our fault" in said
    with session(Settings(home=machine.home).database) as db:
        replies = db.exec(select(tables.Reply)).all()
        verdicts = db.exec(select(tables.Verdict)).all()
        scores = db.exec(select(tables.Score)).all()
        judge = db.exec(select(tables.Judge).where(tables.Judge.kind == "auto")).all()
    assert replies and all(reply.tokens_in > 0 and reply.tokens_out > 0 for reply in replies)
    assert any(reply.raw.strip() for reply in replies)
    assert {verdict.outcome for verdict in verdicts} == {"judge_unparsable"}
    assert {verdict.value for verdict in verdicts} == {None}
    assert all(score.value is None for score in scores)
    assert any(str(model) in row.name for row in judge)
