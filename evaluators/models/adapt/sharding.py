"""Full tuning of a model that fits on no single card: weights, gradients and moments in equal parts
on all of them (FSDP)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor

from evaluators.models.adapt.processes import Processes


def shard(learner: nn.Module, processes: Processes, device: str, precision: str) -> None:
    """Spread a learner over all processes, layer by layer; it computes in the plan's precision and
    keeps its weights in full."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = init_device_mesh(device.partition(":")[0], (processes.count,))
    low = torch.bfloat16 if precision == "bf16" else None
    policy = MixedPrecisionPolicy(param_dtype=low, reduce_dtype=torch.float32)
    for layer in layers_of(learner):
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(learner, mesh=mesh, mp_policy=policy)


def layers_of(model: nn.Module) -> list[nn.Module]:
    """The blocks that repeat: the members of the outermost lists of layers."""
    outermost: list[str] = []
    layers: list[nn.Module] = []
    for name, module in model.named_modules():
        if not isinstance(module, nn.ModuleList) or any(
            name.startswith(f"{outer}.") for outer in outermost
        ):
            continue
        outermost.append(name)
        layers += list(module)
    return layers


def whole(tensor: Tensor) -> Tensor:
    """A tensor in one piece; every process of the run has to ask for it."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def like(value: Tensor, example: Tensor) -> Tensor:
    """A value on the device of another, and cut as that one is."""
    if not isinstance(example, DTensor):
        return value.to(example.device)
    placed: Any = distribute_tensor(
        value.to(example.device), example.device_mesh, example.placements
    )
    return placed  # type: ignore[no-any-return]
