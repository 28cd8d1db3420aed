"""From eight votes a question, or from the game itself, to the numbers of one rollout."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from evaluators.contracts import (
    SUBMITTER_FAILURES,
    Answer,
    JudgeCard,
    Outcome,
    Output,
    Question,
    Sample,
    Score,
)
from evaluators.metrics.voting import Ticket, Vote, majority_vote
from evaluators.suites.universe.boards.worlds.bank import YES_NO, subject_of
from evaluators.suites.universe.boards.worlds.showings import SHOWINGS
from evaluators.suites.universe.questions import BINARY, NO, TASKS, YES

VOTES_SEED = 17
NEARER = 0.5
"""dB above a frozen frame from which on a rollout is nearer: below it, compression decides."""
JUDGED = ("score", "judged_action", "judged_character", "vote_agreement")
BY_RULE = ("followed", "recovered", "gain", "psnr", "psnr_early", "ssim")
OWN_JUDGE = JudgeCard(
    name="the game itself",
    kind="auto",
    model="rule",
    revision="1",
    prompt_sha256="",
    decoding="frames compared with the true continuation; a trained probe reads the action",
    frames="",
    precision="",
    code="universe-truth-1",
    note="No model judges here: the recorded game knows what follows.",
)


def score(sample: Sample, output: Output, answers: Mapping[str, Answer]) -> tuple[Score, ...]:
    """What a judge sees of a rollout, and beside it what the game says."""
    by_rule = score_by_rule(sample, output, answers)
    if output.outcome in SUBMITTER_FAILURES:
        return (*(Score(sample.id, name, output.outcome) for name in JUDGED), *by_rule)
    votes = {question.id: vote(sample, question, answers) for question in sample.questions}
    if any(result.answer is None for result in votes.values()):
        missing = _why_missing(answers)
        return (*(Score(sample.id, name, missing) for name in JUDGED), *by_rule)
    right = {subject_of(task): _is_right(sample, task, votes) for task in TASKS}
    values = {
        "score": 100 * fmean(right.values()),
        "judged_action": 100.0 * right["action"],
        "judged_character": 100.0 * right["character"],
        "vote_agreement": 100 * fmean(v.count / len(SHOWINGS) for v in votes.values()),
    }
    said = {name: str(result.answer) for name, result in votes.items()}
    judged = (
        Score(sample.id, name, Outcome.SCORED, values[name], {"votes": dict(said)})
        for name in JUDGED
    )
    return (*judged, *by_rule)


def score_by_rule(
    sample: Sample, output: Output, _answers: Mapping[str, Answer]
) -> tuple[Score, ...]:
    """What the game says of a rollout."""
    if output.outcome in SUBMITTER_FAILURES:
        return tuple(Score(sample.id, name, output.outcome) for name in BY_RULE)
    found = output.record.get("value")
    if not isinstance(found, dict):
        return tuple(Score(sample.id, name, Outcome.JUDGE_ERROR) for name in BY_RULE)
    numbers = {name: float(str(found[name])) for name in ("gain", "psnr", "psnr_early", "ssim")}
    recovered = found["read"] == label_of(sample, "action")
    values = {
        "followed": 100.0 * (recovered and numbers["gain"] > NEARER),
        "recovered": 100.0 * recovered,
        **numbers,
    }
    detail = {"read": str(found["read"])}
    return tuple(Score(sample.id, name, Outcome.SCORED, values[name], detail) for name in BY_RULE)


def vote(sample: Sample, question: Question, answers: Mapping[str, Answer]) -> Vote:
    """What most of the eight showings are answered with; a failed answer is no vote."""
    given = [answers.get(f"{showing}/{question.id}") for showing in SHOWINGS]
    words = [answer.value if answer else None for answer in given]
    return majority_vote(words, Ticket(VOTES_SEED, sample.id, question.id))


def label_of(sample: Sample, subject: str) -> str:
    """The action of the buttons, or the character of the given frames."""
    labels = sample.reference["labels"]
    assert isinstance(labels, dict)
    return str(labels[subject])


def _is_right(sample: Sample, task: str, votes: Mapping[str, Vote]) -> bool:
    """Whether the menu's vote is the label, or both votes of a pair are right."""
    subject = subject_of(task)
    label = label_of(sample, subject)
    if sample.facets.setting != YES_NO:
        return votes[subject].answer == label.lower()
    true = next(text.format(label=label) for name, text in BINARY.items() if name == task)
    asked = [question for question in sample.questions if question.id.startswith(subject)]
    return all(votes[q.id].answer == (YES if q.text == true else NO) for q in asked)


def _why_missing(answers: Mapping[str, Answer]) -> Outcome:
    """A question without a single vote is the judge's failure."""
    outcomes = {answer.outcome for answer in answers.values()}
    failed = Outcome.JUDGE_UNPARSABLE
    return failed if failed in outcomes else Outcome.JUDGE_ERROR
