"""The processes of one training run: which of them this is, what it computes on, and how they wait
for each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import distributed

PATIENCE = timedelta(hours=3)
"""How long a process waits for the others: one of them may be writing a large checkpoint."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Processes:
    """This process among those of the run; alone, nothing is sent anywhere."""

    rank: int = 0
    count: int = 1
    local: int = 0

    @property
    def is_main(self) -> bool:
        """Whether this is the one that writes and prints."""
        return self.rank == 0

    def device(self, name: str) -> str:
        """The device of this process: on a machine with several GPUs, the one of its local rank.

        >>> Processes(3, 4, 3).device("cuda"), Processes(1, 2, 1).device("cpu")
        ('cuda:3', 'cpu')
        """
        return f"cuda:{self.local}" if name == "cuda" and self.count > 1 else name

    def wait(self) -> None:
        """Go on when all have come here."""
        if self.count > 1:
            distributed.barrier()

    def gather(self, part: T) -> list[T]:
        """What every process has, in the order of their ranks."""
        if self.count == 1:
            return [part]
        parts: list[Any] = [None] * self.count
        distributed.all_gather_object(parts, part)
        return parts

    def mean(self, value: torch.Tensor) -> torch.Tensor:
        """The mean of a number over all processes."""
        if self.count == 1:
            return value
        total = value.clone()
        distributed.all_reduce(total)
        return total / self.count

    def average_gradients(self, parameters: list[torch.nn.Parameter]) -> None:
        """Replace every gradient by its mean over all processes, all in one message a kind."""
        if self.count == 1:
            return
        gradients = [p.grad for p in parameters if p.grad is not None]
        for dtype in sorted({gradient.dtype for gradient in gradients}, key=str):
            same = [gradient for gradient in gradients if gradient.dtype == dtype]
            flat = torch.cat([gradient.reshape(-1) for gradient in same])
            distributed.all_reduce(flat)
            pieces = torch.split(flat / self.count, [gradient.numel() for gradient in same])
            for gradient, piece in zip(same, pieces, strict=True):
                gradient.copy_(piece.view_as(gradient))


ALONE = Processes()


def launched() -> Processes:
    """What `accelerate launch` or `torchrun` told this process; alone without them."""
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
    rank, count, local = (os.environ.get(name, "") for name in names)
    if not count.isdigit() or int(count) < 2:
        return ALONE
    return Processes(int(rank), int(count), int(local or rank))


@contextmanager
def joined(device: str) -> Iterator[Processes]:
    """This process in its run; those of one run find each other here and part at the end."""
    processes = launched()
    if processes.count == 1 or distributed.is_initialized():
        yield processes
        return
    on_gpu = device.startswith("cuda")
    if on_gpu:
        torch.cuda.set_device(processes.local)
    distributed.init_process_group("nccl" if on_gpu else "gloo", timeout=PATIENCE)
    try:
        yield processes
    finally:
        distributed.destroy_process_group()
