"""How outputs come about: generated around a handed-in model, cut into pieces, or replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evaluators.contracts.outcomes import Json
from evaluators.contracts.samples import Output, Part, Sample

if TYPE_CHECKING:
    from evaluators.agents.agent import Agent
    from evaluators.agents.video_model import VideoModel


class Generator(Protocol):
    """Makes one output a sample into a folder; a failed item is an output with its outcome, not an
    exception."""

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]: ...


class CannotProduce(Exception):
    """Nothing can be made on this machine, whatever is tried again; the message says what an
    operator has to do."""


@dataclass(frozen=True, slots=True)
class Production:
    """What a suite makes outputs with: the handed-in model's folder, how to sample, and where to
    compute.

    `revision` tells one handed-in model from another. On the `shelf` lie base models for adapters,
    as `<organisation>--<name>/<revision>`, and `base` is the one that the manifest names, as
    `org/name@revision`. In `private` lie the banks that an operator mounted. `agent` is there for a
    suite that runs one around the model, and with it `video`, the model itself: as the suite's
    `film` opened it elsewhere, or behind an API, and then nothing of it is in the folder.
    """

    folder: Path
    sampling: Mapping[str, Json]
    device: str
    shelf: Path | None = None
    private: Path | None = None
    revision: str = ""
    agent: Agent | None = None
    video: VideoModel | None = None
    base: str = ""


@dataclass(frozen=True, slots=True)
class Generation:
    """How a suite generates outputs with a handed-in model.

    `produce` makes a generator around the model. A suite that runs an agent around the model brings
    `film` too: it opens the video model, in a process of its own, and only that. `prepare` makes
    what the samples show before a model is asked: the model's process is fenced in and could not.
    """

    produce: Callable[[Production], Generator]
    film: Callable[[Production], VideoModel] | None = None
    prepare: Callable[[Sequence[Sample]], None] | None = None

    @property
    def runs_agent(self) -> bool:
        """Whether the model is called by an agent rather than once a sample."""
        return self.film is not None


TakeOver = Callable[
    [Sample, Path, Sequence[Mapping[str, Json]], Path, Callable[[Path], str]], Mapping[str, Json]
]
"""From a sample, its handed-in file, the steps declared in it, a folder for files in work, and a
function that keeps a file and returns its SHA-256, to what is recorded with the output; a
ValueError refuses the file."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Outputs that are judged piece by piece, the clips of a longer video say.

    `take_over` cuts a handed-in file along the steps declared with it; `parts` are the pieces of an
    output that a judge is shown. The ids of their questions are unique within the output.
    """

    take_over: TakeOver
    parts: Callable[[Sample, Output], tuple[Part, ...]]


@dataclass(frozen=True, slots=True)
class Replay:
    """Outputs that are trajectories, read by rule and shown beside what really happens.

    `read` returns what scoring needs to know of a trajectory's file; a ValueError refuses the file.
    `real` is a file of what really happens from the same start; it goes into the store, and its
    hash stands in `record["real"]`. `read_yardstick` reads rows of our own beside the ranking,
    where those may say what an entry may not.
    """

    read: Callable[[Sample, Path], Mapping[str, Json]]
    real: Callable[[Sample], bytes]
    read_yardstick: Callable[[Sample, Path], Mapping[str, Json]] | None = None
