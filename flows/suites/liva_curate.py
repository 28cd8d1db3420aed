"""The flow that writes new L-IVA cases: a model drafts, people decide, the checks have the last
word.

Run it as often as you like under one name: what was answered is not asked again, and what people
decided stands.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prefect import flow
from sqlalchemy import delete
from sqlmodel import Session, col

from evaluators.contracts import CannotProduce, Facets, Outcome, Sample
from evaluators.judges.http.chat import Talker
from evaluators.media import read_image, write_png
from evaluators.suites.liva.agent.prompts import AgentPrompt, prompts_sha256
from evaluators.suites.liva.cases import drafting
from evaluators.suites.liva.cases.case import AvatarCase, sidecar
from evaluators.suites.liva.cases.drafting import (
    CannotDraft,
    CaseDecision,
    CaseDraft,
    Seed,
    check_id,
    check_scenario,
)
from evaluators.suites.liva.cases.folder import own, read_folder
from evaluators.suites.liva.cases.sidecar import SidecarFinding, read_sidecar
from flows.workers.agents import open_talker
from infra import tables
from infra.db import add_new, session
from infra.settings import Settings
from infra.store import curation_picture_key, open_store
from leaderboard.queries.review_queue import offer

LIST = "intentions.csv"
INDEX = "model_index.json"
COLUMNS = ("file", "case_id", "intention", "license")
Paint = Callable[[str, str, Path], None]
"""Makes a picture from a prompt for a case into a file; raises CannotDraft if it cannot."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """Where new cases stand after a run."""

    name: str
    calls: int
    written: tuple[str, ...]
    open: Mapping[str, str]
    findings: tuple[SidecarFinding, ...]


@dataclass
class LivaCuration:
    """One run of the flow."""

    name: str
    settings: Settings
    talker: Talker
    to: Path
    calls: int = 0
    written: list[str] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)

    @property
    def pictures(self) -> Path:
        """Where pictures lie until their case is finished."""
        folder = (
            self.settings.work / "curations" / hashlib.sha256(self.name.encode()).hexdigest()[:12]
        )
        folder.mkdir(parents=True, exist_ok=True)
        return folder


@flow(name="curate-liva-photos", retries=0, persist_result=False)
def photos_flow(name: str, folder: str, to: str) -> Drafted:
    """Draft cases from a folder of photos with the agent's vision-language model."""
    settings = Settings()
    return from_photos(settings, name, Path(folder), Path(to), drafter(settings))


@flow(name="curate-liva-goals", retries=0, persist_result=False)
def goals_flow(
    name: str,
    scenario: str,
    count: int,
    to: str,
    image_model: str,
    width: int,
    height: int,
    steps: int,
    image_api: str = "",
) -> Drafted:
    """Draft cases goal first with the agent's vision-language model and an image model: a folder,
    or MODEL@SNAPSHOT behind the image API."""
    settings = Settings()
    if image_api:
        paint = api_painter(image_api, settings, width=width, height=height)
    else:
        paint = painter(Path(image_model), settings.device, width=width, height=height, steps=steps)
    return from_goals(settings, name, scenario, count, Path(to), drafter(settings), paint)


def drafter(settings: Settings) -> Talker:
    """The model that drafts: the agent's, which has to be a real one."""
    if settings.agent == "scripted":
        raise CannotDraft(
            "The scripted agent cannot write cases. Set ARMILLARY_AGENT to a vision-language model."
        )
    return open_talker(settings.agent, settings.device)


def from_photos(settings: Settings, name: str, folder: Path, to: Path, talker: Talker) -> Drafted:
    """Photos with an intention that a person wrote: the model drafts inventory, subgoals and
    prompts."""
    course = LivaCuration(name, settings, talker, to)
    for seed in read_list(folder):
        _sketched(course, seed)
    return _drafted(course)


def from_goals(
    settings: Settings, name: str, scenario: str, count: int, to: Path, talker: Talker, paint: Paint
) -> Drafted:
    """Goal first: jobs that can be done in one scene, then a picture made for each, then its
    sidecar."""
    check_scenario(scenario)
    course = LivaCuration(name, settings, talker, to)
    intentions = [case.intention for case in own() if case.scenario == scenario]
    ask = drafting.ask_ideas(scenario, count, intentions)
    reply = _answer(course, "ideas", scenario, ask)
    for number, idea in enumerate(reply["ideas"] if reply else (), 1):
        case_id = f"{scenario}_case{100 + number}"
        _from_idea(course, case_id, idea, _call_id(course, "ideas", ask), paint)
    return _drafted(course)


def read_list(folder: Path) -> list[Seed]:
    """The photos of a folder with what a person wrote about each, from its list."""
    path = folder / LIST
    if not path.is_file():
        raise CannotDraft(
            f"There is no {LIST} in {folder.name}. Write one with the columns {', '.join(COLUMNS)}."
        )
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
    except (UnicodeDecodeError, csv.Error):
        raise CannotDraft(
            f"{path} is no CSV in UTF-8. Write one with the columns {', '.join(COLUMNS)}."
        ) from None
    if not rows:
        raise CannotDraft(
            f"{path} lists no photo. Write one line for each, with {', '.join(COLUMNS)}."
        )
    seeds: list[Seed] = []
    for line, row in enumerate(rows, 2):
        if missing := [name for name in COLUMNS if not (row.get(name) or "").strip()]:
            raise CannotDraft(
                f"{LIST}:{line}: {missing[0]} is empty. Every photo needs {', '.join(COLUMNS)}."
            )
        check_id(row["case_id"])
        if row["case_id"] in {seed.case_id for seed in seeds}:
            raise CannotDraft(
                f"{LIST}:{line}: the case_id {row['case_id']!r} is there twice. Number it anew."
            )
        picture = folder / Path(row["file"]).name
        if not picture.is_file():
            raise CannotDraft(f"{LIST}:{line}: there is no photo {row['file']!r} in the folder.")
        seeds.append(
            Seed(row["case_id"], "real", picture, row["intention"].strip(), row["license"].strip())
        )
    return seeds


def check_image_model(folder: Path) -> None:
    """Refuse a folder that is no pipeline of diffusers, before anything is asked or loaded."""
    index = folder / INDEX
    try:
        kind = json.loads(index.read_text("utf-8"))["_class_name"]
    except (OSError, ValueError, KeyError, TypeError):
        raise CannotDraft(
            f"{index} names no pipeline. Give a folder that save_pretrained of diffusers wrote."
        ) from None
    if "Pipeline" not in str(kind):
        raise CannotDraft(
            f"{index} names {kind!r}, which is no pipeline. Give a text-to-image folder of "
            "diffusers."
        )


def painter(
    model: Path, device: str, *, width: int, height: int, steps: int, seed: int = 0
) -> Paint:
    """Pictures from a diffusers text-to-image folder."""

    def paint(case_id: str, prompt: str, to: Path) -> None:
        from evaluators.models.device import pick_device
        from evaluators.models.generate.diffusion import DiffusionGenerator
        from evaluators.models.generate.settings import SamplerSettings

        sampling = SamplerSettings(steps=steps, height=height, width=width)
        generator = DiffusionGenerator(model, sampling, seed=seed, device=pick_device(device))
        if generator.modality != "image":
            raise CannotDraft(f"{model.name} makes clips. Name a text-to-image model.")
        sample = Sample(case_id, Facets("", "", "", "image"), case_id, prompt)
        (output,) = generator.generate([sample], to.parent)
        if output.outcome is not Outcome.SCORED or output.file is None:
            raise CannotDraft(f"No picture for {case_id}: {output.reason}")
        output.file.replace(to)

    return paint


def api_painter(name: str, settings: Settings, *, width: int, height: int) -> Paint:
    """Pictures from MODEL@SNAPSHOT behind the image API of the settings."""
    if not settings.image_url:
        raise CannotDraft("No image API is set. Set ARMILLARY_IMAGE_URL and ARMILLARY_IMAGE_KEY.")
    model, _, snapshot = name.rpartition("@")

    def paint(case_id: str, prompt: str, to: Path) -> None:
        from openai import APIError

        from evaluators.models.generate.endpoints.ledger import FreeLedger
        from flows.workers.apis import open_image_api

        endpoint, size = {"model": model, "snapshot": snapshot}, {"width": width, "height": height}
        generator = open_image_api(endpoint, size, FreeLedger(), to.stem)
        sample = Sample(case_id, Facets("", "", "", "image"), case_id, prompt)
        try:
            (output,) = generator.generate([sample], to.parent)
        except (APIError, CannotProduce) as error:
            raise CannotDraft(f"No picture for {case_id}: {error}. Run it again.") from None
        if output.outcome is not Outcome.SCORED or output.file is None:
            raise CannotDraft(f"No picture for {case_id}: {output.reason}")
        write_png(read_image(output.file), to)
        if output.file != to:
            output.file.unlink()

    return paint


def _from_idea(
    course: LivaCuration, case_id: str, idea: Mapping[str, Any], call: str, paint: Paint
) -> None:
    (draft,) = drafting.drafts_of_idea(case_id, idea, call)
    decision = _decide(course, [draft])[draft.key]
    if decision.status == "candidate":
        course.open[case_id] = "the idea waits for a decision"
    elif decision.status == "dropped":
        course.open[case_id] = "the idea was dropped"
    else:
        words = decision.payload
        prompt_sha256 = hashlib.sha256(str(words["image_prompt"]).encode()).hexdigest()[:12]
        picture = course.pictures / f"{case_id}-{prompt_sha256}.png"
        if not picture.is_file():
            paint(case_id, str(words["image_prompt"]), picture)
        licence = "picture made by an image model for this case; see the curation's record"
        _sketched(course, Seed(case_id, "synthetic", picture, str(words["intention"]), licence))


def _sketched(course: LivaCuration, seed: Seed) -> None:
    """Ask for a sidecar, let people decide about it, and write it when they have."""
    _keep_picture(course, seed)
    ask = drafting.ask_sketch(seed)
    reply = _answer(course, "sketch", seed.case_id, ask)
    if reply is None:
        course.open[seed.case_id] = "the model gave no usable reply"
        return
    drafts = drafting.drafts_of_sketch(seed, reply, _call_id(course, "sketch", ask))
    case = drafting.settle(seed, drafts, _decide(course, drafts))
    if isinstance(case, str):
        course.open[seed.case_id] = case
        return
    if doubt := _unseen(course, seed, case):
        course.open[seed.case_id] = doubt
        return
    course.to.mkdir(parents=True, exist_ok=True)
    path = course.to / f"{case.case_id}.yaml"
    if other := _other_intention(path, case.intention):
        course.open[seed.case_id] = (
            f"{path.name} is another case already ({other!r}). Write to another folder, or give "
            "one of them another id"
        )
        return
    write_png(read_image(seed.picture), course.to / case.image)
    path.write_text(sidecar(replace(case, folder=course.to)), "utf-8")
    course.written.append(case.case_id)


def _unseen(course: LivaCuration, seed: Seed, case: AvatarCase) -> str:
    """Why the picture does not show what its sidecar names: asked of the model, confirmed by
    people."""
    ask = drafting.ask_inventory(seed, case)
    reply = _answer(course, "inventory", seed.case_id, ask)
    if reply is None:
        return "the model gave no usable reply about what the picture shows"
    drafts = drafting.drafts_of_inventory(seed, case, reply, _call_id(course, "inventory", ask))
    return drafting.unseen(drafts, _decide(course, drafts))


def _keep_picture(course: LivaCuration, seed: Seed) -> None:
    """Keep the picture in the store, where the review page finds it."""
    data = seed.picture.read_bytes()
    key = curation_picture_key(hashlib.sha256(data).hexdigest())
    store = open_store(course.settings.objects)
    if not store.exists(key):
        store.put(key, data)


def _other_intention(path: Path, intention: str) -> str:
    """What the case that lies there already is about, where it is not this one."""
    if not path.is_file():
        return ""
    case = read_sidecar(path).case
    there = case.intention if case else "it cannot be read"
    return "" if there == " ".join(intention.split()) else there


def _drafted(course: LivaCuration) -> Drafted:
    findings = read_folder(course.to).findings if course.written else ()
    return Drafted(course.name, course.calls, tuple(course.written), course.open, findings)


def _answer(
    course: LivaCuration, step: str, subject: str, ask: AgentPrompt[Any]
) -> dict[str, Any] | None:
    """The reply to a question, asked once for each name and wording."""
    key = _call_id(course, step, ask)
    with session(course.settings.database) as db:
        row = db.get(tables.CurationCall, key)
        if row is not None and row.status == "done":
            return dict(row.payload)
    reply, turns, reason = drafting.converse(course.talker, ask)
    course.calls += 1
    payload: dict[str, Any] = reply.model_dump(mode="json") if reply else {}
    call = tables.CurationCall(
        id=key,
        curation=course.name,
        step=step,
        subject=subject,
        model=course.talker.name,
        prompt_version=prompts_sha256(),
        temperature=None,
        status="done" if reply else "failed",
        reason=reason[:1000],
        payload=payload,
        raw="\n\n".join(turn.text for turn in turns),
        tries=len(turns),
        tokens_in=sum(turn.tokens_in for turn in turns),
        tokens_out=sum(turn.tokens_out for turn in turns),
        cost=sum(turn.cost for turn in turns),
        at=tables.now(),
    )
    with session(course.settings.database) as db:
        _replace_call(db, call)
    return payload or None


def _replace_call(db: Session, call: tables.CurationCall) -> None:
    """A failure gives way to what comes after it."""
    table = tables.CurationCall
    db.connection().execute(
        delete(table).where(col(table.id) == call.id, col(table.status) != "done")
    )
    add_new(db, table, [call.model_dump()])


def _decide(course: LivaCuration, drafts: Sequence[CaseDraft]) -> dict[str, CaseDecision]:
    """Put drafts in the queue, and read what was decided about them."""
    rows = {draft.key: _row(course, draft) for draft in drafts}
    with session(course.settings.database) as db:
        queued = offer(db, list(rows.values()))
    return {
        key: CaseDecision(queued[row["id"]].status, queued[row["id"]].words)
        for key, row in rows.items()
    }


def _row(course: LivaCuration, draft: CaseDraft) -> dict[str, Any]:
    words = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in draft.payload.items()
    }
    row = tables.Draft(
        id=hashlib.sha256(f"{course.name}\0{draft.key}".encode()).hexdigest()[:16],
        call_id=draft.source,
        curation=course.name,
        step=draft.step,
        kind=draft.kind,
        task_id=draft.case_id,
        field=draft.field,
        position=draft.position,
        payload=words,
        context=dict(draft.context),
        status="candidate",
        created_at=tables.now(),
    )
    return row.model_dump(exclude={"decided_at"})


def _call_id(course: LivaCuration, step: str, ask: AgentPrompt[Any]) -> str:
    return hashlib.sha256(f"{course.name}\0{step}\0{ask.sha256}".encode()).hexdigest()[:16]
