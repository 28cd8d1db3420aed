"""How a video world model paints: pictures pushed about and masked, codes that say what one view
tells of another, and the short course in which that is learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from evaluators.models.video_world.beginning import begin_sight
from evaluators.models.video_world.codec import PIXELS, VideoCodec
from evaluators.models.video_world.config import VideoPlan
from evaluators.models.video_world.network import ViewsNetwork
from evaluators.models.video_world.painting.painter import FINER, REACH, WarpPainter
from evaluators.models.video_world.painting.sight import ViewSight
from evaluators.models.video_world.training import prepare
from tests.models.test_video_world import TINY, recordings

EXACT = replace(TINY, latent=PIXELS)
SURE = 20.0


def exact_codec() -> VideoCodec:
    """Every pixel is a number, in the usual place; the mean is grey."""
    codec = VideoCodec(EXACT)
    codec.basis.copy_(torch.eye(PIXELS))
    codec.mean.fill_(0.5)
    return codec


def painted(painter: WarpPainter, pictures: Tensor) -> Tensor:
    """What is made of one known picture of each view, from codes that say nothing."""
    codec = exact_codec()
    codes = torch.zeros(1, 2, 1, TINY.code)
    latents = painter(codes, codes[:, :, 0], codec.latents(pictures))
    return codec.pictures(latents[:, :, 0])


def pictures() -> Tensor:
    return torch.rand(1, 2, 32, 32, 3, generator=torch.Generator().manual_seed(0))


def test_a_picture_is_pushed_as_far_as_it_is_told_and_the_other_view_rests() -> None:
    painter, shown = WarpPainter(EXACT, exact_codec()), pictures()
    across = painter.pushed.bias.data[0].view(2, -1)[0]
    across.fill_(4 * 2 / 32 / REACH)
    painter.masks.bias.data.fill_(SURE)

    made = painted(painter, shown)

    torch.testing.assert_close(made[:, 0, :, :28], shown[:, 0, :, 4:], atol=1e-3, rtol=0)
    torch.testing.assert_close(made[:, 1], shown[:, 1], atol=1e-3, rtol=0)


def test_what_is_masked_shows_the_view_s_mean_and_a_change_is_added() -> None:
    painter, shown = WarpPainter(EXACT, exact_codec()), pictures()
    seen = painter.masks.bias.data.view(2, 2, FINER * TINY.warp, -1)[:, 0]
    seen[:, :4], seen[:, 4:] = -SURE, SURE
    painter.added.bias.data[1] += 0.25

    made = painted(painter, shown)

    torch.testing.assert_close(made[0, 0, :12], torch.full((12, 32, 3), 0.5), atol=1e-3, rtol=0)
    torch.testing.assert_close(made[0, 1, 20:], shown[0, 1, 20:] + 0.25, atol=1e-3, rtol=0)


def test_the_codec_s_numbers_are_not_stored_with_the_painter() -> None:
    assert not any("basis" in name for name in ViewsNetwork(EXACT, exact_codec()).state_dict())


def test_unknown_views_tell_nothing_and_a_known_one_tells_every_view() -> None:
    torch.manual_seed(0)
    sight, codes = ViewSight(TINY), torch.randn(3, 2, 4, TINY.code)
    known = torch.tensor([[False, False], [True, False], [False, True]])
    other = codes.clone()
    other[:, 0] += 1

    told, changed = sight.tell(codes, known), sight.tell(other, known)

    assert not told[0].any() and told[1:].any(-1).all()
    assert not torch.allclose(told[1], changed[1]) and torch.equal(told[2], changed[2])


def test_a_glance_begins_with_all_its_patterns_of_change_of_one_size() -> None:
    torch.manual_seed(0)
    sight = ViewSight(TINY)
    changes = torch.randn(2, 500, 64) * torch.logspace(1, -1, 64)

    sight.begin(changes)

    glances = sight.glance(changes.transpose(0, 1)).detach()
    torch.testing.assert_close(glances.square().mean(0), torch.ones(2, TINY.glance))


def test_the_course_learns_to_paint_a_view_from_another() -> None:
    prepared = prepare(recordings(6), TINY)
    lessons, plan = prepared.lessons, VideoPlan(sight_steps=150, sight_rate=3e-3)
    torch.manual_seed(0)
    network = ViewsNetwork(TINY, prepared.codec)
    before, after = lessons.pairs(80, TINY.horizon, np.random.default_rng(1))
    known = torch.tensor([[True, False]]).expand(80, -1)

    begin_sight(network, lessons, TINY, plan)

    network.eval()
    with torch.no_grad():
        filled = network.fill_in(before, after, known)[:, 1]
        misled = network.fill_in(before, after.roll(1, 0), known)[:, 1]
    off, still, wrong = (
        (made - after[:, 1]).square().mean() for made in (filled, before[:, 1], misled)
    )
    assert off < 0.7 * still and off < 0.7 * wrong


def test_pairs_lie_in_one_recording_no_further_apart_than_asked() -> None:
    lessons = prepare(recordings(3), TINY).lessons
    numbered = tuple(
        torch.arange(17.0).view(1, 17, 1, 1).expand(2, 17, 1, 1) + 100 * number
        for number in range(3)
    )

    before, after = replace(lessons, latents=numbered).pairs(200, 5, np.random.default_rng(0))

    apart = (after - before).flatten()
    assert apart.abs().max() <= 5 and apart.abs().min() >= 1
    assert (apart > 0).sum() > (apart < 0).sum() > 0
