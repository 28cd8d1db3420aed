"""No listing of the files that are handed out tells an answer: a rule that opens no file and goes
by sizes, times, names and order does no better than chance, in every suite that has answers."""

from __future__ import annotations

import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from evaluators.contracts import Sample
from evaluators.suites import all_suites, suite_named
from evaluators.suites.sc3.samples import truth_of
from flows.cli.starter import chosen_samples, handed_out, new_entry
from submissions.tools.level_media import WHEN, level_media
from submissions.tools.starter import EntryFacts

Numbers = NDArray[np.float64]
NEIGHBOURS, SHUFFLES = 5, 400
SURELY_LUCK = 0.004
"""Below, a clue tells something; about thirty clues and groups are tried."""
ANSWERS: Mapping[str, Callable[[Sample], str]] = {
    "universe": lambda sample: str(sample.reference["answer"]),
    "sc3": lambda sample: str(truth_of(sample).object_placing),
}


@dataclass(frozen=True, slots=True)
class HandedOut:
    """A sample, the answer that nobody is told, and what a listing shows of its media."""

    sample: Sample
    answer: str
    place: int
    sizes: tuple[int, ...]
    times: tuple[int, ...]


CLUES: Mapping[str, Callable[[HandedOut], Sequence[float]]] = {
    "sizes": lambda listed: listed.sizes,
    "changes of size": lambda listed: [abs(step) for step in np.diff([0, *listed.sizes])],
    "times": lambda listed: listed.times,
    "name": lambda listed: listed.sample.id.ljust(24).encode()[:24],
    "order": lambda listed: [listed.place],
}


def listing(suite: str, subset: str, folder: Path) -> list[HandedOut]:
    """What a new entry's folder shows to who opens no file of its media."""
    chosen = suite_named(suite)
    new_entry(folder, EntryFacts(suite, chosen.version, subset, "Owls", "Owl", "a@b.org"), "*")
    lines = (folder / "prompts.jsonl").read_text("utf-8").splitlines()
    samples = chosen_samples(chosen, subset, "*")
    return [
        _listed(sample, ANSWERS[suite](sample), place, folder / json.loads(line)["media"])
        for place, (sample, line) in enumerate(zip(samples, lines, strict=True))
    ]


def _listed(sample: Sample, answer: str, place: int, media: Path) -> HandedOut:
    files = sorted(media.iterdir()) if media.is_dir() else [media]
    facts = [path.stat() for path in files]
    times = tuple(fact.st_mtime_ns for fact in facts)
    return HandedOut(sample, answer, place, tuple(fact.st_size for fact in facts), times)


def told(listed: Sequence[HandedOut]) -> list[str]:
    """The clues that tell something of an answer, with the task and format in which they do."""
    groups: dict[tuple[str, str], list[HandedOut]] = defaultdict(list)
    for handed in listed:
        groups[handed.sample.facets.task, handed.sample.facets.setting].append(handed)
    return [
        f"{clue} of {kind}"
        for kind, group in groups.items()
        for clue, read in CLUES.items()
        if luck([handed.answer for handed in group], numbers([read(handed) for handed in group]))
        < SURELY_LUCK
    ]


def numbers(rows: Sequence[Sequence[float]]) -> Numbers:
    """Rows of a clue on one scale."""
    table = np.array([list(row) for row in rows], float)
    return np.asarray((table - table.mean(0)) / (table.std(0) + 1e-9))


def luck(answers: Sequence[str], clue: Numbers) -> float:
    """How often shuffled answers are guessed as well as these by the nearest others."""
    codes = np.unique(np.array(answers), return_inverse=True)[1]
    distances = ((clue[:, None] - clue[None]) ** 2).sum(-1)
    np.fill_diagonal(distances, np.inf)
    near = np.argsort(distances, 1, kind="stable")[:, :NEIGHBOURS]
    dice = np.random.default_rng(0)
    target = guessed(codes, near)
    as_good = sum(guessed(dice.permutation(codes), near) >= target for _ in range(SHUFFLES))
    return (1 + as_good) / (1 + SHUFFLES)


def guessed(codes: NDArray[np.intp], near: NDArray[np.intp]) -> float:
    """Share of answers that are the most frequent one among the neighbours."""
    votes = np.apply_along_axis(np.bincount, 1, codes[near], minlength=codes.max() + 1)
    return float(np.mean(votes.argmax(1) == codes))


@pytest.mark.parametrize(
    ("suite", "subset"),
    [
        ("sc3", "full"),
        ("universe", "demo"),
        pytest.param("universe", "full", marks=pytest.mark.long),
    ],
)
def test_no_listing_of_files_tells_an_answer(suite: str, subset: str, tmp_path: Path) -> None:
    listed = listing(suite, subset, tmp_path / "entry")

    kinds: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    for handed in listed:
        kinds[handed.sample.facets.setting].add(handed.sizes)
    assert all(len(sizes) == 1 for sizes in kinds.values())
    assert {time for handed in listed for time in handed.times} == {WHEN * 10**9}
    assert told(listed) == []


def test_every_suite_that_has_answers_and_hands_media_out_is_tried_here() -> None:
    for suite in all_suites():
        answered = any("answer" in sample.reference for sample in suite.samples()[:50])

        assert not (answered and suite.hand_out) or suite.name in ANSWERS, suite.name


@pytest.mark.parametrize("clue", ["sizes", "times"])
def test_files_that_follow_the_answer_are_noticed(clue: str) -> None:
    samples = [s for s in suite_named("universe").samples() if s.facets.setting == "open_ended"]
    dice = np.random.default_rng(1)
    codes = {
        answer: n for n, answer in enumerate(sorted({ANSWERS["universe"](s) for s in samples}))
    }
    leaking = [
        HandedOut(
            sample,
            ANSWERS["universe"](sample),
            place,
            (20_000 + _leak(clue == "sizes", codes, sample) + int(dice.integers(400)),),
            (WHEN + _leak(clue == "times", codes, sample) + int(dice.integers(400)),),
        )
        for place, sample in enumerate(samples)
    ]

    assert Counter(name.split(" of ")[0] for name in told(leaking))[clue] == 2


def _leak(leaks: bool, codes: Mapping[str, int], sample: Sample) -> int:
    return leaks * 300 * codes[ANSWERS["universe"](sample)]


def test_media_that_were_made_alike_hold_what_they_held(tmp_path: Path) -> None:
    dice = np.random.default_rng(0)
    pictures = [
        np.zeros((40, 40, 3), np.uint8),
        dice.integers(256, size=(40, 40, 3), dtype=np.uint8),
    ]
    for number, picture in enumerate(pictures):
        (tmp_path / f"{number}").mkdir()
        Image.fromarray(picture).save(tmp_path / f"{number}" / "00.png")
        np.savez_compressed(tmp_path / f"{number}.npz", first=picture, told=np.array("lift"))

    level_media(tmp_path.iterdir())

    for number, picture in enumerate(pictures):
        opened = Image.open(io.BytesIO((tmp_path / f"{number}" / "00.png").read_bytes()))
        assert np.array_equal(np.asarray(opened), picture)
        with np.load(tmp_path / f"{number}.npz") as archive:
            assert np.array_equal(archive["first"], picture) and str(archive["told"]) == "lift"
    for ending in ("png", "npz"):
        assert len({path.stat().st_size for path in tmp_path.rglob(f"*.{ending}")}) == 1
    assert {path.stat().st_mtime for path in tmp_path.rglob("*")} == {WHEN}


def test_files_that_lie_beside_handed_out_media_are_left_alone(tmp_path: Path) -> None:
    own = tmp_path / "own.png"
    Image.new("RGB", (9, 9)).save(own)
    before = own.read_bytes(), own.stat().st_mtime_ns
    suite = suite_named("liva")

    names = handed_out(suite, chosen_samples(suite, "demo", "*"), tmp_path)

    assert (own.read_bytes(), own.stat().st_mtime_ns) == before
    assert {(tmp_path / name).stat().st_mtime for name in names} == {WHEN}
