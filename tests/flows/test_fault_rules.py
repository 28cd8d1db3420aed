"""Whose fault the end of a model's child is, row by row of the table."""

from __future__ import annotations

import signal

import pytest

from flows.workers.confined.fault_rules import (
    RULES,
    ChildEnd,
    MachineFault,
    OutOfTime,
    WorkerFault,
    fault_of,
    reason_or_raise,
)

ROWS = [
    ("wrong index", "submitter", ChildEnd(error="RuntimeError: CUDA error: device-side assert")),
    ("accelerator memory", "ours", ChildEnd(error="OutOfMemoryError: CUDA out of memory.")),
    (
        "accelerator memory",
        "ours",
        ChildEnd(error="Out of memory with a batch of one: CUDA out of memory."),
    ),
    ("lost device", "ours", ChildEnd(error="AcceleratorError: CUDA error: ECC error")),
    ("lost device", "ours", ChildEnd(error="RuntimeError: No CUDA GPUs are available")),
    ("full disk", "ours", ChildEnd(error="OSError: [Errno 28] No space left on device")),
    ("memory limit", "ours", ChildEnd(error="MemoryError: ", memory=4 << 30)),
    ("machine memory", "ours", ChildEnd(error="MemoryError: ")),
    ("model error", "submitter", ChildEnd(error="ValueError: no such layer")),
    ("model error", "submitter", ChildEnd(error="OSError: [Errno 27] File too large")),
    ("too slow", "ours", ChildEnd(seconds=3)),
    ("limit signal", "submitter", ChildEnd(-signal.SIGXCPU)),
    ("killed", "ours", ChildEnd(-signal.SIGKILL)),
    ("killed", "ours", ChildEnd(128 + signal.SIGKILL)),
    ("killed", "ours", ChildEnd(-signal.SIGTERM)),
    ("killed", "ours", ChildEnd(-signal.SIGSEGV)),
    ("own exit", "submitter", ChildEnd(0)),
    ("own exit", "submitter", ChildEnd(3)),
]


@pytest.mark.parametrize(("rule", "side", "end"), ROWS)
def test_an_end_falls_under_its_row(rule: str, side: str, end: ChildEnd) -> None:
    fault = fault_of(end)

    assert (fault.rule, fault.side) == (rule, side)


def test_no_row_of_the_table_is_without_an_end() -> None:
    assert {rule.name for rule in RULES} == {name for name, _, _ in ROWS}


def test_a_fault_of_ours_is_raised_and_one_of_the_submitter_is_a_reason() -> None:
    with pytest.raises(WorkerFault, match="ended by SIGKILL"):
        reason_or_raise(ChildEnd(-9))

    assert reason_or_raise(ChildEnd(0)) == "The model ended its own process."


def test_memory_devices_and_our_own_limit_are_never_the_model_s_to_pay() -> None:
    never = {rule.name for rule in RULES if issubclass(rule.raises, MachineFault)}
    ours = {rule.name for rule in RULES if rule.side == "ours"}

    assert ours - never == {"killed"}
    with pytest.raises(OutOfTime, match="over 3 seconds, which is our limit"):
        reason_or_raise(ChildEnd(seconds=3))
    with pytest.raises(MachineFault, match="wants more memory than this machine gives"):
        reason_or_raise(ChildEnd(error="MemoryError: ", memory=4 << 30))
