"""Whose fault the end of a model's child is: one table of rules, from its exit status and its error
to the side that pays for it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from evaluators.contracts import CannotProduce

Side = Literal["ours", "submitter"]

LIMIT_SIGNALS = (signal.SIGXCPU, signal.SIGXFSZ)
"""The kernel sends these to a process that passes a limit which the documentation names."""
MEMORY_WORDS = ("MemoryError", "DefaultCPUAllocator", "Cannot allocate memory")
ACCELERATOR_MEMORY_WORDS = (
    "OutOfMemoryError",
    "CUDA out of memory",
    "HIP out of memory",
    "MPS backend out of memory",
)
WRONG_INDEX_WORDS = ("device-side assert",)
DEVICE_WORDS = (
    "AcceleratorError",
    "CUDA error",
    "HIP error",
    "CUBLAS_STATUS",
    "CUDNN_STATUS",
    "cuDNN error",
    "NCCL error",
    "No CUDA GPUs are available",
)
DISK_WORDS = ("No space left on device", "Disk quota exceeded")


class WorkerFault(Exception):
    """The machine failed the model, not the other way round; the shard is tried again, elsewhere if
    there is another worker. `where` is the address of the worker, if it is one of a cluster."""

    where: str = ""


class MachineFault(WorkerFault):
    """The machine was too small, lost its device or its disk; however often it happens, the model
    never pays for it: in the end the submission is given back."""


class OutOfTime(MachineFault):
    """Our own time limit ended it; the next try has longer."""


class GivenBack(CannotProduce):
    """No machine of ours could run the model as often as we try; nobody is charged, and no worker
    tries again until somebody evaluates it anew."""


class TooSlow(GivenBack):
    """Our time limit ended an output as often as we try, each time later. Nothing is scored; how
    often that is free for a team is bounded, since a machine was held all the while."""


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How a child ended. `status` is as Python gives it, negative for a signal, and None while the
    process lives; `error` is what the child said, as `Kind: text`."""

    status: int | None = None
    error: str = ""
    seconds: float = 0
    memory: int | None = None

    @property
    def signal(self) -> int:
        """The signal that ended it, also where a shell in between turned it into 128 and more."""
        if self.status is None:
            return 0
        return -self.status if self.status < 0 else max(0, self.status - 128)

    def mentions(self, words: tuple[str, ...]) -> bool:
        """Say whether its error names one of these."""
        return any(word in self.error for word in words)


@dataclass(frozen=True, slots=True)
class FaultRule:
    """One row: which ends it is about, who pays, the sentence for the timeline, and what is raised
    where it is ours."""

    name: str
    applies: Callable[[ChildEnd], bool]
    side: Side
    sentence: str
    raises: type[WorkerFault] = MachineFault


RULES = (
    FaultRule(
        "wrong index",
        lambda end: end.mentions(WRONG_INDEX_WORDS),
        "submitter",
        "{error}",
    ),
    FaultRule(
        "accelerator memory",
        lambda end: end.mentions(ACCELERATOR_MEMORY_WORDS),
        "ours",
        "the accelerator had too little memory left ({error})",
    ),
    FaultRule(
        "lost device",
        lambda end: end.mentions(DEVICE_WORDS),
        "ours",
        "the accelerator failed ({error})",
    ),
    FaultRule("full disk", lambda end: end.mentions(DISK_WORDS), "ours", "a disk is full"),
    FaultRule(
        "memory limit",
        lambda end: end.mentions(MEMORY_WORDS) and end.memory is not None,
        "ours",
        "the model wants more memory than this machine gives it, {memory} bytes ({error})",
    ),
    FaultRule(
        "machine memory",
        lambda end: end.mentions(MEMORY_WORDS),
        "ours",
        "the machine had too little memory left ({error})",
    ),
    FaultRule("model error", lambda end: bool(end.error), "submitter", "{error}"),
    FaultRule(
        "too slow",
        lambda end: end.status is None,
        "ours",
        "it took over {seconds:g} seconds, which is our limit",
        OutOfTime,
    ),
    FaultRule(
        "limit signal",
        lambda end: end.signal in LIMIT_SIGNALS,
        "submitter",
        "The model passed a limit on processor time or file size ({signal}).",
    ),
    FaultRule(
        "killed",
        lambda end: end.signal > 0,
        "ours",
        "the model's process was ended by {signal}",
        WorkerFault,
    ),
    FaultRule("own exit", lambda _end: True, "submitter", "The model ended its own process."),
)
"""The first row that applies decides; the last applies to every end."""


@dataclass(frozen=True, slots=True)
class ChargedFault:
    """Who pays for an end, by which rule, in a sentence."""

    rule: str
    side: Side
    sentence: str
    raises: type[WorkerFault] = field(default=WorkerFault, repr=False)


def fault_of(end: ChildEnd) -> ChargedFault:
    """Decide by the table.

    >>> fault_of(ChildEnd(-9))
    ChargedFault(rule='killed', side='ours', sentence="the model's process was ended by SIGKILL")
    >>> fault_of(ChildEnd(1, "ValueError: no such layer")).side
    'submitter'
    """
    rule = next(rule for rule in RULES if rule.applies(end))
    sentence = rule.sentence.format(
        error=end.error, memory=end.memory, seconds=end.seconds, signal=_signal_name(end.signal)
    )
    return ChargedFault(rule.name, rule.side, sentence, rule.raises)


def reason_or_raise(end: ChildEnd) -> str:
    """The sentence for an end that is the submitter's; WorkerFault for one that is ours."""
    fault = fault_of(end)
    if fault.side == "ours":
        raise fault.raises(fault.sentence)
    return fault.sentence


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
