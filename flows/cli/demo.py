"""The demo: the real path, end to end, with small random models and drawn pictures made on the
spot."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evaluators.contracts import Sample
from evaluators.suites import suite_named
from flows.durable.progress import advance_progress, start_progress
from flows.evaluate.door import receive
from flows.publish.seal_chain import seal_catalogue
from flows.run.catalogue import load
from flows.workers.executor import prepare
from infra.db import migrate, session
from infra.settings import Settings
from submissions.bundle.pack import pack_model, pack_outputs

Say = Callable[[str], None]
SUBSET = "demo"


def run(settings: Settings, say: Say) -> None:
    """Create the database, hand in a model and a bundle of outputs, evaluate both, publish."""
    prepare(settings)
    say("[bold]1/6[/bold] Database and catalogue: four suites and the figures their papers print.")
    migrate(settings.database)
    with session(settings.database) as db:
        load(db)
        seal_catalogue(db)
    say(
        "[bold]2/6[/bold] Small random models: a text-to-image pipeline to be ranked, a "
        "vision-language model to judge."
    )
    judge = f"vlm:{_judge_folder(settings)}"
    say(
        "[bold]3/6[/bold] Handing in a model (we generate) and a bundle of drawn pictures (they "
        "generated)."
    )
    bundles = (_model_bundle(settings), _outputs_bundle(settings))
    ids = [receive(settings, str(bundle), None, None).submission_id for bundle in bundles]
    say("[bold]4/6[/bold] Evaluating: outputs, validation, verdicts, scores.")
    for submission_id in ids:
        _evaluate(settings, submission_id, judge, say)
    say(
        "[bold]5/6[/bold] Sanity rows beside the ranking: black, noise, the prompt as text, "
        "another prompt's output."
    )
    _stand(settings, judge, say)
    _say_notices(settings, say)
    say(
        "[bold]6/6[/bold] Published. `armillary board tailor` prints the board, `armillary "
        "status` the submissions."
    )


def _evaluate(settings: Settings, submission_id: str, judge: str, say: Say) -> None:
    from flows.evaluate.flow import run_here

    result = run_here(submission_id, settings, judge)
    say(
        f"      {submission_id} is {result.state}: {result.made} outputs made, {result.judged} "
        "judged in this run."
    )


def _stand(settings: Settings, judge: str, say: Say) -> None:
    from flows.suites.yardsticks import stand

    for result in stand(settings, judge):
        if result.stopped:
            raise result.stopped
        say(f"      {result}")


def _say_notices(settings: Settings, say: Say) -> None:
    """Why nobody is ranked: the judge has random weights, and its exam shows it."""
    from sqlmodel import select

    from infra.tables.standing import BoardSight
    from leaderboard.queries.trust import notices

    with session(settings.database) as db:
        for notice in notices(db, db.exec(select(BoardSight.board))).values():
            if notice.text:
                say(f"      {notice.text}")


def _judge_folder(settings: Settings) -> Path:
    folder = settings.home.resolve() / "models" / "small-random-paligemma"
    if not (folder / "config.json").exists():
        from evaluators.models.small import make_paligemma

        make_paligemma(folder)
    return folder


def _model_bundle(settings: Settings) -> Path:
    """A model bundle, made once and kept, so that a second demo hands in the very same bytes."""
    bundle = settings.home / "demo" / "small-random-model.zip"
    if not bundle.exists():
        from evaluators.models.small import make_text_to_image

        folder = make_text_to_image(
            settings.home.resolve() / "models" / "small-random-text-to-image"
        )
        sampling = {"seed": 7, "steps": 2, "guidance": 5.0, "height": 64, "width": 64}
        declaration = _declaration(
            "Small random text-to-image model", "random weights, seed 0", sampling
        )
        pack_model(bundle, declaration, folder)
    return bundle


def _outputs_bundle(settings: Settings) -> Path:
    bundle = settings.home / "demo" / "drawn-pictures.zip"
    if not bundle.exists():
        folder = settings.home / "demo" / "drawn"
        folder.mkdir(parents=True, exist_ok=True)
        suite = suite_named("tailor")
        demo_samples = [
            s for s in suite.samples() if suite.subsets[SUBSET](s) and s.facets.modality == "image"
        ]
        outputs: dict[str, Path] = {}
        start_progress("drawing", len(demo_samples))
        for sample in demo_samples:
            outputs[sample.id] = _draw(sample, folder / f"{sample.id}.png")
            advance_progress("drawing")
        pack_outputs(
            bundle, _declaration("Drawn pictures (no model)", "2026-11", {"seed": 0}), outputs
        )
    return bundle


def _declaration(name: str, revision: str, sampling: dict[str, Any]) -> dict[str, Any]:
    suite = suite_named("tailor")
    return {
        "suite": suite.name,
        "suite_version": suite.version,
        "subset": SUBSET,
        "modalities": ["image"],
        "team": "Armillary demo",
        "contact": "demo@localhost",
        "model": {
            "name": name,
            "revision": revision,
            "organisation": "Armillary demo",
            "licence": "CC0-1.0",
            "open_weights": True,
        },
        "disclosure": {
            "trained_on_suite_data": "no",
            "statement": "Made on the spot for the demo; not a trained model.",
        },
        "sampling": sampling,
    }


def _draw(sample: Sample, path: Path) -> Path:
    """A plain still life: a table, a target and a tool, in colours that follow from the prompt."""
    from PIL import Image, ImageDraw

    seed = hashlib.sha256(sample.prompt.encode()).digest()
    image = Image.new(
        "RGB", (256, 192), (200 + seed[0] % 40, 205 + seed[1] % 40, 210 + seed[2] % 40)
    )
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 130, 256, 192), fill=(120 + seed[3] % 60, 90 + seed[4] % 40, 60))
    left = 30 + seed[5] % 60
    draw.ellipse(
        (left, 80, left + 70, 140), fill=(seed[6], seed[7], seed[8]), outline=(30, 30, 30), width=2
    )
    draw.rectangle(
        (140 + seed[9] % 40, 60, 160 + seed[9] % 40, 140),
        fill=(seed[10], seed[11], seed[12]),
        outline=(30, 30, 30),
    )
    image.save(path, "PNG")
    return path
