"""The affordance graph: our own is sound, ConceptNet's is read line by line, and an excerpt fits
its words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from evaluators.suites.tailor.bank import Bank, public
from evaluators.suites.tailor.graph import (
    NoGraph,
    check_file,
    contraries,
    everyday,
    load,
    own,
    tools_of,
)
from tests.suites.tailor.banks import small

LINES = [
    "/a/[/r/HasProperty/,/c/en/ice/,/c/en/cold/]\t/r/HasProperty\t/c/en/ice\t/c/en/cold\t"
    '{"weight": 2.0}',
    '/a/[...]\t/r/HasProperty\t/c/en/ice/n\t/c/en/very_slippery/a\t{"weight": 1.0}',
    '/a/[...]\t/r/HasProperty\t/c/en/ice\t/c/en/cold\t{"weight": 1.0}',
    '/a/[...]\t/r/HasProperty\t/c/de/eis\t/c/de/kalt\t{"weight": 1.0}',
    '/a/[...]\t/r/HasProperty\t/c/en/ice\t/c/fr/froid\t{"weight": 1.0}',
    '/a/[...]\t/r/NotHasProperty\t/c/en/ice\t/c/en/warm\t{"weight": 1.0}',
    '/a/[...]\t/r/ExternalURL\t/c/en/ice\thttp://example.org/ice\t{"weight": 1.0}',
    '/a/[...]\t/r/HasProperty\t/c/en/steel_wool\t/c/en/rough\t{"weight": 1.0}',
]
BAD = [
    b"two\tcolumns\n",
    b"\n",
    b"/a/[...]\t/r/HasProperty\tice\tcold\t{}\n",
    b"/a\t/r/HasProperty\t/c/en/\xff\t/c/en/x\t{}\n",
]


def written(file: Path) -> Path:
    """An assertions file with bad lines among the good ones."""
    data = "\n".join(LINES).encode() + b"\n" + b"".join(BAD)
    file.write_bytes(gzip.compress(data) if file.suffix == ".gz" else data)
    return file


def test_our_own_graph_has_at_least_two_hundred_objects_with_three_to_six_properties_each() -> None:
    graph = everyday()

    assert len(graph.objects) >= 200
    assert all(3 <= len(found) <= 6 for found in graph.objects.values())
    assert all(len(set(found)) == len(found) for found in own().objects.values())
    assert load(None) is own()


def test_our_own_graph_holds_every_tool_of_the_bank_with_a_property() -> None:
    tools = {str(row["tool"]) for row in public().instances}

    assert len(tools) > 250
    assert [tool for tool in tools if not own().objects.get(tool)] == []
    assert set(everyday().objects) <= set(own().objects)


def test_a_tool_s_table_says_what_it_is_like() -> None:
    task, instances = small().tasks[0], list(small().instances[:5])
    required = task["required_tool_attributes"]
    instances[3] = {**instances[3], "attributes": {required[0]: "no: soft", required[2]: "yes: ok"}}

    found = list(tools_of(Bank((), (task,), tuple(instances))))

    assert found[0].properties == tuple(required)
    assert found[3].properties == (required[2], *task["opposite_tool_attributes"])


def test_conceptnet_s_lines_are_read_as_they_are_published(tmp_path: Path) -> None:
    about = {
        "dataset": "/d/conceptnet/4/en",
        "license": "cc:by/4.0",
        "sources": [{"activity": "/s/activity/omcs/vote", "contributor": "/s/contributor/omcs/a"}],
        "surfaceText": "[[a sponge]] is [[full of holes]]",
        "weight": 2.828,
    }
    start, end = "/c/en/sponge/n/wn/artifact", "/c/en/full_of_holes/a/wn"
    line = "\t".join(
        [f"/a/[/r/HasProperty/,{start}/,{end}/]", "/r/HasProperty", start, end, json.dumps(about)]
    )
    file = tmp_path / "conceptnet-assertions-5.7.0.csv.gz"
    file.write_bytes(gzip.compress(f"{line}\n".encode()))

    check_file(file)
    graph = load(file)

    assert graph.objects == {"sponge": ("full of holes",)} and graph.bad_lines == 0


@pytest.mark.parametrize("name", ["assertions.csv", "assertions.csv.gz", "packed-without-a-suffix"])
def test_conceptnet_gives_english_properties_and_counts_the_lines_it_cannot_read(
    tmp_path: Path, name: str
) -> None:
    graph = load(written(tmp_path / name))

    assert graph.objects == {"ice": ("cold", "very slippery"), "steel wool": ("rough",)}
    assert graph.bad_lines == len(BAD)


def test_a_file_that_is_cut_off_or_holds_nothing_or_is_not_there_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole.gz").read_bytes()
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.csv").write_text("")

    with pytest.raises(NoGraph, match="cut off or damaged"):
        load(tmp_path / "cut.gz")
    with pytest.raises(NoGraph, match="no English HasProperty edge"):
        load(tmp_path / "empty.csv")
    with pytest.raises(NoGraph, match="cannot be read: No such file"):
        load(tmp_path / "nothing.csv")


def test_an_excerpt_shows_what_shares_most_words_and_no_more_than_asked() -> None:
    found = own().excerpt(["absorbs water", "soft and flexible"], 10)

    assert len(found) == 10
    assert all(
        "absorbent" in one.line and ("soft" in one.line or "flexible" in one.line)
        for one in found[:3]
    )
    assert found == own().excerpt(["absorbs water", "soft and flexible"], 10)


def test_words_that_nothing_has_give_an_empty_excerpt() -> None:
    assert own().excerpt(["radioactive"], 10) == ()
    assert own().excerpt([], 10) == ()


def test_contraries_lead_to_objects_that_lack_what_is_needed() -> None:
    words = contraries(["sharp hard edge", "stiff"])
    found = everyday().excerpt(words, 6)

    assert "blunt soft rounded" in words
    assert all("sharp" not in one.line for one in found)
