"""The exam of an adapted judge on clips whose truth is known: read one after the other, shared by
the processes of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.media import frame_indices
from evaluators.suites.universe.construction import split
from evaluators.suites.universe.segments import SegmentAnnotation, read_annotations, read_segment
from flows.suites.judges.bases import CannotAdapt

if TYPE_CHECKING:
    from evaluators.models.adapt.batches import Lesson
    from evaluators.models.adapt.processes import Processes


@dataclass(frozen=True, slots=True)
class ExamPaper:
    """The clips of an exam with all their questions, and the frames that are shown of them."""

    data: Path
    held: tuple[SegmentAnnotation, ...]
    frames: str


def sit_exam(
    adapter: Path,
    base: Path,
    paper: ExamPaper,
    device: str,
    processes: Processes,
    memory: int | None = None,
) -> dict[str, float]:
    """Exact match of each task and format, of the judge as it was saved; every process takes its
    share of the clips."""
    from evaluators.models.adapt.chat import teacher_of
    from evaluators.models.adapt.exam import exam
    from evaluators.models.vlm.adapter import load_onto, mask_of

    if not paper.held:
        return {}
    dtype = "fp32" if device == "cpu" else "bf16"
    model, processor = load_onto(adapter, base, dtype)
    teacher = teacher_of(model.to(device).eval(), processor, mask_of(adapter))
    mine = paper.held[processes.rank :: processes.count]
    lessons = _lessons(paper, mine)
    answers = exam(teacher, lessons, memory) if mine else []
    parts = processes.gather(_tallied(mine, answers))
    return _cells(parts)


def examine_folder(
    adapter: Path,
    data: Path,
    base: tuple[Path | None, Path | None],
    drawn: tuple[float, int],
    device: str,
    memory: int | None = None,
) -> dict[str, float]:
    """The exam of any adapter: its base is the folder that was named, or lies on the shelf; share
    and seed draw the sessions that are held out."""
    from evaluators.models.adapt.processes import joined
    from evaluators.models.device import pick_device
    from evaluators.models.generate.adapters import base_of_adapter
    from evaluators.models.vlm.adapter import CONFIG, Base, NoBase, find_base, frames_of

    folder, shelf = base
    try:
        stands_on = folder or find_base(Base(*base_of_adapter(adapter / CONFIG, "")), shelf)
    except NoBase as error:
        raise CannotAdapt(str(error)) from None
    _, held = split(read_annotations(data), *drawn)
    paper = ExamPaper(data, tuple(held), frames_of(adapter))
    with joined(pick_device(device)) as processes:
        place = processes.device(pick_device(device))
        return sit_exam(adapter, stands_on, paper, place, processes, memory)


def _lessons(paper: ExamPaper, held: Sequence[SegmentAnnotation]) -> Iterator[Lesson]:
    from evaluators.models.adapt.batches import Lesson

    for annotation in held:
        frames = read_segment(paper.data, annotation.filename).frames
        shown = frames[list(frame_indices(paper.frames, len(frames)))]
        yield Lesson(shown, tuple((pair.question, pair.answer) for pair in annotation.pairs))


def _tallied(
    held: Sequence[SegmentAnnotation], answers: Sequence[Sequence[bool]]
) -> dict[str, tuple[int, int]]:
    """Right answers and questions of each cell."""
    tally: dict[str, tuple[int, int]] = {}
    for annotation, right in zip(held, answers, strict=True):
        for pair, good in zip(annotation.pairs, right, strict=True):
            name = f"{pair.task}, {pair.format}"
            before = tally.get(name, (0, 0))
            tally[name] = (before[0] + good, before[1] + 1)
    return tally


def _cells(parts: Sequence[dict[str, tuple[int, int]]]) -> dict[str, float]:
    names = dict.fromkeys(name for part in parts for name in part)
    totals = {
        name: [sum(part.get(name, (0, 0))[k] for part in parts) for k in (0, 1)] for name in names
    }
    return {name: 100 * right / asked for name, (right, asked) in totals.items()}
