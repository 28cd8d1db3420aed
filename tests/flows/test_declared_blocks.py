"""Handed-in outputs of which some prompts were blocked: what stands in is drawn by a rule, and
little may be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlmodel import select

from evaluators.contracts import Outcome
from evaluators.media import write_png
from evaluators.suites import suite_named
from flows.evaluate.door import receive
from flows.evaluate.flow import run_steps
from flows.run.case import open_case
from infra import tables
from infra.db import session
from infra.settings import Settings
from submissions.bundle.pack import pack_outputs
from submissions.format.errors import IntakeError
from tests.bundles import declaration, demo_samples
from tests.command import Machine

SEED = 7


def drawn_for(sample: str) -> str:
    """What the command line says stands in for a sample."""
    said = Machine(Path("/nowhere")).run(
        *("samples", "tailor", "--subset", "demo", "--seed", str(SEED), "--blocked", sample)
    )
    (line,) = said.splitlines()
    return str(json.loads(line)["sample"])


def bundle(folder: Path, samples: list[str], blocked: list[str], **changes: Any) -> Path:
    pictures = np.random.default_rng(3).integers(0, 255, (len(samples), 32, 32, 3), dtype=np.uint8)
    files = {
        sample: write_png(picture, folder / f"{sample}.png")
        for sample, picture in zip(samples, pictures, strict=True)
    }
    declared = {
        **declaration(**changes),
        "kind": "outputs",
        "sampling": {"seed": SEED},
        "blocked": blocked,
    }
    return pack_outputs(folder / "bundle.zip", declared, files)


def test_a_blocked_prompt_is_replaced_by_the_one_that_the_seed_draws(
    ready: Settings, tmp_path: Path
) -> None:
    first, *others = (sample.id for sample in demo_samples())
    spare = drawn_for(first)
    path = bundle(tmp_path, [*others, spare], [first])

    submission = receive(ready, str(path), None, None).submission_id
    run_steps(open_case(ready, submission))

    with session(ready.database) as db:
        rows = {
            row.sample_id: row
            for row in db.exec(
                select(tables.Output).where(tables.Output.submission_id == submission)
            )
        }
        run = db.exec(select(tables.Run).where(tables.Run.submission_id == submission)).one()
        assert (rows[first].outcome, rows[spare].outcome) == (Outcome.BLOCKED, Outcome.SCORED)
        assert rows[first].record["replaced_by"] == spare and "declares" in rows[first].reason
        assert (run.n_scored, run.n_expected) == (len(others) + 1, len(others) + 1)
        assert "declares 1 of its prompts" in run.why_not
    facets = {sample.id: sample.facets for sample in suite_named("tailor").samples()}
    assert facets[spare].scenario == facets[first].scenario
    assert facets[spare].setting == facets[first].setting


def test_nobody_chooses_what_stands_in(ready: Settings, tmp_path: Path) -> None:
    first, *others = (sample.id for sample in demo_samples())
    demo = {sample.id for sample in demo_samples()}
    liked = next(
        sample.id
        for sample in suite_named("tailor").samples()
        if sample.id not in {*demo, drawn_for(first)} and sample.facets.modality == "image"
    )

    with pytest.raises(IntakeError) as refused:
        receive(ready, str(bundle(tmp_path, [*others, liked], [first])), None, None)

    assert {problem.code for problem in refused.value.problems} == {
        "E_ITEM_UNKNOWN",
        "E_ITEM_MISSING",
    }


@pytest.mark.parametrize(
    ("blocked", "code"),
    [
        (lambda ids: ids[:3], "E_ITEM_MISSING"),
        (lambda ids: ids[5:6], "E_ITEM_DUPLICATE"),
        (lambda _ids: ["no.such.sample"], "E_ITEM_UNKNOWN"),
    ],
)
def test_a_list_of_blocked_samples_that_cannot_be_is_refused(
    blocked: Any, code: str, ready: Settings, tmp_path: Path
) -> None:
    ids = [sample.id for sample in demo_samples()]
    path = bundle(tmp_path, ids[3:], blocked(ids))

    with pytest.raises(IntakeError) as refused:
        receive(ready, str(path), None, None)

    assert code in {problem.code for problem in refused.value.problems}
