"""An operator's private samples: models that we run answer them too, and only aggregates ever leave
the server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flows.evaluate.score import scores_of
from flows.publish.private_gap import PrivateScores
from flows.run.answers import load_answers
from flows.run.case import EvaluationCase, Stopped
from flows.workers.samples import private_samples
from infra.db import session


def private_case(case: EvaluationCase) -> EvaluationCase | None:
    """The same submission with the private samples of its modalities in place of the open ones;
    None where no bank is mounted or the outputs were made elsewhere."""
    if case.submission.kind == "outputs" or case.settings.private is None:
        return None
    try:
        bank = private_samples(case.suite.name, Path(case.settings.private))
    except ValueError as error:
        raise Stopped("E_PRIVATE_BANK", "ours", str(error)) from None
    modalities = case.submission.manifest["modalities"]
    samples = tuple(sample for sample in bank if sample.facets.modality in modalities)
    return replace(case, chosen=samples) if samples else None


def private_scores(case: EvaluationCase) -> PrivateScores:
    """Scores on the private samples from what is stored; none where there are no such samples."""
    private = private_case(case)
    if private is None:
        return PrivateScores((), ())
    with session(case.settings.database) as db:
        answered = load_answers(db, case.suite, case.run, private.samples, private.requests)
    return PrivateScores(private.samples, scores_of(case.suite, answered))
