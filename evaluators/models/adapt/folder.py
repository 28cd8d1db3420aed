"""An adapted judge as a folder: the weights that were trained, the base they stand on, and how
frames are shown."""

from __future__ import annotations

import json
from pathlib import Path

from torch import Tensor

from evaluators.models.adapt.processes import ALONE, Processes
from evaluators.models.adapt.sharding import whole
from evaluators.models.adapt.strategies import trained
from evaluators.models.adapt.train import CODE, Adapted, TrainingPlan
from evaluators.models.vlm.adapter import CONFIG, JUDGE, PLAIN, WEIGHTS, Base
from evaluators.models.vlm.judge import revision

CARD = "README.md"


def base_of(folder: Path, name: str = "") -> Base:
    """A folder as the base of adapters."""
    return Base(name or f"local/{folder.resolve().name}", revision(folder)[:40])


def save_adapted(
    folder: Path,
    adapted: Adapted,
    base: Base,
    plan: TrainingPlan,
    frames: str,
    processes: Processes = ALONE,
) -> Path:
    """Write the trained weights, their base and how the judge sees; nothing else is needed to judge
    with it. The first process writes; all of them have to come here."""
    weights = _weights(adapted, processes)
    if processes.is_main:
        _write(folder, adapted, weights, base, plan, frames)
    processes.wait()
    return folder


def _weights(adapted: Adapted, processes: Processes) -> dict[str, Tensor]:
    """What was trained, in one piece; peft gathers its own."""
    if adapted.adapters is not None:
        return {}
    weights: dict[str, Tensor] = {}
    for name, tensor in trained(adapted.model):
        one_piece = whole(tensor.detach())
        if processes.is_main:
            weights[name] = one_piece.cpu().contiguous()
    return weights


def _write(
    folder: Path,
    adapted: Adapted,
    weights: dict[str, Tensor],
    base: Base,
    plan: TrainingPlan,
    frames: str,
) -> None:
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    stands_on = {"base_model_name_or_path": base.name, "revision": base.revision}
    if adapted.adapters is not None:
        adapted.adapters.save_pretrained(folder)
        adapter_config = json.loads((folder / CONFIG).read_text("utf-8"))
        (folder / CONFIG).write_text(
            json.dumps(
                {**adapter_config, "auto_mapping": None, **stands_on}, indent=2, sort_keys=True
            ),
            "utf-8",
        )
    else:
        save_file(weights, folder / WEIGHTS, {"format": "pt"})
        (folder / CONFIG).write_text(
            json.dumps({"peft_type": PLAIN, **stands_on}, indent=2, sort_keys=True), "utf-8"
        )
    (folder / JUDGE).write_text(
        json.dumps({"frames": frames, "mask": plan.mask}, indent=2), "utf-8"
    )
    (folder / CARD).write_text(_card(adapted, base, plan, frames), "utf-8")


def _card(adapted: Adapted, base: Base, plan: TrainingPlan, frames: str) -> str:
    last = adapted.losses[-20:]
    loss = f"{sum(last) / len(last):.4f}" if last else "none"
    return (
        f"# Adapted judge: {plan.strategy}\n\n"
        f"Base {base.name} at {base.revision}. {adapted.parameters:,} of {adapted.of_parameters:,} "
        "parameters trained, "
        f"{len(adapted.losses)} steps, {adapted.samples:,} clips seen, loss of the last steps "
        f"{loss}.\n"
        f"Frames {frames}, mask {plan.mask}, rate {plan.rate:g}, batch {plan.batch} x "
        f"{plan.accumulate}, "
        f"seed {plan.seed}, {plan.precision}, {CODE}.\n"
    )
