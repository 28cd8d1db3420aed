"""Cases of L-IVA: our own set is sound, and a mistake in a sidecar is named by its line."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluators.suites.liva.cases.canvas import HEIGHT, WIDTH
from evaluators.suites.liva.cases.case import AvatarCase, sidecar
from evaluators.suites.liva.cases.figure import hands
from evaluators.suites.liva.cases.folder import OWN, UnsoundCases, load, own, read_folder, take_in
from evaluators.suites.liva.cases.painter import PaintedObject, layout, paint, scene
from evaluators.suites.liva.cases.sidecar import SidecarFinding

GOOD = """case_id: kitchen_case14
scenario: kitchen
source: real
image: photo.png
intention: Fill the mug.
objects:
  - {id: red_mug, description: a red mug, state: empty}
  - id: kettle
    description: a kettle
subgoals:
  - The mug is full.
  - The kettle stands still.
reference_prompts:
  - The person fills the mug.
  - The person puts the kettle down.
license: CC0-1.0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Image.new("RGB", (96, 64), (9, 99, 199)).save(tmp_path / "photo.png")
    (tmp_path / "a.yaml").write_text(GOOD)
    return tmp_path


def found(folder: Path, old: str, new: str) -> tuple[SidecarFinding, ...]:
    assert old in GOOD
    (folder / "a.yaml").write_text(GOOD.replace(old, new))
    return read_folder(folder).findings


def test_our_own_set_has_thirty_five_cases_over_five_scene_families_without_a_single_finding() -> (
    None
):
    cases = read_folder(OWN)

    assert cases.findings == ()
    assert Counter(case.scenario for case in cases.cases) == {
        "garden": 7, "kitchen": 7, "laundry": 7, "office": 7, "workshop": 7,
    }  # fmt: skip


@pytest.mark.parametrize("case", own(), ids=lambda case: case.case_id)
def test_a_case_of_ours_is_whole_and_its_picture_shows_every_thing_apart(case: AvatarCase) -> None:
    drawn = layout(scene(case.case_id))

    assert 3 <= len(case.subgoals) <= 8
    assert case.license.startswith("CC0-1.0") and case.source == "synthetic"
    assert all(prompt.startswith("The person ") for prompt in case.reference_prompts)
    assert {thing.id for thing in drawn} == {thing.id for thing in case.objects}
    assert all(
        0 <= x0 < x1 <= WIDTH and 0 <= y0 < y1 <= HEIGHT
        for x0, y0, x1, y1 in (thing.box for thing in drawn)
    )
    for first, second in combinations(drawn, 2):
        assert "on" in (first.place, second.place) or apart(first, second), (first.id, second.id)


def apart(first: PaintedObject, second: PaintedObject) -> bool:
    left, right = sorted((first.box, second.box))
    return left[2] <= right[0] or left[3] <= right[1] or right[3] <= left[1]


@pytest.mark.parametrize("case", own(), ids=lambda case: case.case_id)
def test_a_hand_can_reach_every_thing(case: AvatarCase) -> None:
    drawn, figure = layout(scene(case.case_id)), scene(case.case_id).figure
    columns = hands(figure, WIDTH)

    for thing in drawn:
        x0, y0, x1, _ = thing.box
        nearest = min(abs((x0 + x1) / 2 - column) for column in columns)
        assert nearest <= 0.38 * WIDTH, thing.id
        assert y0 >= 0.15 * HEIGHT, f"{thing.id} hangs too high"


def test_people_poses_and_rooms_differ() -> None:
    scenes = [scene(case.case_id) for case in own()]

    assert (
        len({(drawn.figure.skin, drawn.figure.hair, drawn.figure.style) for drawn in scenes}) > 25
    )
    assert len({drawn.figure.pose for drawn in scenes}) == 6
    assert len({(drawn.scenario, drawn.variant) for drawn in scenes}) == 15
    depths = [thing.box[3] for drawn in scenes for thing in layout(drawn) if thing.place == "table"]
    assert max(depths) - min(depths) > 0.25 * HEIGHT


@pytest.mark.parametrize("case", own()[::7], ids=lambda case: case.case_id)
def test_no_word_is_written_into_a_picture(case: AvatarCase) -> None:
    ocr = pytest.importorskip("rapidocr_onnxruntime", reason="needs the extra `ocr`")

    with Image.open(case.image_path) as picture:
        lines, _ = ocr.RapidOCR()(np.asarray(picture.convert("RGB"))[..., ::-1])

    assert [text for _, text, sure in lines or [] if float(sure) > 0.6 and len(text) > 1] == []


def test_intentions_subgoals_and_prompts_are_not_repeated_between_cases() -> None:
    for texts in (
        [case.intention for case in own()],
        [text for case in own() for text in case.reference_prompts],
    ):
        assert [text for text, count in Counter(texts).items() if count > 1] == []


def test_the_painter_draws_the_same_picture_twice_and_it_is_the_one_we_ship() -> None:
    case = own()[0]
    once, again = (
        paint(scene(case.case_id)).convert("RGB"),
        paint(scene(case.case_id)).convert("RGB"),
    )
    with Image.open(case.image_path) as shipped:
        kept = shipped.convert("RGB")

    assert once.tobytes() == again.tobytes()
    assert once.size == kept.size == (WIDTH, HEIGHT)
    assert once.tobytes() == kept.tobytes()


def test_a_sound_sidecar_is_read_and_written_back_as_it_was(folder: Path) -> None:
    (case,) = load(folder)

    (folder / "a.yaml").write_text(sidecar(case))
    (again,) = load(folder)

    assert again == case
    assert case.objects[0].state == "empty" and case.objects[1].state == ""


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("case_id: kitchen_case14", "case_id: kitchen14", 1, "kitchen_case14"),
        ("scenario: kitchen", "scenario: bathroom", 2, "begins with 'kitchen'"),
        ("source: real", "source: found", 3, "real or synthetic"),
        ("image: photo.png", "image: other.png", 4, "no picture 'other.png'"),
        ("image: photo.png", "image: ../photo.png", 4, "own folder"),
        ("image: photo.png", "image: /etc/passwd", 4, "own folder"),
        ("intention: Fill the mug.", "intention:", 5, "'intention' must be a line of text"),
        ("intention: Fill the mug.", "intention: [a, b]", 5, "'intention' must be a line of text"),
        ("intention:", "intenton:", 5, "Did you mean 'intention'"),
        ("  - id: kettle\n", "  - id: red_mug\n", 8, "'red_mug' is there twice"),
        ("  - id: kettle\n", "  - id: Kettle One\n", 8, "small letters"),
        ("  - id: kettle\n", "  - colour: red\n", 8, "no key 'colour'"),
        ("  - The kettle stands still.\n", "", 12, "1 subgoals and 2 reference prompts"),
        ("  - The kettle stands still.\n", "  - The mug is full.\n", 12, "twice"),
        (
            "subgoals:\n  - The mug is full.\n  - The kettle stands still.\n",
            "subgoals: []\n",
            10,
            "at least one",
        ),
        ("license: CC0-1.0", "license: CC0-1.0\nlicense: MIT", 17, "'license' is there twice"),
        ("intention: Fill the mug.", "intention: {oops", 6, "not YAML"),
    ],
)
def test_a_mistake_is_named_with_its_line(
    folder: Path, old: str, new: str, line: int, words: str
) -> None:
    findings = found(folder, old, new)

    assert any(
        one.line == line and words in one.text and one.severity == "error" for one in findings
    ), findings


def test_a_missing_key_is_named(folder: Path) -> None:
    (finding,) = found(folder, "license: CC0-1.0\n", "")

    assert "'license' is missing" in finding.text


def test_all_mistakes_of_a_file_are_told_at_once(folder: Path) -> None:
    (folder / "a.yaml").write_text(
        GOOD.replace("source: real", "source: x").replace("id: kettle", "id: red_mug")
    )

    assert [finding.line for finding in read_folder(folder).errors] == [3, 8]


@pytest.mark.parametrize(
    ("goal", "words"),
    [("The hammer lies on the mug.", "names 'hammer'"), ("Everything is nice.", "names nothing")],
)
def test_a_subgoal_about_a_thing_that_is_not_there_is_a_warning(
    folder: Path, goal: str, words: str
) -> None:
    (finding,) = found(folder, "The mug is full.", goal)

    assert (finding.line, finding.severity) == (11, "warning")
    assert words in finding.text
    assert len(load(folder)) == 1


def test_a_picture_that_does_not_open_and_an_id_used_twice_are_errors(folder: Path) -> None:
    (folder / "broken.png").write_bytes(b"\x89PNG no")
    (folder / "b.yaml").write_text(GOOD.replace("photo.png", "broken.png"))
    (folder / "c.yaml").write_text(GOOD)

    errors = [(one.file, one.line, one.text) for one in read_folder(folder).errors]

    assert [(file, line) for file, line, _ in errors] == [
        ("b.yaml", 4),
        ("b.yaml", 1),
        ("c.yaml", 1),
    ]
    assert "cannot be opened" in errors[0][2]


@pytest.mark.parametrize(
    "text", ["", "- a\n- b\n", "just words", "\x00", "a: &x [*x]\n", "a: !!python/name:os.system\n"]
)
def test_something_else_than_a_sidecar_is_refused_without_a_crash(folder: Path, text: str) -> None:
    (folder / "a.yaml").write_text(text)

    assert read_folder(folder).errors and not read_folder(folder).cases


def test_an_imported_set_is_clean_and_a_bad_one_writes_nothing(
    folder: Path, tmp_path: Path
) -> None:
    taken = take_in(folder, tmp_path / "good")
    (folder / "a.yaml").write_text(GOOD.replace("source: real", "source: x"))

    with pytest.raises(UnsoundCases, match=r"a\.yaml:3: error"):
        take_in(folder, tmp_path / "bad")

    assert [case.image for case in taken.cases] == ["kitchen_case14.png"] and taken.findings == ()
    assert not (tmp_path / "bad").exists()


def test_the_folder_without_sidecars_says_so(tmp_path: Path) -> None:
    (finding,) = read_folder(tmp_path).findings

    assert "no .yaml file" in finding.text
