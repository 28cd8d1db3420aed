"""Writing new cases: a model drafts, people decide, the checks have the last word; both ways."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from evaluators.judges.http.chat import ChatReply
from evaluators.media import read_image, write_png
from evaluators.models import small
from evaluators.suites.liva.cases.drafting import CannotDraft
from evaluators.suites.liva.cases.folder import load
from flows.suites import liva_curate
from flows.suites.liva_curate import (
    Drafted,
    api_painter,
    drafter,
    from_goals,
    from_photos,
    goals_flow,
    read_list,
)
from infra.db import session
from infra.settings import Settings
from leaderboard.queries.review_queue import drop, edit, keep, queue, unwritten
from tests.models import image_server
from tests.models.image_server import serve
from tests.suites.liva.oracle import Script, serving

SKETCH = {
    "objects": [
        {"id": "red_mug", "description": "a red mug", "state": "empty"},
        {"id": "kettle", "description": "a steel kettle", "state": "full"},
        {"id": "ghost", "description": "something that is not there", "state": "unseen"},
    ],
    "steps": [
        {"subgoal": "The kettle is in the right hand.", "prompt": "The person lifts the kettle."},
        {"subgoal": "The mug is full.", "prompt": "The person pours water into the mug."},
        {
            "subgoal": "The kettle stands on the table.",
            "prompt": "The person puts the kettle down.",
        },
    ],
}
IDEA = {
    "intention": "Fill the mug.",
    "needed": ["mug", "kettle"],
    "solvable": "Lift, pour, put down.",
    "image_prompt": "A person.",
}


@dataclass
class Scripted:
    """Says these things in turn, then the right thing for what it is asked."""

    first: list[str] = field(default_factory=list)
    name: str = "scripted drafter"
    asked: int = 0
    overlooked: tuple[str, ...] = ()

    def say(self, messages: Any) -> ChatReply:
        self.asked += 1
        if self.first:
            return ChatReply(self.first.pop(0))
        text = messages[1]["content"][0]["text"]
        if '"things"' in text:
            return ChatReply(json.dumps({"things": self.seen(text)}))
        return ChatReply(
            json.dumps(
                {"ideas": [IDEA, {**IDEA, "intention": "Empty the mug."}]}
                if '"ideas"' in text
                else SKETCH
            )
        )

    def seen(self, text: str) -> list[dict[str, Any]]:
        """Every thing of the list that it was given, where it does not overlook it."""
        ids = re.findall(r"^- (\w+):", text, re.MULTILINE)
        return [
            {"id": thing, "visible": thing not in self.overlooked, "where": "on the table"}
            for thing in ids
        ]


class Drafter(Script):
    """The same behind an endpoint, with one idea."""

    def answer(self, messages: Any) -> tuple[int, str]:
        said = json.loads(Scripted().say(messages).text)
        return 200, json.dumps({"ideas": said["ideas"][:1]} if "ideas" in said else said)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.new("RGB", (96, 64), (120, 90, 60)).save(folder / "one.jpg")
    (folder / "intentions.csv").write_text(
        "file,case_id,intention,license\none.jpg,kitchen_case14,Fill the mug.,CC-BY-4.0 by A. "
        "Person\n"
    )
    return folder


def decide_all(settings: Settings, name: str) -> None:
    with session(settings.database) as db:
        keep(db, [draft.id for draft in queue(db, name)], "Ada")


def test_a_photo_becomes_a_case_when_people_have_decided_about_every_draft(
    ready: Settings, photos: Path, tmp_path: Path
) -> None:
    talker = Scripted()

    first = from_photos(ready, "spring", photos, tmp_path / "cases", talker)
    with session(ready.database) as db:
        drafts = queue(db, "spring")
        ghost = next(draft for draft in drafts if draft.words.get("id") == "ghost")
        mug = next(draft for draft in drafts if draft.words.get("subgoal") == "The mug is full.")
        drop(db, [ghost.id], "Ada", "it cannot be seen")
        edit(db, mug.id, {"subgoal": "The red mug is full of water."}, "Ada", "clearer")
    decide_all(ready, "spring")
    doubtful = from_photos(ready, "spring", photos, tmp_path / "cases", talker)
    decide_all(ready, "spring")
    second = from_photos(ready, "spring", photos, tmp_path / "cases", talker)

    assert doubtful.written == ()
    assert doubtful.open["kitchen_case14"].startswith("2 things wait for somebody to confirm")
    assert first.open == {"kitchen_case14": "6 drafts wait for a decision"} and first.written == ()
    assert (second.written, second.findings, second.open) == (("kitchen_case14",), (), {})
    (case,) = load(tmp_path / "cases")
    assert [thing.id for thing in case.objects] == ["red_mug", "kettle"]
    assert case.subgoals[1] == "The red mug is full of water."
    assert (case.source, case.license) == ("real", "CC-BY-4.0 by A. Person")
    assert talker.asked == 2, "what was answered is not asked again"


def test_a_picture_that_does_not_show_what_its_sidecar_names_makes_no_case_until_a_person_says_so(
    ready: Settings, photos: Path, tmp_path: Path
) -> None:
    def go() -> Drafted:
        talker = Scripted(overlooked=("ghost",))
        return from_photos(ready, "autumn", photos, tmp_path / "cases", talker)

    go()
    decide_all(ready, "autumn")
    go()
    decide_all(ready, "autumn")
    refused = go()
    with session(ready.database) as db:
        ghost = next(
            draft
            for draft in queue(db, "autumn", "kept")
            if draft.kind == "sight" and draft.words["id"] == "ghost"
        )
        edit(db, ghost.id, {"visible": "yes"}, "Ada", "it is behind the mug, at the left")
    confirmed = go()

    assert refused.written == ()
    assert refused.open["kitchen_case14"].startswith("the picture does not show ghost")
    assert confirmed.written == ("kitchen_case14",)


def test_goal_first_the_picture_is_made_only_for_ideas_that_people_kept(
    ready: Settings, tmp_path: Path
) -> None:
    painted: list[str] = []

    def paint(case_id: str, prompt: str, to: Path) -> None:
        painted.append(f"{case_id}: {prompt}")
        write_png(np.full((80, 96, 3), 90, dtype=np.uint8), to)

    def go() -> Drafted:
        return from_goals(ready, "summer", "kitchen", 2, tmp_path / "cases", Scripted(), paint)

    before = go()
    with session(ready.database) as db:
        one, two = queue(db, "summer")
        drop(db, [two.id], "Ada", "not one scene")
        edit(db, one.id, {"image_prompt": "A person and a mug."}, "Ada", "the mug was missing")
    between = go()
    decide_all(ready, "summer")
    go()
    decide_all(ready, "summer")
    after, again = go(), go()

    assert set(before.open) == {"kitchen_case101", "kitchen_case102"} and painted == [
        "kitchen_case101: A person and a mug."
    ]
    assert between.open["kitchen_case102"] == "the idea was dropped"
    assert after.written == again.written == ("kitchen_case101",)
    (case,) = load(tmp_path / "cases")
    assert case.source == "synthetic" and case.intention == "Fill the mug."


def test_both_ways_run_as_flows_with_an_endpoint_and_a_small_random_image_model(
    ready: Settings, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image_model = str(small.make_text_to_image(tmp_path / "painter"))
    with serving(Drafter()) as endpoint:
        monkeypatch.setenv("ARMILLARY_AGENT", "http:drafter@1")
        monkeypatch.setenv("ARMILLARY_AGENT_URL", endpoint.url)
        for name, arguments in (("photos", [str(photos)]), ("goals", ["kitchen", 1])):
            last = [image_model, 64, 64, 1] if name == "goals" else []
            run = partial(
                getattr(liva_curate, f"{name}_flow").fn,
                name,
                *arguments,
                str(tmp_path / name),
                *last,
            )
            while (found := run()).open:
                decide_all(ready, name)

            assert found.written and not found.findings
            assert [case.source for case in load(tmp_path / name)] == [
                "real" if name == "photos" else "synthetic"
            ]


def test_an_image_api_draws_the_pictures_of_the_ideas_that_people_kept(
    ready: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Drafter()) as endpoint, serve() as images:
        monkeypatch.setenv("ARMILLARY_AGENT", "http:drafter@1")
        monkeypatch.setenv("ARMILLARY_AGENT_URL", endpoint.url)
        monkeypatch.setenv("ARMILLARY_IMAGE_URL", images.url)
        drawn = tmp_path / "drawn.png"
        write_png(np.random.default_rng(1).integers(0, 255, (64, 96, 3), dtype=np.uint8), drawn)
        monkeypatch.setattr(image_server, "picture", lambda _seed: drawn.read_bytes())
        to = tmp_path / "cases"

        def go() -> Drafted:
            return goals_flow.fn("api", "kitchen", 1, str(to), "", 96, 64, 1, "painter-1@7")

        while (drafted := go()).open:
            decide_all(ready, "api")

    assert drafted.written == ("kitchen_case101",) and images.asked == [IDEA["image_prompt"]]
    (case,) = load(to)
    assert np.array_equal(read_image(case.image_path), read_image(drawn))


def test_a_picture_that_the_image_api_blocks_leaves_no_case(
    ready: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve() as images:
        monkeypatch.setenv("ARMILLARY_IMAGE_URL", images.url)
        images.faults = {"A person.": ["blocked"]}
        paint = api_painter("painter-1@7", Settings(), width=96, height=64)

        with pytest.raises(CannotDraft, match=r"No picture for kitchen_case101: .*safety"):
            paint("kitchen_case101", "A person.", tmp_path / "picture.png")

    assert list(tmp_path.glob("*.png")) == []


def test_without_an_image_api_the_setting_is_named() -> None:
    with pytest.raises(CannotDraft, match="ARMILLARY_IMAGE_URL"):
        api_painter("painter-1@7", Settings(), width=96, height=64)


def test_a_reply_that_stays_bad_is_on_record_and_asked_again_next_time(
    ready: Settings, photos: Path, tmp_path: Path
) -> None:
    talker = Scripted(
        first=["no", '{"objects": []}', json.dumps({**SKETCH, "steps": SKETCH["steps"][:2]})]
    )

    found = from_photos(ready, "autumn", photos, tmp_path / "cases", talker)

    assert found.open == {"kitchen_case14": "the model gave no usable reply"} and talker.asked == 3
    with session(ready.database) as db:
        (bad,) = unwritten(db, "autumn")
    assert bad.tries == 3 and "steps" in bad.reason
    assert from_photos(ready, "autumn", photos, tmp_path / "cases", talker).open != found.open


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("one.jpg", "two.jpg", "intentions.csv:2: there is no photo"),
        ("kitchen_case14", "kitchen", "kitchen_case14"),
        (",CC-BY-4.0 by A. Person", ",", "license is empty"),
    ],
)
def test_a_list_with_a_mistake_is_refused_with_its_line(
    photos: Path, old: str, new: str, words: str
) -> None:
    path = photos / "intentions.csv"
    path.write_text(path.read_text().replace(old, new))

    with pytest.raises(CannotDraft, match=words):
        read_list(photos)


def test_a_case_id_that_a_list_has_twice_is_refused_with_its_line(photos: Path) -> None:
    path = photos / "intentions.csv"
    path.write_text(path.read_text() + "one.jpg,kitchen_case14,Empty the mug.,CC0-1.0\n")

    with pytest.raises(CannotDraft, match=r"intentions\.csv:3: the case_id 'kitchen_case14'"):
        read_list(photos)


def test_a_case_is_not_written_over_another_one_with_its_id(
    ready: Settings, photos: Path, tmp_path: Path
) -> None:
    def go(name: str) -> Drafted:
        for _ in range(2):
            from_photos(ready, name, photos, tmp_path / "cases", Scripted())
            decide_all(ready, name)
        return from_photos(ready, name, photos, tmp_path / "cases", Scripted())

    first = go("first")
    path = photos / "intentions.csv"
    path.write_text(path.read_text().replace("Fill the mug.", "Empty the mug."))
    second = go("second")

    assert (first.written, second.written) == (("kitchen_case14",), ())
    assert "kitchen_case14.yaml is another case" in second.open["kitchen_case14"]
    assert "Fill the mug." in second.open["kitchen_case14"]
    assert [case.intention for case in load(tmp_path / "cases")] == ["Fill the mug."]


def test_a_folder_without_a_list_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(CannotDraft, match="file, case_id, intention, license"):
        read_list(tmp_path)


def test_a_scripted_agent_cannot_write_cases(ready: Settings) -> None:
    with pytest.raises(CannotDraft, match="ARMILLARY_AGENT"):
        drafter(ready)
