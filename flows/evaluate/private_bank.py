"""An operator's private samples: models that we run answer them too, and only aggregates ever leave
the server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flows.evaluate import stages
from flows.publish.private_gap import PrivateScores
from flows.run.case import EvaluationCase, Stopped
from flows.workers.work import private_samples


def make_and_judge(case: EvaluationCase) -> int:
    """Let the model answer the private samples of its modalities and judge that; how many samples
    there are."""
    twin = _twin(case)
    if twin.samples:
        stages.outputs(twin)
        stages.judge(twin)
    return len(twin.samples)


def private_scores(case: EvaluationCase) -> PrivateScores:
    """Scores on the private samples from what is stored; none where nothing is mounted or generated
    here."""
    twin = _twin(case)
    return PrivateScores(twin.samples, stages.scores_of(twin) if twin.samples else ())


def _twin(case: EvaluationCase) -> EvaluationCase:
    """The same submission with the private samples in place of the open ones; none for outputs made
    elsewhere."""
    if case.submission.kind == "outputs" or case.settings.private is None:
        return replace(case, chosen=())
    try:
        found = private_samples(case.suite.name, Path(case.settings.private))
    except ValueError as error:
        raise Stopped("E_PRIVATE_BANK", "ours", str(error)) from None
    modalities = case.submission.manifest["modalities"]
    return replace(case, chosen=tuple(one for one in found if one.facets.modality in modalities))
