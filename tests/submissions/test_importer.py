"""A folder that was made without a manifest becomes the very bundle that the manifest would have
made."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluators.contracts import Sample
from evaluators.suites import suite_named
from submissions.bundle.check import Catalogue, check
from submissions.bundle.pack import pack_outputs
from submissions.format.errors import IntakeError
from submissions.tools.importer import (
    ImportableSample,
    import_listed,
    import_named,
    in_order,
    read_tasks,
)
from tests.bundles import declaration, demo_samples, picture


def item(sample: Sample) -> ImportableSample:
    facets = sample.facets
    instance = int(sample.id.split(".")[1])
    tool = str(sample.reference["tool"])
    return ImportableSample(
        sample.id, sample.cluster, instance, facets.scenario, tool, facets.setting, facets.modality
    )


ITEMS = [item(sample) for sample in suite_named("tailor").samples()]
SAMPLES = {one.sample for one in ITEMS}
DEMO = [item(sample) for sample in demo_samples()]
NUMBERS = {task: number for number, task in in_order(ITEMS).items()}


def authors_name(one: ImportableSample, numbers: dict[str, int] = NUMBERS) -> str:
    slug = one.task.partition("_")[2]
    tool = re.sub(r"\W+", "_", one.tool)
    head = f"task{numbers[one.task]}_{slug}_inst{one.instance}_{one.scenario}_{tool}"
    return f"{head}_{one.setting}_{one.modality}.png"


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A folder of the demo's pictures, named by the authors' rule."""
    return fill(tmp_path / "named", authors_name)


def fill(folder: Path, name: Callable[[ImportableSample], str]) -> Path:
    folder.mkdir()
    for number, one in enumerate(DEMO):
        (folder / name(one)).write_bytes(picture(number))
    return folder


def by_manifest(to: Path, folder: Path) -> Path:
    return pack_outputs(to, declaration(), {one.sample: folder / authors_name(one) for one in DEMO})


def codes(error: pytest.ExceptionInfo[IntakeError]) -> list[str]:
    return [problem.code for problem in error.value.problems]


def test_files_named_by_the_rule_make_the_bundle_that_the_manifest_makes(
    named: Path, tmp_path: Path, suites: Catalogue
) -> None:
    made = import_named(tmp_path / "a.zip", declaration(), named, ITEMS)
    wanted = by_manifest(tmp_path / "b.zip", named)

    assert made.read_bytes() == wanted.read_bytes()
    assert check(made, suites).manifest.files == check(wanted, suites).manifest.files


def test_a_folder_and_a_csv_make_the_bundle_that_the_manifest_makes(
    named: Path, tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"
    lines = [f"{one.sample},{authors_name(one)},a note" for one in reversed(DEMO)]
    table.write_text("\ufeff" + "\n".join(["sample,file,note", *lines]), "utf-8")

    made = import_listed(tmp_path / "a.zip", declaration(), named, table, SAMPLES)

    assert made.read_bytes() == by_manifest(tmp_path / "b.zip", named).read_bytes()


def test_files_may_lie_in_folders_below_the_one_given(named: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(f"sample,file\n{DEMO[0].sample},named/{authors_name(DEMO[0])}\n", "utf-8")

    made = import_listed(tmp_path / "a.zip", declaration(partial=True), tmp_path, table, SAMPLES)

    assert made.is_file()


def test_another_numbering_of_the_tasks_is_taken_from_a_table(
    tmp_path: Path, suites: Catalogue
) -> None:
    tasks = list(dict.fromkeys(one.task for one in DEMO))
    numbers = {task: 700 + number for number, task in enumerate(tasks)}
    folder = fill(tmp_path / "named", lambda one: authors_name(one, numbers))
    table = tmp_path / "tasks.csv"
    table.write_text(
        "number,task\n" + "".join(f"{number},{task}\n" for task, number in numbers.items()), "utf-8"
    )

    made = import_named(tmp_path / "a.zip", declaration(), folder, ITEMS, read_tasks(table, ITEMS))

    assert len(check(made, suites).media) == len(DEMO)


def test_tasks_are_numbered_from_one_unless_told_otherwise() -> None:
    assert list(in_order(ITEMS).items())[:2] == [(1, "cut_garden_twine"), (2, "cut_clay_brick")]
    assert in_order(ITEMS, first=0)[79] == in_order(ITEMS)[80]


def test_left_overs_of_a_file_manager_are_not_minded(named: Path, tmp_path: Path) -> None:
    (named / ".DS_Store").write_bytes(b"x")
    (named / "Thumbs.db").write_bytes(b"x")

    assert import_named(tmp_path / "a.zip", declaration(), named, ITEMS).is_file()


def test_every_bad_name_is_told_at_once_and_nothing_is_written(named: Path, tmp_path: Path) -> None:
    good = authors_name(DEMO[0])
    for bad in (
        "holiday.png",
        good.replace("task1_", "task81_"),
        good.replace("_inst0_", "_inst5_"),
        good.replace("_regular_", "_impossible_"),
        good.replace("garden_scissors", "chainsaw"),
        good.replace("garden_scissors", "Garden-Scissors"),
    ):
        (named / bad).write_bytes(picture(1))

    with pytest.raises(IntakeError) as error:
        import_named(tmp_path / "a.zip", declaration(), named, ITEMS)

    wanted = [
        "E_IMPORT_NAME",
        "E_IMPORT_TASK",
        "E_IMPORT_TOOL",
        "E_IMPORT_TYPE",
        "E_ITEM_DUPLICATE",
        "E_ITEM_UNKNOWN",
    ]
    assert sorted(codes(error)) == wanted
    assert not (tmp_path / "a.zip").exists()


def test_a_folder_in_the_folder_is_told_rather_than_packed(named: Path, tmp_path: Path) -> None:
    (named / authors_name(DEMO[0]).replace("garden_scissors", "Garden_Scissors")).mkdir()

    with pytest.raises(IntakeError) as error:
        import_named(tmp_path / "a.zip", declaration(), named, ITEMS)

    assert codes(error) == ["E_IMPORT_NAME"]


def test_every_bad_row_of_a_csv_is_told_with_its_line(named: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    good = authors_name(DEMO[0])
    rows = [
        f"{DEMO[0].sample},{good}",
        f"{DEMO[0].sample},{authors_name(DEMO[1])}",
        f"cut_garden_twin.0.predictive.image,{good}",
        f"{DEMO[1].sample},absent.png",
        f"{DEMO[2].sample},../table.csv",
        f"{DEMO[3].sample}",
    ]
    table.write_text("\n".join(["sample,file", *rows]), "utf-8")

    with pytest.raises(IntakeError) as error:
        import_listed(tmp_path / "a.zip", declaration(), named, table, SAMPLES)

    found = {problem.where: problem.code for problem in error.value.problems}
    assert found == {
        "line 3": "E_ITEM_DUPLICATE",
        "line 4": "E_ITEM_UNKNOWN",
        "line 5": "E_FILE_MISSING",
        "line 6": "E_IMPORT_PATH",
        "line 7": "E_IMPORT_PATH",
    }
    assert "Did you mean 'cut_garden_twine.0.predictive.image'?" in {
        p.hint for p in error.value.problems
    }


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"id,path\n1,2\n", "E_CSV_COLUMNS"),
        (b"\xff\xfe\x00bad", "E_CSV"),
        (b"sample,file\n", "E_IMPORT_EMPTY"),
    ],
)
def test_a_table_that_is_none_is_refused(
    content: bytes, code: str, named: Path, tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes(content)

    with pytest.raises(IntakeError) as error:
        import_listed(tmp_path / "a.zip", declaration(), named, table, SAMPLES)

    assert codes(error) == [code]


def test_a_folder_or_table_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IntakeError) as no_folder:
        import_named(tmp_path / "a.zip", declaration(), tmp_path / "absent", ITEMS)
    with pytest.raises(IntakeError) as no_table:
        import_listed(tmp_path / "a.zip", declaration(), tmp_path, tmp_path / "absent.csv", SAMPLES)

    assert codes(no_folder) == codes(no_table) == ["E_NO_FILE"]


def test_a_table_of_tasks_names_only_tasks_we_have(tmp_path: Path) -> None:
    table = tmp_path / "tasks.csv"
    table.write_text(
        "number,task\none,cut_garden_twine\n2,cut_nothing\n3,cut_felt_sheet\n", "utf-8"
    )

    with pytest.raises(IntakeError) as error:
        read_tasks(table, ITEMS)

    assert [problem.where for problem in error.value.problems] == ["line 2", "line 3"]
