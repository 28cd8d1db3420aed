"""The experiment in a minute: two short recordings, a model that hardly learns, one start of each
policy; nothing of it is quoted, and the gates refuse what it did not learn."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from evaluators.models.robots.annotator import shipped_annotator
from evaluators.models.video_world.config import VideoPlan, VideoWorldConfig
from evaluators.models.video_world.gates import GateReport
from evaluators.models.video_world.lessons import Recording
from evaluators.models.video_world.table_course import (
    TableCourse,
    TablePractice,
    part_practice,
)
from evaluators.models.video_world.world import open_world
from evaluators.suites.sc3.samples import recording_of, samples
from evaluators.worlds.tabletop.library import make_practice, read_practice
from tests.bench import sc3_models
from tests.bench.sc3 import by_chance, experiment, proven_by_all, show
from tests.bench.sc3_lines import Line
from tests.bench.sc3_models import FULL, VARIANTS, Effort
from tests.bench.sc3_rolled import RolledStart
from tests.bench.sc3_tables import tables
from tests.bench.sc3_views import ROLLED, Pairs, explained, patterns_of, rollout_table
from tests.suites.sc3.rolled import model_folder
from tests.worlds.stages import open_stage

pytestmark = pytest.mark.xdist_group("sc3 experiment")

SHORT = Effort(
    course=TableCourse(
        config=VideoWorldConfig(latent=8, hidden=32, depth=1, heads=2, motion=16, steps=2),
        plan=VideoPlan(steps=6, batch=2, motion_steps=20, sight_steps=5, warm_up=2),
    ),
    starts=1,
    seeds=(0,),
    variants=(FULL,),
    clips=6,
)
PASSED = GateReport(9, 0.9, (0.9,), 0.1, 2.0, 0.99, 20.0, 21.5, 15.0, 1.0)


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[list[Line], list[GateReport]]:
    open_stage()
    folder = tmp_path_factory.mktemp("experiment")
    effort = replace(SHORT, practice=folder / "practice")
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setattr(sc3_models, "practise_table", two_episodes)
        return experiment(folder / "kept", effort, pool)


def two_episodes(_course: TableCourse, cache: Path, _told: object) -> TablePractice:
    """One to learn from and one to be measured on."""
    return part_practice([read_practice(path) for path in make_practice(["0003", "0007"], cache)])


def printed(lines: Sequence[Line], reports: Sequence[GateReport]) -> str:
    console = Console(width=260, file=StringIO())
    show(lines, reports, console)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_a_model_that_hardly_learned_passes_no_gate_and_its_tables_are_not_printed(
    made: tuple[list[Line], list[GateReport]],
) -> None:
    lines, reports = made

    words = printed(lines, reports)

    assert "gates: failed inverse R²" in words and "Not printed: early termination" in words
    assert "Table 5: " not in words and "full, stopped by chance" not in words
    assert "second real run: the ceiling" in words and "Table 6" in words


def test_with_gates_passed_all_tables_are_printed_beside_ceiling_codec_and_fakes(
    made: tuple[list[Line], list[GateReport]],
) -> None:
    words = printed(made[0], [PASSED])

    assert all(f"Table {number}" in words for number in (1, 2, 4, 5, 6))
    for name in ("through the codec", "never grasps", "grey", "frozen", "criterion mean"):
        assert name in words
    assert "full, stopped by chance" in words and "as many by chance (50%)" in words


def test_a_stopped_model_stops_as_often_as_its_placebo(
    made: tuple[list[Line], list[GateReport]],
) -> None:
    stopped = {
        line.evaluator: line.values["stopped"]
        for line in made[0]
        if line.mode == "online" and line.split == "pooled" and "full" in line.evaluator
    }

    assert stopped["full"] == stopped["full, stopped by chance"]
    assert stopped["full, never stopped"] == 0


def test_a_variant_s_row_is_shown_only_if_the_mode_it_lacks_was_learned() -> None:
    names = ["full", "full, never stopped", *(variant.name for variant in VARIANTS[1:])]
    lines = [Line(name, 0, "online", "pooled", {"pearson_r": 0.5}) for name in names]

    def shown(proven: set[str]) -> list[str]:
        table = list(tables(lines, proven))[1]
        return list(table.columns[0].cells)  # type: ignore[arg-type]

    assert shown({"forward", "inverse", "cross_view"}) == names
    assert "without inverse" not in shown({"forward", "cross_view"})
    assert shown({"forward"}) == ["full, never stopped", "forward only"]
    assert shown(set()) == []


def test_a_cell_says_how_many_seeds_have_a_number_and_offline_nothing_hangs_on_the_inverse() -> (
    None
):
    values = (0.5, None, None)
    lines = [Line("full", seed, "offline", "pooled", {"pearson_r": r, "mean_u": 1.0})
             for seed, r in enumerate(values)]  # fmt: skip

    beside = list(tables(lines, {"forward"}))[2]

    cells = [list(column.cells) for column in beside.columns]
    assert cells[0] == ["full"] and cells[2] == ["0.500 (1 of 3 seeds)"] and cells[-1] == ["—"]


def test_a_mode_counts_as_learned_only_if_every_seed_passed() -> None:
    dead = replace(PASSED, psnr_cross_view=20.1)

    assert proven_by_all([PASSED, dead]) == {"forward", "inverse"}


def test_a_rollout_is_stopped_before_the_first_chunk_over_tau_and_placebos_keep_the_stops() -> None:
    nothing, lifted = (False, False, False), (True, True, False)
    rollout = RolledStart(
        "s", 1, "in_distribution", "online", lifted, (nothing, lifted, lifted), (0.1, 0.9)
    )

    assert rollout.stop(0.5) == 1 and rollout.stop(1.0) is None and rollout.stop(None) is None
    (held,) = rollout.match(0).rollout or ()
    assert not held.object_lifting
    assert sorted(map(str, by_chance([1, None, 2, None], 3))) == ["1", "2", "None", "None"]


def test_a_rollout_read_as_it_goes_is_what_the_board_reads_in_each_of_its_beginnings() -> None:
    recording, annotator = recording_of(samples()[0]), shipped_annotator()
    shown, counts = recording.kept_frames(), (1, 13, 33)

    read = annotator.read_as_it_goes(shown, recording.start.instruction, counts)

    each = [annotator.read(shown[:, :count], recording.start.instruction) for count in counts]
    assert read == each and len(set(read)) > 1


def test_another_effort_is_kept_elsewhere_and_more_seeds_of_it_beside_the_others() -> None:
    assert SHORT.folder() == SHORT.folder() != replace(SHORT, starts=6).folder()
    assert SHORT.folder() == replace(SHORT, seeds=(0, 1)).folder()


def test_a_known_view_explains_another_that_follows_from_it_and_a_shuffled_one_nothing() -> None:
    torch.manual_seed(0)
    first = torch.randn(4000, 12) * 10
    change = torch.stack([first, first @ torch.randn(12, 12), torch.randn(4000, 12)], dim=1)
    learned, measured = (
        Pairs(torch.randn(2000, 3, 12), part, torch.randn(2000, 7))
        for part in torch.split(change, 2000)
    )
    patterns = patterns_of(learned.change)

    alone, told, useless = (
        explained(learned, measured, patterns, 1, given) for given in (-1, 0, 2)
    )

    assert abs(alone) < 0.1 and abs(useless) < 0.1 and told > 0.5


def test_rollouts_with_a_view_known_throughout_stand_beside_those_with_nothing_known(
    tmp_path: Path,
) -> None:
    world, rng = open_world(model_folder(tmp_path / "small")), np.random.default_rng(0)
    frames = rng.integers(0, 255, (3, ROLLED + 1, 64, 64, 3), dtype=np.uint8)
    film = Recording(frames, rng.uniform(-1, 1, (ROLLED, 7)).astype(np.float32))

    shown = rollout_table(world, [film])

    views, known = (list(column.cells) for column in shown.columns[:2])
    assert [known[row] for row, view in enumerate(views) if view == "front"] == [
        "nothing", "agent", "wrist", "the first frame for ever",
    ]  # fmt: skip
    assert all(0 < float(str(cell)) < 60 for cell in shown.columns[-1].cells)
