"""What people read in a review of a bank: a task's prompts with their rubrics, and a published
output of each prompt."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session, and_, col, select

from infra.tables import Output, Run, Sample, Submission


@dataclass(frozen=True, slots=True)
class BankQuestion:
    """One question of a prompt's rubric, with the question that it hangs on."""

    id: str
    part: str
    text: str
    parent: str


@dataclass(frozen=True, slots=True)
class BankPrompt:
    """One prompt of a task and what is asked about its output."""

    sample_id: str
    instance: str
    setting: str
    modality: str
    scenario: str
    text: str
    asked: tuple[BankQuestion, ...]

    @property
    def words(self) -> str:
        """The name under which a fault of the prompt itself stands.

        >>> BankPrompt("a.0.predictive.image", "a.0", "predictive", "image", "", "", ()).words
        'predictive_image_prompt'
        """
        return f"{self.setting}_{self.modality}_prompt"


@dataclass(frozen=True, slots=True)
class PublishedOutput:
    """An output of a prompt that an entry on the board has."""

    sample_id: str
    media_sha256: str
    media_type: str
    model: str


def prompts(db: Session, suite: str, version: str, task: str) -> tuple[BankPrompt, ...]:
    """A task's prompts in the bank's order."""
    query = select(Sample).where(
        Sample.suite == suite, Sample.version == version, Sample.cluster == task
    )
    return tuple(map(_prompt, db.exec(query.order_by(col(Sample.position)))))


def _prompt(sample: Sample) -> BankPrompt:
    asked = (
        BankQuestion(row["id"], row.get("part", ""), row["text"], row.get("parent", ""))
        for row in sample.questions
        if row["kind"] == "yes_no"
    )
    return BankPrompt(
        sample.id,
        sample.id.removesuffix(f".{sample.setting}.{sample.modality}"),
        sample.setting,
        sample.modality,
        sample.scenario,
        sample.prompt,
        tuple(asked),
    )


def questions_of(prompts: tuple[BankPrompt, ...], task: str) -> dict[str, tuple[str, ...]]:
    """What can be faulty: the task, each instance and each prompt, with its prompts and questions
    by name; no name means the item as a whole."""
    found: dict[str, dict[str, None]] = {task: {}}
    for prompt in prompts:
        for item in (task, prompt.instance, prompt.sample_id):
            found.setdefault(item, {})[prompt.words] = None
    for prompt in prompts:
        for item in (task, prompt.instance, prompt.sample_id):
            found[item] |= dict.fromkeys(question.id for question in prompt.asked)
    return {item: ("", *names) for item, names in found.items()}


def published_outputs(
    db: Session, suite: str, version: str, instance: str
) -> dict[str, PublishedOutput]:
    """Of each prompt of an instance the output of the entry that was published last."""
    at_sample = and_(
        col(Output.sample_id) == col(Sample.id), col(Output.submission_id) == col(Submission.id)
    )
    query = (
        select(Output.sample_id, Output.media_sha256, Output.media_type, Submission.model)
        .select_from(Run)
        .join(Submission, col(Submission.id) == col(Run.submission_id))
        .join(Sample, and_(col(Sample.suite) == suite, col(Sample.version) == version))
        .join(Output, at_sample)
        .where(Run.suite == suite, Run.suite_version == version, Run.state == "published")
        .where(Submission.role == "entry", Submission.trust != "C", Output.outcome == "scored")
        .where(col(Sample.id).startswith(f"{instance}.", autoescape=True))
        .where(Output.media_sha256 != "")
        .order_by(col(Run.published_at), col(Run.id))
    )
    return {row[0]: PublishedOutput(*row) for row in db.execute(query)}
