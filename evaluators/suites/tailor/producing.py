"""How TailOR makes outputs from a handed-in model: prompt in, picture or clip out."""

from __future__ import annotations

from evaluators.contracts import Generator, Production


def produce(production: Production) -> Generator:
    """Any diffusers text-to-image or text-to-video folder, or a LoRA on one, with the settings its
    team declared."""
    from evaluators.models.device import pick_device
    from evaluators.models.generate.diffusion import DiffusionGenerator
    from evaluators.models.generate.settings import sampling_of

    seed = production.sampling["seed"]
    assert isinstance(seed, int)
    device, sampling = pick_device(production.device), sampling_of(production.sampling)
    return DiffusionGenerator(
        production.folder,
        sampling,
        seed=seed,
        device=device,
        shelf=production.shelf,
        base=production.base,
    )
