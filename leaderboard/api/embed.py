"""What other pages embed or open: an entry's receipt, its badge, and the API's description as a
page that needs no network."""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from sqlmodel import Session

from infra.tables.standing import Receipt
from leaderboard.api.routes import Ask
from leaderboard.draw.words import name, number
from leaderboard.queries import ranking, samples
from leaderboard.queries.ranking import NotOnBoard
from leaderboard.selection.choice import Choice
from leaderboard.selection.settle import settle

router = APIRouter()
LETTER = 6.6
"""How wide a letter of a badge is."""
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}code{font-size:.95em}h2{margin-top:2rem}"
    "table{border-collapse:collapse}td,th{text-align:left;padding:.2rem .8rem .2rem 0}"
)


@router.get("/runs/{run}/receipt", response_class=Response)
def receipt(ask: Ask, run: str) -> Response:
    """What a run's numbers rest on, as canonical JSON; `armillary verify` recomputes from it."""
    text = ask(_receipt, run)
    return Response(text, media_type="application/json")


@router.get("/runs/{run}/badge.svg", response_class=Response)
def badge(ask: Ask, run: str) -> Response:
    """A run's rank and figure as a small picture that follows the board."""
    left, right = ask(_badge_words, run)
    headers = {"Cache-Control": "public, max-age=300"}
    return Response(badge_picture(left, right), media_type="image/svg+xml", headers=headers)


def described(request: Request) -> HTMLResponse:
    """Every operation of the API, from its own description, as one plain page."""
    return HTMLResponse(description_page(request.app.openapi()))


def _receipt(db: Session, run: str) -> str:
    row = db.get(Receipt, run)
    if row is None:
        raise NotOnBoard(f"There is no receipt of a run {run!r}.")
    return row.text


def _badge_words(db: Session, run: str) -> tuple[str, str]:
    facts = samples.run_facts(db, run)
    settled = settle(db, Choice(suite=facts.suite)) if facts else None
    if facts is None or settled is None:
        raise NotOnBoard(f"There is no published run {run!r}.")
    chosen, metric = settled.choice, settled.metric
    entries = ranking.ranking(db, chosen.suite, chosen.metric, chosen.at)
    own = next(entry for entry in entries if entry.run_id == run)
    ranked = sum(e.rank is not None and e.board == own.board for e in entries)
    place = "not ranked" if own.rank is None else f"#{own.rank} of {ranked}"
    part = "" if facts.subset == "full" else f" ({facts.subset} subset)"
    value = number(own.value, metric.unit)
    return f"{settled.suite.title}{part}", f"{place} · {metric.title} {value}"


def badge_picture(left: str, right: str) -> str:
    """Two words side by side, dark and in the board's colour."""
    widths = [int(LETTER * len(text)) + 16 for text in (left, right)]
    whole = sum(widths)
    texts = "".join(
        f'<text x="{x}" y="14" fill="#fff">{escape(name(text, 80))}</text>'
        for x, text in ((8, left), (widths[0] + 8, right))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" '
        f'aria-label="{escape(f"{left}: {right}")}" font-family="Verdana,sans-serif" '
        f'font-size="11"><rect width="{widths[0]}" height="20" fill="#3d4650"/>'
        f'<rect x="{widths[0]}" width="{widths[1]}" height="20" fill="#0b63a5"/>{texts}</svg>'
    )


def description_page(description: dict[str, Any]) -> str:
    """The API's description as HTML, one section an operation; no script and no other address."""
    sections = "".join(
        _operation(path, method, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>API · Armillary'
        f"</title><style>{STYLE}</style></head><body><h1>The API of Armillary</h1>"
        f'<p>The same for programs: <a href="openapi.json">openapi.json</a>.</p>'
        f"{sections}</body></html>"
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(parameter['name'])}</code></td><td>{escape(parameter['in'])}</td>"
        f"<td>{'required' if parameter.get('required') else ''}</td>"
        f"<td>{escape(parameter.get('description', ''))}</td></tr>"
        for parameter in operation.get("parameters", ())
    )
    table = f"<table>{rows}</table>" if rows else ""
    about = escape(operation.get("description", operation.get("summary", "")))
    return f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{about}</p>{table}"
