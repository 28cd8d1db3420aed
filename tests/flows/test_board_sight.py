"""A board is ranked only by a judge that sees: the exam and the sanity rows decide, by day and by
night."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image
from sqlalchemy import delete, update
from sqlmodel import col, select

from evaluators.contracts import Question, Request
from evaluators.judges.scripted import ScriptedJudge, by_hash
from evaluators.suites import suite_named
from flows.audit.audit import audit
from flows.durable.shard_results import ShardResult
from flows.evaluate.door import receive
from flows.evaluate.flow import run_here
from flows.nightly.flow import run as run_night
from flows.suites.yardsticks import stand
from flows.workers.judges import JudgeOptions, open_judge
from flows.workers.judging import ask_exam
from flows.workers.specs import ExamWork, WorkerPlace
from infra.db import session
from infra.settings import Settings
from infra.tables import Judge
from infra.tables.standing import BoardSight, JudgeExam, PanelSplit
from leaderboard.api.app import create
from leaderboard.export import static_site
from leaderboard.queries.ranking import BoardAddress, RankedEntry, ranking
from leaderboard.queries.trust import notices
from leaderboard.selection.settle import leaders
from tests.bundles import declaration, drawn_outputs
from tests.command import Machine
from tests.exams.judges import EXAMS, by_key
from tests.leaderboard.pages import opened

ITEMS = {item.id: item for exam in EXAMS.values() for item in exam.items()}
OFFLINE = {"ENGINE": "here", "ANCHORS": "2", "DRIFT_OUTPUTS": "0"}


@dataclass
class Behaviour:
    """How the judge of a test answers just now; its card stays the same. `asked` counts the
    questions of the exam."""

    answer: Callable[[Request, Question], str]
    asked: int = 0

    def __call__(self, request: Request, question: Question) -> str:
        self.asked += request.sample_id in ITEMS
        return self.answer(request, question)


def knows_the_exam(request: Request, question: Question) -> str:
    item = ITEMS.get(request.sample_id)
    return by_key(item, question) if item else by_hash(request, question)


def always_yes(_request: Request, question: Question) -> str:
    return "5" if question.kind == "rating" else question.options[0]


def reads_text_cards(request: Request, question: Question) -> str:
    """Passes the exam; of outputs it likes those with writing, which have a few shades of grey."""
    if request.sample_id in ITEMS:
        return by_key(ITEMS[request.sample_id], question)
    with Image.open(request.media) as picture:
        shades = np.asarray(picture.convert("L"))
    card = len(np.unique(shades)) > 2 and float(np.median(shades)) > 200
    worst = "1" if question.kind == "rating" else question.options[1]
    return always_yes(request, question) if card else worst


@pytest.fixture
def judge(ready: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Behaviour]:
    """The scripted judge of a machine that requires the exam; a test says how it behaves."""
    behaviour = Behaviour(knows_the_exam)

    def rule(request: Request, question: Question) -> str:
        return behaviour(request, question)

    monkeypatch.setenv("ARMILLARY_EXAM", "required")
    for name, value in OFFLINE.items():
        monkeypatch.setenv(f"ARMILLARY_{name}", value)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr("flows.workers.judges.ScriptedJudge", lambda: ScriptedJudge(rule))
    open_judge.cache_clear()
    yield behaviour
    open_judge.cache_clear()


def publish(folder: Path, shift: int = 0, judge: str = "") -> str:
    settings = Settings()
    model = {**declaration()["model"], "name": f"Painter {shift}"}
    bundle = drawn_outputs(
        folder / f"bundle-{shift}.zip", shift=shift, team=f"Team {shift}", model=model
    )
    submission = receive(settings, str(bundle), None, None).submission_id
    return run_here(submission, settings, judge).state


def judged_here() -> list[RankedEntry]:
    with session(Settings().database) as db:
        return [row for row in ranking(db, "tailor", None, BoardAddress()) if row.trust != "C"]


def sitting() -> JudgeExam:
    with session(Settings().database) as db:
        return db.exec(select(JudgeExam).order_by(col(JudgeExam.at).desc())).all()[0]


def verdicts() -> list[tuple[str, bool]]:
    with session(Settings().database) as db:
        return [(row.verdict, row.ranked) for row in db.exec(select(BoardSight))]


def has_no_ranks_anywhere(folder: Path, reason: str) -> None:
    """Hold page, overview, API, export and command line to it."""
    settings = Settings()
    with session(settings.database) as db:
        entries = [row for row in ranking(db, "tailor", None, BoardAddress()) if row.trust != "C"]
        (front,) = (front for front in leaders(db) if front.settled.suite.name == "tailor")
        static_site.write(db, folder / "site")
    assert entries
    assert {(row.rank, row.best_rank, row.worst_rank) for row in entries} == {(None, None, None)}
    assert all(row.value is not None and reason in row.why_no_ranks for row in entries)
    assert front.ours == front.unranked == () and reason in front.notice
    api = TestClient(create(settings))
    rows = api.get("/v1/suites/tailor/ranking").json()
    assert all(row["rank"] is None for row in rows)
    (board,) = api.get("/v1/suites/tailor/boards").json()
    assert board["sight"]["verdict"] == "blind" and not board["sight"]["ranked"]
    files = json.loads((folder / "site" / "tailor" / "ranking.json").read_text())
    ours = [row for row in files if row["trust"] != "C"]
    assert ours and all(row["rank"] is None and reason in row["why_no_ranks"] for row in ours)
    assert "Not ranked" in (folder / "site" / "index.html").read_text()
    table = Machine(settings.home).run("board", "tailor")
    assert "Not ranked: this board's judge is blind." in table and reason in table


def test_a_judge_that_knows_the_answers_is_ranked_and_sits_the_exam_once(
    judge: Behaviour, tmp_path: Path
) -> None:
    publish(tmp_path)
    after_first = judge.asked
    publish(tmp_path, shift=50)

    row, exam = sitting(), EXAMS["tailor"]
    with session(Settings().database) as db:
        card = db.get_one(Judge, row.judge).card["exam"]["tailor"]
    questions = sum(len(item.questions) for item in exam.items())
    assert verdicts() == [("sees", True)]
    assert sorted(str(entry.rank) for entry in judged_here()) == ["1", "1"]
    assert (row.sitting, row.night, row.verdict, row.kappa) == ("first", None, "sees", 1.0)
    assert (row.n, row.n_answered, card["kappa"]) == (questions, questions, 1.0)
    assert (after_first, judge.asked) == (questions, questions)


def test_a_judge_that_always_says_yes_is_blind_on_bias_and_has_no_ranks_anywhere(
    judge: Behaviour, tmp_path: Path
) -> None:
    judge.answer = always_yes

    state = publish(tmp_path)

    assert state == "published"
    has_no_ranks_anywhere(tmp_path, "yes-bias")


def test_the_random_paligemma_is_found_blind_and_has_no_ranks_anywhere(
    judge: Behaviour, tmp_path: Path
) -> None:
    from evaluators.models.small import make_paligemma

    publish(tmp_path, judge=f"vlm:{make_paligemma(tmp_path / 'paligemma')}")

    assert judge.asked == 0
    has_no_ranks_anywhere(tmp_path, "kappa")


def test_an_adapted_judge_of_rollouts_sits_the_exam_before_it_judges_another_suite(
    judge: Behaviour, tmp_path: Path
) -> None:
    from evaluators.models.adapt.batches import Lesson
    from evaluators.models.adapt.folder import base_of, save_adapted
    from evaluators.models.adapt.train import TrainingPlan, adapt
    from evaluators.models.vlm.adapter import PACKAGED, packaged_base
    from evaluators.models.vlm.judge import read_folder

    reader, plan = packaged_base(), TrainingPlan(steps=1, batch=1, accumulate=1)
    lesson = Lesson(np.zeros((2, 32, 32, 3), np.uint8), (("What does it do?", "walk"),))
    taught = adapt(*read_folder(reader, "cpu", "fp32"), [lesson], plan)
    base = base_of(reader, PACKAGED)
    folder = save_adapted(tmp_path / "adapter", taught, base, plan, "uniform-2")

    publish(tmp_path, judge=f"vlm:{folder}")

    row = sitting()
    assert (row.suite, row.sitting, row.n_answered) == ("tailor", "first", row.n)
    assert row.kappa_low is not None and row.kappa_low < 0.4
    has_no_ranks_anywhere(tmp_path, "kappa")


def test_a_judge_that_reads_the_text_card_passes_the_exam_and_fails_on_the_sanity_rows(
    judge: Behaviour, tmp_path: Path
) -> None:
    judge.answer = reads_text_cards
    publish(tmp_path)
    before = verdicts()

    brought = [result.stopped for result in stand(Settings())]

    (entry,) = (row for row in judged_here() if row.role == "entry")
    assert set(brought) == {None}
    assert before == [("sees", True)]
    assert (sitting().verdict, verdicts()) == ("sees", [("blind", False)])
    assert entry.rank is None and "'Text card with the prompt (picture)'" in entry.why_no_ranks
    assert any("Text card" in row.alarm for row in judged_here())
    page = opened("ranking", suite="tailor")
    (box,) = (html.proto.body for html in page.get("html") if "arm-warn" in html.proto.body)
    assert "Nobody is ranked here" in box and "Text card with the prompt" in box


def test_what_a_sanity_row_ties_or_beats_stands_in_api_export_and_command_line(
    judge: Behaviour, tmp_path: Path
) -> None:
    judge.answer = reads_text_cards
    publish(tmp_path)
    list(stand(Settings()))
    settings = Settings()

    rows = TestClient(create(settings)).get("/v1/suites/tailor/ranking").json()
    with session(settings.database) as db:
        static_site.write(db, tmp_path / "site")

    files = json.loads((tmp_path / "site" / "tailor" / "ranking.json").read_text())
    for listed in (rows, files):
        alarms = {row["model"]: row["alarm"] for row in listed if row["alarm"]}
        assert "Text card with the prompt (picture)" in alarms
        assert all("ties or beats Painter 0" in text for text in alarms.values())
    assert "ties or beats" in (tmp_path / "site" / "tailor" / "ranking.csv").read_text()
    assert "ties or beats" in Machine(settings.home).run("board", "tailor")


def test_a_board_without_a_verdict_is_not_ranked(judge: Behaviour, tmp_path: Path) -> None:
    publish(tmp_path)
    ranked = judged_here()[0].rank
    with session(Settings().database) as db:
        db.connection().execute(delete(BoardSight))

    (entry,) = judged_here()

    assert ranked == 1
    assert entry.rank is None and "not examined" in entry.why_no_ranks
    (board,) = TestClient(create(Settings())).get("/v1/suites/tailor/boards").json()
    assert (board["sight"]["verdict"], board["sight"]["ranked"]) == ("not examined", False)


def test_the_audit_finds_a_verdict_or_an_exam_that_was_touched(
    judge: Behaviour, tmp_path: Path
) -> None:
    judge.answer = always_yes
    publish(tmp_path)
    with session(Settings().database) as db:
        clean = audit(db).findings
        db.connection().execute(update(BoardSight).values(ranked=True, verdict="sees"))
        db.connection().execute(update(JudgeExam).values(kappa=1.0))

    with session(Settings().database) as db:
        findings = audit(db).findings

    assert clean == ()
    assert any(text.startswith("board_sight") and "edited" in text for text in findings)
    assert any(text.startswith("judge_exam") and "edited" in text for text in findings)


def test_a_night_that_changes_a_verdict_leaves_the_audit_clean(
    judge: Behaviour, tmp_path: Path
) -> None:
    publish(tmp_path)
    judge.answer = always_yes

    run_night(Settings(), lambda: datetime(2026, 11, 16, 3, 5, tzinfo=UTC))

    with session(Settings().database) as db:
        assert audit(db).findings == ()


@pytest.fixture
def panel(judge: Behaviour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Three judges that know the exam; of outputs the third says the opposite of the others."""

    def member(folder: Path, *_: object) -> ScriptedJudge:
        def rule(request: Request, question: Question) -> str:
            if request.sample_id in ITEMS:
                return judge(request, question)
            agreed = by_hash(request, question) if question.options else "4"
            return "no" if folder.name == "c" and agreed == "yes" else agreed

        return ScriptedJudge(rule, name=folder.name)

    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    monkeypatch.setattr("flows.workers.judges._local", member)
    names = [f"vlm:{tmp_path / name}" for name in "abc"]
    file = tmp_path / "panel.toml"
    file.write_text(f"judges = {json.dumps(names)}\n")
    return f"panel:{file}"


def test_a_panel_sits_the_exam_ranks_its_own_board_and_its_disagreement_is_a_column(
    panel: str, tmp_path: Path
) -> None:
    assert publish(tmp_path, judge=panel) == "published"

    (entry,) = judged_here()
    row = sitting()
    with session(Settings().database) as db:
        split = db.exec(select(PanelSplit)).one()
        card = db.get_one(Judge, row.judge).card
    assert (row.verdict, entry.rank) == ("sees", 1)
    assert entry.judge == "Panel of 3 by majority: a, b, c" and card["code"] == "panel-1"
    assert 0 < split.split < split.questions
    assert entry.disagreement == pytest.approx(split.split / split.questions)
    (told,) = TestClient(create(Settings())).get("/v1/suites/tailor/ranking").json()[:1]
    assert told["disagreement"] == entry.disagreement
    page = opened("ranking", suite="tailor")
    assert f"{100 * split.split / split.questions:.1f} %" in _html(
        page
    ) and "Disagreement" in _html(page)


def test_a_board_of_one_judge_has_no_such_column(judge: Behaviour, tmp_path: Path) -> None:
    publish(tmp_path)

    page = opened("ranking", suite="tailor")

    assert judged_here()[0].disagreement is None
    assert "Disagreement" not in _html(page)


def test_a_judge_that_is_broken_at_night_loses_its_ranks_in_the_morning_and_gets_them_back(
    judge: Behaviour, tmp_path: Path
) -> None:
    publish(tmp_path)
    at_noon = judged_here()[0].rank
    judge.answer = always_yes

    run_night(Settings(), lambda: datetime(2026, 11, 16, 3, 5, tzinfo=UTC))
    in_the_morning = judged_here()[0]
    judge.answer = knows_the_exam
    run_night(Settings(), lambda: datetime(2026, 11, 17, 3, 5, tzinfo=UTC))

    assert at_noon == 1
    assert in_the_morning.rank is None and "yes-bias" in in_the_morning.why_no_ranks
    assert (str(sitting().night), judged_here()[0].rank) == ("2026-11-17", 1)


def test_a_sitting_that_was_cut_off_asks_only_what_is_missing(
    judge: Behaviour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = list[str]()

    def dies_in_the_third_shard(work: ExamWork, place: WorkerPlace) -> ShardResult:
        begun.append("shard")
        if len(begun) == 3:
            raise KeyboardInterrupt
        return ask_exam(work, place)

    monkeypatch.setattr("flows.publish.exam_sitting.ask_exam", dies_in_the_third_shard)
    with pytest.raises(KeyboardInterrupt):
        publish(tmp_path)
    asked_before = judge.asked
    publish(tmp_path)

    questions = [len(item.questions) for item in EXAMS["tailor"].items()]
    assert judge.asked - asked_before == sum(questions[40:])
    assert verdicts() == [("sees", True)]


def test_a_judge_sits_the_exam_under_the_instruction_that_it_judges_under(
    judge: Behaviour, ready: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def noting(name: str, device: str, options: JudgeOptions) -> ScriptedJudge:
        opened.append(options.judging)
        return ScriptedJudge(judge)

    monkeypatch.setattr("flows.workers.judging.open_judge", noting)
    monkeypatch.setattr("flows.workers.judging.check_card", lambda *_: None)
    suite, item = suite_named("liva"), EXAMS["liva"].items()[0]
    work = ExamWork("liva", "scripted", "fingerprint", "items", (item.id,), "first")
    place = WorkerPlace(ready.objects, None, str(ready.work), "cpu")

    result = ask_exam(work, place)

    assert suite.judging and opened == [suite.judging]
    assert (result.items, judge.asked) == (1, len(item.questions))


def test_an_exam_that_is_switched_off_is_said_on_the_board(
    judge: Behaviour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_EXAM", "off")

    publish(tmp_path)

    (entry,) = judged_here()
    with session(Settings().database) as db:
        notice = notices(db, [entry.board])[entry.board]
    assert (entry.rank, notice.verdict, notice.ranked) == (1, "not examined", True)
    assert "An operator switched the exam off" in notice.text


def test_suites_that_are_scored_by_rule_have_no_exam() -> None:
    assert {name for name in ("sc3", "universe") if suite_named(name).exam} == set()


def _html(page: Any) -> str:
    return " ".join(block.proto.body for block in page.get("html"))
