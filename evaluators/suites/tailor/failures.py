"""What went wrong in a weak output: a second, short look at low scores that names its failure
modes."""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.contracts import Answer, Failure, Json, Outcome, Question, SecondLook
from evaluators.suites.tailor.bank import YES_NO

LEAST_INTERACTION = 50.0
LEAST_REALISM = 2.5
PRIMARY = "primary_failure"
EXPECTED = "Is the final state another one than the right one, which is this?"

COMMON: Mapping[str, str] = {
    "incorrect_outcome": "Is the final state another one than this tool would bring about?",
    "physical_violation": "Is gravity, contact, solidity or the strength of a material plainly "
    "violated?",
    "affordance_misgeneralization": "Does the tool do something that its shape or material does "
    "not allow?",
}
IMAGE: Mapping[str, str] = {
    **COMMON,
    "inaccurate_attributes": "Does a named thing have another colour, material, size or number "
    "than the prompt says?",
    "instruction_adherence_failure": "Is something that the prompt asks for left out or replaced?",
}
VIDEO: Mapping[str, str] = {
    **COMMON,
    "implausible_dynamics": "Does something move, speed up or stop in a way that no real thing "
    "would?",
    "interaction_misexecution": "Is the tool held, aimed or brought to its target wrongly?",
    "temporal_inconsistency": "Does a thing appear, vanish or turn into another from frame to "
    "frame?",
}
TAXONOMY: Mapping[str, Mapping[str, str]] = {"image": IMAGE, "video": VIDEO}


def needs_a_look(scores: Mapping[str, float | None]) -> bool:
    """Whether one sample's scores are low enough for the second look; no score is no reason.

    >>> needs_a_look({"interaction_accuracy": 49.9, "physical_realism": 4})
    True
    >>> needs_a_look({"physical_realism": 2.5})
    False
    """
    accuracy, realism = scores.get("interaction_accuracy"), scores.get("physical_realism")
    return (accuracy is not None and accuracy < LEAST_INTERACTION) or (
        realism is not None and realism < LEAST_REALISM
    )


NOTHING: Mapping[str, Json] = {}


def questions(modality: str, reference: Mapping[str, Json] = NOTHING) -> tuple[Question, ...]:
    """One yes/no question a mode, since several can apply, then the choice of the worst of them;
    the one on the outcome says what the right one is, where the reference tells."""
    taxonomy = _taxonomy(modality)
    right = reference.get("expected_outcome")
    told = {"incorrect_outcome": f"{EXPECTED} {right}"} if right else {}
    per_mode = tuple(
        Question(mode, told.get(mode, text), "yes_no", part="failure", options=YES_NO)
        for mode, text in taxonomy.items()
    )
    text = "Which one of these describes the worst fault of this output best?"
    return (*per_mode, Question(PRIMARY, text, "choice", part="failure", options=tuple(taxonomy)))


def read(modality: str, answers: Mapping[str, Answer]) -> Failure:
    """The modes a judge named. The primary one applies in any case; without it nothing counts as
    primary."""
    taxonomy = _taxonomy(modality)
    chosen = _value(answers.get(PRIMARY))
    primary = chosen if chosen in taxonomy else None
    modes = tuple(
        mode for mode in taxonomy if mode == primary or _value(answers.get(mode)) == "yes"
    )
    return Failure(primary, modes)


def _taxonomy(modality: str) -> Mapping[str, str]:
    if modality not in TAXONOMY:
        raise ValueError(f"The modality is {modality!r}. Give 'image' or 'video'.")
    return TAXONOMY[modality]


def _value(answer: Answer | None) -> str | None:
    return answer.value if answer and answer.outcome is Outcome.SCORED else None


SECOND_LOOK = SecondLook(
    ("interaction_accuracy", "physical_realism"), needs_a_look, questions, read
)
