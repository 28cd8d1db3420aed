"""A private bank that an operator keeps beside the open one: the same files, never in this
repository."""

from __future__ import annotations

from pathlib import Path

from evaluators.contracts import Sample
from evaluators.suites.tailor.bank import Bank, NotABank, public, read, samples_of
from evaluators.suites.tailor.checks import findings
from evaluators.suites.tailor.wording import BankFinding, prompts

PREFIX = "private."
"""Ids of private samples begin so; whatever goes to a reader or a submitter leaves them out."""
SHOWN = 20


class UnsoundBank(ValueError):
    """The private bank cannot be used; the message lists what is wrong with it."""


def load(folder: Path) -> Bank:
    """Read a private bank and check it, also against the open one; UnsoundBank lists findings."""
    if absent := [name for name in ("actions.jsonl", "tasks") if not (folder / name).exists()]:
        raise UnsoundBank(
            f"{folder} has no {', '.join(absent)}. A bank is `actions.jsonl` and `tasks/` with one "
            "JSON file a task, as `data/` has them."
        )
    try:
        bank = read(folder)
    except NotABank as error:
        raise UnsoundBank(f"The bank in {folder} cannot be read: {error}") from None
    if bank_findings := findings(bank) or _shared(bank, public()):
        listed = "; ".join(
            f"{finding.where}: {finding.problem}" for finding in bank_findings[:SHOWN]
        )
        raise UnsoundBank(
            f"The bank in {folder} has {len(bank_findings)} findings: {listed}. Correct them and "
            "load it again."
        )
    return bank


def samples(folder: Path) -> tuple[Sample, ...]:
    """The private prompts as samples, their ids and clusters marked as private."""
    return samples_of(load(folder), PREFIX)


def is_private(sample_id: str) -> bool:
    """Whether an id must stay on the server.

    >>> is_private("private.cut_rope.0.predictive.image"), is_private("cut_rope.0.predictive.image")
    (True, False)
    """
    return sample_id.startswith(PREFIX)


def _shared(bank: Bank, open_bank: Bank) -> tuple[BankFinding, ...]:
    """Tasks and prompts that the open bank has already: known to everybody, so of no use here."""
    ids, texts = (
        {row["task_id"] for row in open_bank.tasks},
        {prompt.text for prompt in prompts(open_bank)},
    )
    return (
        *(
            BankFinding(row["task_id"], "the open bank has a task of this id")
            for row in bank.tasks
            if row["task_id"] in ids
        ),
        *(
            BankFinding(new_prompt.where, "the open bank has this prompt")
            for new_prompt in prompts(bank)
            if new_prompt.text in texts
        ),
    )
