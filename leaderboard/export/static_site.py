"""The board as a folder of files: any web server can serve it, so that the board outlives its
server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from sqlmodel import Session

from infra.tables import Suite
from leaderboard.draw.words import name, number, titled
from leaderboard.export import cells
from leaderboard.export.text import as_csv, as_json
from leaderboard.queries import entries, ranking
from leaderboard.queries.ranks import audit_head
from leaderboard.selection import settle
from leaderboard.selection.choice import Choice

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem "
    ".6rem;border-bottom:1px solid #8886;"
    "overflow-wrap:anywhere}:root{color-scheme:light dark}"
)


VIEWPORT = "<meta name=viewport content='width=device-width'>"


def write(db: Session, folder: Path) -> list[Path]:
    """Write everything public; the same board gives the same bytes."""
    written = [
        _put(
            folder / "suites.json",
            _json([suite.model_dump(mode="json") for suite in ranking.suites(db)]),
        )
    ]
    written.append(
        _put(
            folder / "judges.json",
            _json([judge.model_dump(mode="json") for judge in entries.judges(db)]),
        )
    )
    written.append(
        _put(
            folder / "models.json",
            _json([asdict(submission) for submission in entries.recent_submissions(db, 100_000)]),
        )
    )
    written.append(_put(folder / "audit.json", _json(audit_head(db))))
    for suite in ranking.suites(db):
        written += _suite(db, suite, folder / suite.name)
    written.append(_put(folder / "index.html", _index(db).encode()))
    return written


def _suite(db: Session, suite: Suite, folder: Path) -> list[Path]:
    metrics = ranking.metrics(db, suite.name)
    written = [
        _put(folder / "metrics.json", _json([metric.model_dump(mode="json") for metric in metrics]))
    ]
    written += cells.write(folder, entries.every_figure(db, suite.name))
    settled = settle.settle(db, Choice(suite=suite.name))
    if settled:
        ranked = ranking.ranking(db, suite.name, settled.choice.metric, settled.choice.at)
        written.append(_put(folder / "ranking.csv", as_csv(ranked).encode()))
        written.append(_put(folder / "ranking.json", as_json(ranked).encode()))
    return written


def _index(db: Session) -> str:
    last = entries.last_published(db)
    when = (
        f"Last publication: {last:%Y-%m-%d %H:%M} UTC." if last else "Only papers' figures so far."
    )
    parts = "".join(_section(front) for front in settle.leaders(db, 20))
    files = ", ".join(
        f"<a href='{name}.json'>{name}</a>" for name in ("suites", "models", "judges")
    )
    head = f"<meta charset=utf-8>{VIEWPORT}<title>Armillary</title><style>{STYLE}</style>"
    body = f"<h1>Armillary</h1><p>{when}</p>{parts}<h2>All files</h2><p>{files}</p>"
    return f"<!doctype html><html lang=en>{head}{body}</html>\n"


def _section(front: settle.Leaders) -> str:
    suite, metric = front.settled.suite, front.settled.metric
    rows = "".join(_row(entry, metric.unit) for entry in [*front.ours, *front.papers])
    heads = ("Rank", "Model", "Trust", titled(metric.title, metric.unit), "n/N")
    table = f"<table><tr>{''.join(f'<th>{escape(head)}' for head in heads)}{rows}</table>"
    links = ", ".join(
        f"<a href='{suite.name}/cells.{kind}'>{kind}</a>" for kind in ("csv", "json", "parquet")
    )
    body = f"{table}<p>Every cell: {links}</p>" if rows else "<p>No figures yet.</p>"
    notice = f"<p><strong>{escape(front.notice)}</strong></p>" if front.notice else ""
    return f"<h2>{escape(suite.title)}</h2><p>{escape(suite.sentence)}</p>{notice}{body}"


def _row(entry: ranking.RankedEntry, unit: str) -> str:
    counted = "" if entry.n_expected is None else f"{entry.n_scored}/{entry.n_expected}"
    values: Sequence[Any] = (
        entry.rank or "",
        name(entry.model),
        entry.trust,
        number(entry.value, unit),
        counted,
    )
    return "<tr>" + "".join(f"<td>{escape(str(value))}" for value in values)


def _json(value: Any) -> bytes:
    return (
        json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, default=str) + "\n"
    ).encode()


def _put(path: Path, data: bytes) -> Path:
    """Whole or not at all: a web server may be reading the old one."""
    from infra.store import landing

    with landing(path) as file:
        file.write(data)
    return path
