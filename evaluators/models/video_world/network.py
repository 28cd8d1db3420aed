"""One transformer over video and action tokens: forward dynamics, cross-view inpainting and inverse
dynamics, by which tokens are clean.

Actions enter as tokens and, where they are given, through the time path of every block. The network
predicts clean tokens, video from the newest frame of the context: its squares changed, or the
picture pushed about; the velocity of the flow follows from that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from diffusers.models.embeddings import get_timestep_embedding
from torch import Tensor, nn
from torch.nn import functional

from evaluators.models.video_world.codec import VideoCodec
from evaluators.models.video_world.config import VideoWorldConfig
from evaluators.models.video_world.motion import FLOW
from evaluators.models.video_world.painting.painter import WarpPainter
from evaluators.models.video_world.painting.sight import ViewSight

TIME = 32


@dataclass(frozen=True, slots=True)
class VideoClip:
    """A batch: latents [n, views, frames, squares, numbers], of which the first `context` frames
    are always known; normalised actions [n, frames, width], each leading to its frame; how many
    recorded frames a step takes [n]; the optical flow that leads to each frame [n, frames, views,
    numbers], of which only that between clean frames is ever looked at."""

    video: Tensor
    actions: Tensor
    pace: Tensor
    flow: Tensor

    def to(self, device: torch.device) -> VideoClip:
        """The same where the network is."""
        parts = (self.video, self.actions, self.pace, self.flow)
        return VideoClip(*(part.to(device) for part in parts))


@dataclass(frozen=True, slots=True)
class SeenVideo:
    """What tokens see [n, groups, views * tokens, numbers], the latents of the newest known frame
    [n, views, squares, numbers], and what else a painter goes by."""

    tokens: Tensor
    newest: Tensor
    code: Tensor | None = None
    told: Tensor | None = None


class WorldBlock(nn.Module):
    """Attention and a small network, scaled, shifted and gated by time, pace and actions."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)
        self.own = nn.Parameter(torch.randn(6 * width) * 0.02)

    def forward(self, tokens: Tensor, modulation: Tensor) -> Tensor:
        """Tokens [n, count, width]; the modulation of each [n, count, 6 width] is shared by all
        blocks but for an offset of their own."""
        shift, scale, gate, shift2, scale2, gate2 = (modulation + self.own).chunk(6, dim=-1)
        width = tokens.shape[-1:]
        attended = self._attend(functional.layer_norm(tokens, width) * (1 + scale) + shift)
        tokens = tokens + (1 + gate) * attended
        hidden = functional.layer_norm(tokens, width) * (1 + scale2) + shift2
        changed: Tensor = tokens + (1 + gate2) * self.down(functional.silu(self.up(hidden)))
        return changed

    def _attend(self, tokens: Tensor) -> Tensor:
        count, length, width = tokens.shape
        parts = self.qkv(tokens).view(count, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        # Written out: on a CPU the fused kernel takes twice as long for so few tokens.
        mixed = torch.softmax((q * q.shape[-1] ** -0.5) @ k.transpose(2, 3), dim=-1) @ v
        attended: Tensor = self.out(mixed.transpose(1, 2).reshape(count, length, width))
        return attended


class VideoNetwork(nn.Module):
    """Tokens are what each view shows over a group of frames, and groups of actions."""

    def __init__(self, config: VideoWorldConfig, tokens: int, numbers: int) -> None:
        """So many tokens a view at a moment, and numbers of each in one frame."""
        super().__init__()
        self.config, self.tokens = config, tokens
        width, act, views = config.hidden, config.action_dim * config.group, len(config.views)
        self.video_in = nn.Linear(numbers * (config.group + 1), width)
        self.video_out = nn.Linear(width, numbers * config.group)
        self.watch = nn.Sequential(
            nn.Linear(3 * views * FLOW, config.motion),
            nn.SiLU(),
            nn.Linear(config.motion, config.motion),
            nn.SiLU(),
        )
        self.action_in = nn.Linear(2 * act + config.group * config.motion, width)
        self.action_out = nn.Linear(width, act)
        self.moved = nn.Linear(config.motion, config.action_dim)
        self.action_path = nn.Sequential(
            nn.Linear(2 * act, width), nn.SiLU(), nn.Linear(width, width)
        )
        self.unknown = nn.Parameter(torch.zeros(width))
        self.time_path = nn.Sequential(nn.Linear(TIME, width), nn.SiLU(), nn.Linear(width, width))
        self.pace = nn.Parameter(torch.zeros(max(config.paces) + 1, width))
        self.modulate = nn.Linear(width, 6 * width)
        self.place = nn.Parameter(torch.randn(views * tokens + 1, width) * 0.1)
        self.moment = nn.Parameter(torch.randn(config.groups, width) * 0.1)
        self.flag = nn.Parameter(torch.randn(2, width) * 0.1)
        self.blocks = nn.ModuleList(WorldBlock(width, config.heads) for _ in range(config.depth))
        self.last = nn.LayerNorm(width)
        for layer in (self.action_out, self.moved, self.modulate):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(
        self, clip: VideoClip, time: Tensor, clean: Tensor, asked: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Clean video after the context, and actions, from noised ones. `time` [n] runs from noise
        0 to data 1; `clean` [n, views + 1] says which views, and whether the actions, are given
        clean after the context; `asked` are the frames after it that are wanted, or all."""
        config = self.config
        groups = clip.video.shape[2] // config.group
        flags = self._flags(clean, groups)
        if config.weighed:
            clip = self._weighed(clip, time, flags)
        acts = self._acts(clip.actions, clean[:, -1])
        motion = self._motion(clip.flow, flags)
        grouped = torch.unflatten(motion, 1, (groups, -1)).flatten(2)
        action = self.action_in(torch.cat([acts, grouped], 2))
        seen = self.see(clip.video, clean[:, :-1])
        tokens = torch.cat([self.video_in(seen.tokens), action[:, :, None]], 2)
        tokens = tokens + self.place + self.moment[:groups, None]
        each = self._each(flags)
        tokens = tokens + self.flag[each.long()]
        modulation = self._modulation(clip.pace, acts, time, clean)
        chosen = torch.where(each[..., None], modulation[:, :, 1:], modulation[:, :, :1])
        flat, chosen = tokens.flatten(1, 2), chosen.flatten(1, 2)
        for block in self.blocks:
            flat = block(flat, chosen)
        hidden = self.last(flat).view(tokens.shape)
        after = config.context // config.group
        ahead = self._ungrouped(self.video_out(hidden[:, after:, :-1]))
        asked = torch.arange(ahead.shape[2], device=ahead.device) if asked is None else asked
        nothing = seen.newest[:, :, None][:, :, :0]
        painted = self.paint(ahead[:, :, asked], seen, asked) if len(asked) else nothing
        return painted, self._read(hidden[:, :, -1], motion)

    def see(self, video: Tensor, known: Tensor) -> SeenVideo:
        """What the network is shown of video; views that are `known` [n, views] go to the end."""
        raise NotImplementedError

    def paint(self, ahead: Tensor, seen: SeenVideo, asked: Tensor) -> Tensor:
        """Latents [n, views, frames, squares, numbers] of what was made of the tokens, [n, views,
        frames, tokens, numbers] of the frames asked for."""
        raise NotImplementedError

    def _grouped(self, rows: Tensor) -> Tensor:
        """[n, views, frames, tokens, numbers] as what tokens see, [n, groups, views * tokens,
        numbers]: their frames, and the newest known one."""
        config = self.config
        grouped = torch.unflatten(rows, 2, (-1, config.group)).permute(0, 2, 1, 4, 3, 5).flatten(4)
        newest = rows[:, :, config.context - 1][:, None].expand(-1, grouped.shape[1], -1, -1, -1)
        return torch.cat([grouped, newest], dim=-1).flatten(2, 3)

    def _ungrouped(self, rows: Tensor) -> Tensor:
        """[n, groups, views * tokens, numbers of a group] as rows of each view and frame."""
        shape = (len(self.config.views), self.tokens, self.config.group, -1)
        parts = rows.view(*rows.shape[:2], *shape).permute(0, 2, 1, 4, 3, 5)
        return parts.flatten(2, 3)

    def _motion(self, flow: Tensor, flags: Tensor) -> Tensor:
        """What is to be seen of the motion at each step [n, frames, numbers]: the flow between
        clean frames before, at and after it."""
        shown = flags[:, :, :-1].repeat_interleave(self.config.group, dim=1)
        return torch.as_tensor(self.watch(neighbours((flow * shown[..., None]).flatten(2))))

    def _weighed(self, clip: VideoClip, time: Tensor, flags: Tensor) -> VideoClip:
        """What is noised weighs as much as can be known from it: at pure noise, where sampling
        begins, nothing."""
        known = (time / (time.square() + (1 - time).square()))[:, None, None]
        weights = torch.where(flags, 1.0, known).repeat_interleave(self.config.group, dim=1)
        video = clip.video * weights[..., :-1].transpose(1, 2)[..., None, None]
        return replace(clip, video=video, actions=clip.actions * weights[..., -1:])

    def _flags(self, clean: Tensor, groups: int) -> Tensor:
        """Which moments of each view, and of the actions, are clean: [n, groups, views + 1]."""
        in_context = (
            torch.arange(groups, device=clean.device) < self.config.context // self.config.group
        )
        return clean[:, None] | in_context[None, :, None]

    def _each(self, flags: Tensor) -> Tensor:
        """The flag of every token [n, groups, views * tokens + 1]."""
        views = flags[:, :, :-1].repeat_interleave(self.tokens, dim=2)
        return torch.cat([views, flags[:, :, -1:]], dim=2)

    def _acts(self, actions: Tensor, given: Tensor) -> Tensor:
        """Actions in groups beside their sums since the context, which only given actions have:
        [n, groups, numbers]."""
        context = self.config.context
        ahead = actions[:, context:].cumsum(1) / 6 * given[:, None, None]
        sums = torch.cat([torch.zeros_like(actions[:, :context]), ahead], dim=1)
        both = torch.cat([actions, sums], dim=-1)
        return torch.unflatten(both, 1, (-1, self.config.group)).flatten(2)

    def _modulation(self, pace: Tensor, acts: Tensor, time: Tensor, clean: Tensor) -> Tensor:
        """Of noised and of clean tokens at each moment: [n, groups, 2, 6 width]."""
        times = torch.stack([time, torch.ones_like(time)], dim=1)
        embedded = self.time_path(get_timestep_embedding(times.flatten() * 1000, TIME))
        rows = embedded.view(len(time), 1, 2, -1) + self.pace[pace][:, None, None]
        commanded = torch.where(clean[:, -1, None, None], self.action_path(acts), self.unknown)
        modulation: Tensor = self.modulate(functional.silu(rows + commanded[:, :, None]))
        return modulation

    def _read(self, hidden: Tensor, motion: Tensor) -> Tensor:
        """The actions, of which the motion seen at each step alone tells a part."""
        rows = torch.unflatten(self.action_out(hidden), 2, (self.config.group, -1)).flatten(1, 2)
        return torch.as_tensor(rows + self.moved(motion))


class SquaresNetwork(VideoNetwork):
    """Each square of a picture is a token, and each of its numbers is changed alone."""

    def __init__(self, config: VideoWorldConfig) -> None:
        super().__init__(config, config.squares, config.numbers)
        nn.init.zeros_(self.video_out.weight)
        nn.init.zeros_(self.video_out.bias)

    def see(self, video: Tensor, _known: Tensor) -> SeenVideo:
        """The latents themselves."""
        return SeenVideo(self._grouped(video), video[:, :, self.config.context - 1])

    def paint(self, ahead: Tensor, seen: SeenVideo, _asked: Tensor) -> Tensor:
        """The newest known frame, changed."""
        return ahead + seen.newest[:, :, None]


class ViewsNetwork(VideoNetwork):
    """Each view is one token, by the code of what it shows; pictures are painted from codes."""

    def __init__(self, config: VideoWorldConfig, codec: VideoCodec) -> None:
        super().__init__(config, 1, config.code)
        self.sight, self.painter = ViewSight(config), WarpPainter(config, codec)

    def see(self, video: Tensor, known: Tensor) -> SeenVideo:
        """Codes, and what those of known views tell of the others frame by frame."""
        context = self.config.context
        codes, newest = self.sight(video, video[:, :, context - 1])
        told = self.sight.tell(codes[:, :, context:], known)
        grouped = self._grouped(codes[:, :, :, None])
        return SeenVideo(grouped, video[:, :, context - 1], newest, told)

    def paint(self, ahead: Tensor, seen: SeenVideo, asked: Tensor) -> Tensor:
        """Pictures from codes."""
        assert seen.code is not None and seen.told is not None
        codes = ahead[:, :, :, 0] + seen.told[:, :, asked]
        return torch.as_tensor(self.painter(codes, seen.code, seen.newest))

    def fill_in(self, before: Tensor, after: Tensor, known: Tensor) -> Tensor:
        """All views [n, views, squares, numbers] at a moment, from their pictures at another one
        and those views that are known."""
        codes, newest = self.sight(after[:, :, None], before)
        painted: Tensor = self.painter(self.sight.tell(codes, known), newest, before)
        return painted[:, :, 0]


def network_of(config: VideoWorldConfig, codec: VideoCodec) -> VideoNetwork:
    """The network that a config asks for; one that paints pictures shares the codec."""
    return ViewsNetwork(config, codec) if config.warp else SquaresNetwork(config)


def neighbours(rows: Tensor) -> Tensor:
    """Each row of [n, frames, numbers] between the one before and the one after it."""
    none = torch.zeros_like(rows[:, :1])
    before, after = torch.cat([none, rows[:, :-1]], 1), torch.cat([rows[:, 1:], none], 1)
    return torch.cat([before, rows, after], 2)
