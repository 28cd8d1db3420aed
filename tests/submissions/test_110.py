"""The table of bad inputs (reliability.md, section 2) through the reader and through the command
line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from sqlmodel import select
from typer.testing import CliRunner

from flows.cli.app import app
from infra.db import session
from infra.settings import Settings
from infra.tables import Submission
from submissions.bundle.check import Catalogue, SuiteFacts, check
from submissions.format.errors import IntakeError
from submissions.format.layout import BundleLimits
from submissions.media.decoder_pool import Decoders, Job
from submissions.media.facts import MediaRequirements, Refused, inspect
from tests.submissions.bad.case import Case, bundle, ids, pictures
from tests.submissions.bad.media import clip, noise, saved
from tests.submissions.bad.table import CASES, IDS, ONE_A_ROW, ONE_IDS, made

pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")


def codes_of(bundle: Path, rows: Catalogue) -> tuple[set[str], str]:
    """The codes that the reader gives, and everything it says."""
    try:
        return {warning.code for warning in check(bundle, rows).warnings}, ""
    except IntakeError as error:
        said = [(one.where, one.message, one.hint) for one in error.problems]
        whole = all(all(texts) for texts in said) and len(said) <= 50
        return {problem.code for problem in error.problems}, json.dumps(
            said
        ) if whole else "a text is missing"


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_reader_gives_each_input_its_code(case: Case, rows: Catalogue, shelf: Path) -> None:
    bundle = made(case, shelf)

    codes, said = codes_of(bundle, rows)

    assert codes == ({case.code} if case.code else set())
    assert str(shelf) not in said and said != "a text is missing"


@pytest.mark.parametrize("case", ONE_A_ROW, ids=ONE_IDS)
def test_the_command_line_gives_each_input_its_code(
    case: Case, door: Settings, shelf: Path
) -> None:
    bundle = made(case, shelf)

    result = CliRunner().invoke(app, ["submit", str(bundle)])

    assert "Traceback" not in result.output and case.code in result.output
    refused = case.code.startswith("E_")
    assert result.exit_code == (2 if refused else 0)
    assert ("Nothing was stored" in result.output) == refused
    with session(door.database) as db:
        assert len(db.exec(select(Submission).where(Submission.trust != "C")).all()) == (
            0 if refused else 1
        )


def test_every_row_about_a_bundle_has_an_input() -> None:
    elsewhere = {*range(1, 16), 38, 75, 94, 100, *range(103, 108), 109, 110}

    assert {case.row for case in CASES} | elsewhere >= set(range(1, 111))


def test_row_38_a_bundle_that_unpacks_to_more_than_the_limit(rows: Catalogue, spot: Path) -> None:
    whole = bundle(spot, pictures(4))

    with pytest.raises(IntakeError) as refused:
        check(whole, rows, BundleLimits(total_bytes=1000))

    assert [(one.code, one.limit) for one in refused.value.problems] == [("E_TOO_LARGE", 1000)]


@pytest.mark.parametrize("scale", [1, 2], ids=["the same bytes", "saved again, larger"])
def test_row_75_an_output_that_is_the_given_picture_is_marked(
    rows: Catalogue, spot: Path, tmp_path: Path, scale: int
) -> None:
    from submissions.media.images import difference_hash

    given = noise((64, 64)).resize((512, 512))
    handed = saved(given.resize((512 // scale, 512 // scale)))
    suite = _asking(rows, "image", MediaRequirements(input_hashes=(difference_hash(given),)))
    whole = bundle(spot, {"outputs/0.png": (ids("image")[0], handed)})

    found = check(whole, suite)

    assert [warning.code for warning in found.warnings] == ["W_COPIED_INPUT"]


@pytest.mark.parametrize(
    "asked",
    [
        MediaRequirements(frames=49),
        MediaRequirements(fps=16.0),
        MediaRequirements(width=512),
        MediaRequirements(height=512),
    ],
)
def test_row_87_a_clip_of_another_shape_than_asked(
    rows: Catalogue, spot: Path, asked: MediaRequirements
) -> None:
    whole = bundle(spot, {"outputs/0.mp4": (ids("video")[0], clip())}, modalities=["video"])

    with pytest.raises(IntakeError) as refused:
        check(whole, _asking(rows, "video", asked))

    assert [one.code for one in refused.value.problems] == ["E_VIDEO_SHAPE"]
    assert (
        "Asked" in refused.value.problems[0].message and "got" in refused.value.problems[0].message
    )


def _asking(rows: Catalogue, modality: str, asked: MediaRequirements) -> Catalogue:
    from dataclasses import replace

    tailor: SuiteFacts = rows["tailor"]
    sample = ids(modality)[0]
    return {
        "tailor": replace(tailor, rules={sample: replace(tailor.rules[sample], requirements=asked)})
    }


def test_row_94_a_file_that_keeps_the_decoder_busy_is_refused_in_time(tmp_path: Path) -> None:
    slow = tmp_path / "slow.mp4"
    slow.write_bytes(clip(40, size=(640, 480), still=True))
    children = Decoders(1, cpu_seconds=0.02)

    looked = children.look(_job(slow))
    children.close()

    assert looked.refused["code"] == "E_MEDIA_TIMEOUT"


def test_one_file_that_keeps_the_decoder_busy_costs_no_other_its_answer(tmp_path: Path) -> None:
    slow, quick = tmp_path / "slow.mp4", tmp_path / "quick.png"
    slow.write_bytes(clip(200, size=(640, 480), still=True))
    quick.write_bytes(saved(noise()))
    children = Decoders(1, cpu_seconds=0.05)

    looked = list(children.look_all([_job(slow if number == 5 else quick) for number in range(16)]))
    children.close()

    assert [number for number, one in enumerate(looked) if one.facts is None] == [5]


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("import time; time.sleep(60)", "E_MEDIA_TIMEOUT"),
        ("import os; os.kill(os.getpid(), 11)", "E_MEDIA_BROKEN"),
        ("input(); raise SystemExit(3)", "E_MEDIA_BROKEN"),
        ("input(); print('half an answer', end='')", "E_MEDIA_BROKEN"),
    ],
    ids=["sleeps", "crashes", "leaves", "stops in the middle"],
)
def test_whatever_becomes_of_the_child_there_is_an_answer(
    tmp_path: Path, program: str, code: str
) -> None:
    file = tmp_path / "x.png"
    file.write_bytes(saved(noise()))
    children = Decoders(1, (sys.executable, "-c", program), wall_seconds=1)

    codes = [children.look(_job(file)).refused["code"] for _ in range(2)]
    children.close()

    assert codes == [code, code]


def test_a_child_that_died_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "x.png"
    file.write_bytes(saved(noise()))
    children = Decoders(1)
    first = children.look(_job(file))
    children.children._free.queue[0].kill()  # type: ignore[union-attr]

    answers = [children.look(_job(file)) for _ in range(2)]
    children.close()

    assert first.facts is not None and answers[-1] == first


def _job(file: Path) -> Job:
    from submissions.format.archive import Span

    size = file.stat().st_size
    return Job(
        Span(str(file), 0, size, size), file.name, "video" if file.suffix == ".mp4" else "image"
    )


def test_the_decoding_child_sees_none_of_our_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ARMILLARY_CANARY", "secret")
    program = "import os, sys; input(); open(sys.argv[1], 'w').write(str(dict(os.environ)))"
    children = Decoders(1, (sys.executable, "-c", program, str(tmp_path / "seen")))
    (tmp_path / "x.png").write_bytes(saved(noise()))

    children.look(_job(tmp_path / "x.png"))
    children.close()

    assert "secret" not in (tmp_path / "seen").read_text()


def test_a_single_file_is_inspected_by_the_same_rules(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(saved(noise())[:-12])

    with pytest.raises(Refused) as refused:
        inspect(tmp_path / "x.png", "x.png", "image")

    assert refused.value.code == "E_MEDIA_BROKEN"


def test_at_most_fifty_problems_are_told_and_the_rest_counted(rows: Catalogue, spot: Path) -> None:
    files: dict[str, tuple[str | None, bytes]] = {
        f"outputs/{n}.png": (f"no-{n}", b"x") for n in range(60)
    }

    with pytest.raises(IntakeError) as refused:
        check(bundle(spot, files), rows)

    assert len(refused.value.problems) == 50 and refused.value.total == 60
