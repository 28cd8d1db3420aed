"""Two short courses before all else, from video and actions alone: what one view tells of the
others, and what the motion tells of the actions."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

from evaluators.models.video_world.config import VideoPlan, VideoWorldConfig
from evaluators.models.video_world.lessons import VideoLessons
from evaluators.models.video_world.network import VideoNetwork, ViewsNetwork, neighbours

MOTION_RATE, MOTION_BATCH = 2e-3, 64
SIGHT_BATCH, SIGHT_PAIRS, SIGHT_WARM_UP = 20, 3000, 50


def begin(
    network: VideoNetwork, lessons: VideoLessons, config: VideoWorldConfig, plan: VideoPlan
) -> None:
    """Both courses, where the network and its modes have a use for them."""
    if isinstance(network, ViewsNetwork):
        begin_sight(network, lessons, config, plan)
    begin_motion(network, lessons, config, plan)


def begin_sight(
    network: ViewsNetwork, lessons: VideoLessons, config: VideoWorldConfig, plan: VideoPlan
) -> None:
    """Codes begin as what tells all views at a moment from one of them and an older picture of each
    (of one view: its own), so that painting is learned before what actions do."""
    from diffusers.optimization import get_cosine_schedule_with_warmup

    rng, apart = np.random.default_rng(plan.seed), config.horizon
    before, after = lessons.pairs(SIGHT_PAIRS, apart, rng)
    network.sight.begin((after - before).flatten(2).transpose(0, 1))
    learned = [*network.sight.parameters(), *network.painter.parameters()]
    optimiser = torch.optim.AdamW(learned, plan.sight_rate, (0.9, 0.99), weight_decay=plan.decay)
    slower = get_cosine_schedule_with_warmup(optimiser, SIGHT_WARM_UP, max(plan.sight_steps, 1))
    network.train()
    for _ in range(plan.sight_steps):
        before, after = lessons.pairs(SIGHT_BATCH, apart, rng)
        known = torch.from_numpy(rng.integers(0, len(config.views), SIGHT_BATCH))
        known = functional.one_hot(known, len(config.views)).bool()
        with torch.autocast(before.device.type, torch.bfloat16, enabled=plan.half):
            painted = network.fill_in(before, after, known)
        loss = (painted.float() - after).square().mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimiser.step()
        slower.step()


def begin_motion(
    network: VideoNetwork, lessons: VideoLessons, config: VideoWorldConfig, plan: VideoPlan
) -> None:
    """The numbers of the motion begin as those from which actions can be read, step by step."""
    flows = lessons.flows[config.paces[0]]
    rows = torch.cat([neighbours(flow[None, 1:].flatten(2))[0] for flow in flows])
    actions = torch.cat(lessons.actions)
    learned = [*network.watch.parameters(), *network.moved.parameters()]
    optimiser = torch.optim.AdamW(learned, MOTION_RATE, weight_decay=0.1)
    slower = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.01, max(plan.motion_steps, 1))
    rng = np.random.default_rng(plan.seed)
    for _ in range(plan.motion_steps):
        chosen = rng.integers(0, len(rows), MOTION_BATCH)
        shown = functional.dropout(network.watch(rows[chosen]), 0.2)
        loss = (network.moved(shown) - actions[chosen]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        slower.step()
