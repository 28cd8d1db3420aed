"""Rows beside the ranking of every board: made here, handed in at the same door, judged by the same
judge."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session, col, select

from evaluators.contracts import Outcome, Sample, Suite, Yardstick
from evaluators.judges.card import fingerprint
from evaluators.suites import all_suites
from flows.evaluate.backlog import Brought, bring, stopped
from flows.evaluate.door import receive
from flows.evaluate.judge import SUFFIXES
from flows.run.board_keys import board_key
from flows.run.output_rows import outputs_of
from flows.workers.judges import JudgeOptions, open_judge
from infra.db import session
from infra.settings import Settings
from infra.store import Store, fetch_blob, open_store
from infra.tables import Output, Run, Submission
from submissions.bundle.pack import pack_outputs

TEAM = "Armillary yardsticks"


@dataclass(frozen=True, slots=True)
class YardstickPlace:
    """A yardstick that one board should have."""

    suite: Suite
    subset: str
    board: str
    yardstick: Yardstick

    @property
    def samples(self) -> list[Sample]:
        """What it has to answer."""
        chosen, modality = self.suite.subsets[self.subset], self.yardstick.modality
        return [
            sample
            for sample in self.suite.samples()
            if chosen(sample) and sample.facets.modality == modality
        ]


def stand(settings: Settings, judge: str = "") -> Iterator[Brought]:
    """Bring every yardstick to every board of this judge that has entries; what stands there
    already stays."""
    judge = judge or settings.judge
    for place in list(_missing_places(settings, judge)):
        title = place.yardstick.title
        try:
            submission_id = _standing_submission(settings, place) or _hand_in(settings, place)
        except SQLAlchemyError:
            raise
        except Exception as error:
            yield Brought(title, "not made", stopped=stopped(error, title))
            continue
        if submission_id:
            yield bring(settings, submission_id, judge)


def _missing_places(settings: Settings, judge: str) -> Iterator[YardstickPlace]:
    with session(settings.database) as db:
        for suite in all_suites():
            for subset in suite.subsets if suite.yardsticks else ():
                options = JudgeOptions.of(settings, suite.judging)
                card = suite.own_judge or open_judge(judge, settings.device, options).card
                board = board_key(suite, subset, fingerprint(card))
                modalities = {
                    name for entry in _entries(db, board) for name in entry.manifest["modalities"]
                }
                yield from (
                    YardstickPlace(suite, subset, board, yardstick)
                    for yardstick in suite.yardsticks
                    if yardstick.modality in modalities
                )


def _entries(db: Session, board: str) -> list[Submission]:
    """Who competes on a board, first come first."""
    query = select(Submission).join(Run, col(Run.submission_id) == col(Submission.id))
    query = query.where(Run.board == board, Run.state == "published", Submission.role == "entry")
    return list(db.exec(query.order_by(col(Submission.created_at), col(Submission.id))))


def _standing_submission(settings: Settings, place: YardstickPlace) -> str | None:
    """The same yardstick from an earlier time: nothing is drawn twice, and a new donor changes
    nothing."""
    with session(settings.database) as db:
        query = select(Submission.id).where(
            Submission.suite == place.suite.name,
            Submission.suite_version == place.suite.version,
            Submission.subset == place.subset,
            Submission.role == place.yardstick.role,
            Submission.model == place.yardstick.title,
            Submission.team == TEAM,
        )
        return db.exec(query).first()


def _hand_in(settings: Settings, place: YardstickPlace) -> str | None:
    """Make the files and hand them in; None where there is nobody whose outputs could be
    spoiled."""
    settings.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="yardstick-", dir=settings.work) as folder:
        source, donated = (
            _donated_outputs(settings, place, Path(folder)) if place.yardstick.spoils else ("", {})
        )
        files = place.yardstick.make(place.samples, donated, Path(folder) / "made")
        if not files:
            return None
        declared = _declaration(place, source, partial=len(files) < len(place.samples))
        bundle = pack_outputs(Path(folder) / "bundle.zip", declared, files)
        return receive(settings, str(bundle), None, None, place.yardstick.role).submission_id


def _donated_outputs(
    settings: Settings, place: YardstickPlace, folder: Path
) -> tuple[str, dict[str, Path]]:
    """The outputs of the first entry on the board that has any of this modality, as files."""
    store = open_store(settings.objects, settings.s3_endpoint)
    names = {sample.id for sample in place.samples}
    with session(settings.database) as db:
        for entry in _entries(db, place.board):
            rows = [row for row in outputs_of(db, entry.id).values() if row.sample_id in names]
            if files := {
                row.sample_id: _file(store, row, folder)
                for row in rows
                if row.outcome == Outcome.SCORED
            }:
                return entry.id, files
    return "", {}


def _file(store: Store, row: Output, folder: Path) -> Path:
    path = folder / f"{row.media_sha256}{SUFFIXES[row.media_type]}"
    if not path.exists():
        fetch_blob(store, row.media_sha256, path)
    return path


def _declaration(place: YardstickPlace, source: str, partial: bool) -> Mapping[str, Any]:
    made_from = f"the outputs of {source}" if source else "nothing but the samples"
    statement = place.yardstick.statement or f"No model: made from {made_from}."
    return {
        "suite": place.suite.name,
        "suite_version": place.suite.version,
        "subset": place.subset,
        "modalities": [place.yardstick.modality],
        "partial": partial,
        "team": TEAM,
        "contact": "operators of this board",
        "model": {
            "name": place.yardstick.title,
            "revision": "1",
            "organisation": "Armillary",
            "licence": "CC0-1.0",
            "open_weights": True,
        },
        "disclosure": {"trained_on_suite_data": "no", "statement": statement},
        "sampling": {"seed": 0},
    }
