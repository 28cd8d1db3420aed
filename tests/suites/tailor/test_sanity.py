"""The sanity rows are what their names say, the same each time, and fit for the door."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import Sample
from evaluators.media import probe, read_frames, read_image, write_mp4
from evaluators.suites.tailor import sanity, scenes
from evaluators.suites.tailor.bank import samples
from submissions.media.facts import inspect

SAMPLES = samples()
PICTURE, CLIP = SAMPLES[0], SAMPLES[1]


def moving(folder: Path, sample: Sample) -> Path:
    """A clip whose frames brighten, so that their order can be read off."""
    frames = np.stack([np.full((32, 48, 3), 20 + 25 * step, np.uint8) for step in range(8)])
    return write_mp4(frames, folder / f"{sample.id}-own.mp4", 8)


def test_black_is_black_and_noise_fills_the_whole_range() -> None:
    drawn = sanity.noise(PICTURE)

    assert not sanity.black(PICTURE).any()
    assert (drawn.min(), drawn.max()) == (0, 255)
    assert abs(float(drawn.mean()) - 127.5) < 1


def test_noise_differs_between_samples_and_frames_but_not_between_runs() -> None:
    first = sanity.noise(CLIP)

    assert np.array_equal(first, sanity.noise(CLIP))
    assert not np.array_equal(first, sanity.noise(PICTURE))
    assert not np.array_equal(first[0], first[1])


def test_a_card_shows_its_own_prompt_inside_its_edges() -> None:
    drawn = sanity.card(PICTURE)[0]

    assert not np.array_equal(drawn, sanity.card(SAMPLES[4])[0])
    assert (drawn < 128).any()
    assert (drawn[:, -2:] == 255).all() and (drawn[-2:] == 255).all()


def test_every_card_has_room_for_its_prompt() -> None:
    longest = max(SAMPLES, key=lambda sample: len(sample.prompt))

    drawn = sanity.card(longest)[0]

    assert (drawn[-2:] == 255).all() and (drawn[:, -2:] == 255).all()


@pytest.mark.parametrize("row", sanity.DRAWN, ids=lambda row: row.name)
def test_a_drawn_row_has_one_file_a_sample_that_the_door_accepts(
    row: sanity.DrawnRow, tmp_path: Path
) -> None:
    made = sanity.draw_row(row, [PICTURE, CLIP], tmp_path)

    assert list(made) == [PICTURE.id, CLIP.id]
    for sample in (PICTURE, CLIP):
        path = made[sample.id]
        assert inspect(path, path.name, sample.facets.modality).width == row.draw(sample).shape[2]


def test_a_static_clip_has_the_length_of_the_original_and_never_changes(tmp_path: Path) -> None:
    given = {CLIP.id: moving(tmp_path, CLIP)}

    made = sanity.change_row(sanity.CHANGED[0], [PICTURE, CLIP], given, tmp_path / "row")

    frames = read_frames(made[CLIP.id])
    assert list(made) == [CLIP.id]
    assert probe(made[CLIP.id]).frames == 8
    assert np.abs(frames.astype(int) - frames[0]).max() <= 2


def test_shuffled_frames_are_the_same_frames_in_another_order() -> None:
    frames = np.arange(8, dtype=np.uint8)[:, None, None, None] * np.ones((8, 2, 2, 3), np.uint8)

    mixed = sanity.shuffled(CLIP, frames)

    assert sorted(mixed[:, 0, 0, 0].tolist()) == list(range(8))
    assert mixed[:, 0, 0, 0].tolist() != list(range(8))
    assert np.array_equal(mixed, sanity.shuffled(CLIP, frames))


@pytest.mark.parametrize("length", [2, 3])
def test_even_a_short_clip_comes_out_of_order(length: int) -> None:
    frames = np.arange(length, dtype=np.uint8)[:, None, None, None] * np.ones(
        (length, 2, 2, 3), np.uint8
    )

    for sample in SAMPLES[:40]:
        assert sanity.shuffled(sample, frames)[:, 0, 0, 0].tolist() != list(range(length))


def test_an_output_of_another_prompt_is_of_another_task_with_the_same_setting_and_modality() -> (
    None
):
    given = {sample.id: Path(sample.id) for sample in SAMPLES}
    by_id = {sample.id: sample for sample in SAMPLES}

    taken = sanity.of_another_prompt(SAMPLES, given)

    assert set(taken) == set(given)
    assert len(set(taken.values())) == len(given)
    for name, path in taken.items():
        own, other = by_id[name], by_id[str(path)]
        assert own.cluster != other.cluster
        assert (own.facets.setting, own.facets.modality) == (
            other.facets.setting,
            other.facets.modality,
        )


def test_with_one_task_only_there_is_no_other_prompt_to_take_from() -> None:
    assert (
        sanity.of_another_prompt(
            SAMPLES[:20], {sample.id: Path(sample.id) for sample in SAMPLES[:20]}
        )
        == {}
    )


def test_a_card_can_be_read_back_from_its_file(tmp_path: Path) -> None:
    made = sanity.draw_row(sanity.DRAWN[2], [PICTURE], tmp_path)

    assert np.array_equal(read_image(made[PICTURE.id]), sanity.card(PICTURE)[0])


def test_an_idle_scene_and_a_drawn_success_show_the_same_things_otherwise_arranged() -> None:
    for sample in SAMPLES[::97]:
        calm, done = scenes.idle(sample), scenes.success(sample)

        assert calm.shape == done.shape and calm.shape[0] == 1
        assert not np.array_equal(calm, done)
        assert np.array_equal(calm, scenes.idle(sample))
        names = scenes.things(sample)
        assert names[-1] == sample.reference["tool"] and 1 <= len(names) <= scenes.MOST_THINGS


def test_a_scene_looks_alike_for_every_tool_of_a_task_so_it_cannot_be_right_for_all() -> None:
    task = [sample for sample in SAMPLES if sample.cluster == SAMPLES[0].cluster]
    skies = {scenes.success(sample)[0, 2, 2].tobytes() for sample in task}

    assert len(skies) == 1
