"""How to cite: the board as it stood, or one entry, with author and address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from infra.tables import Submission, Suite, now
from leaderboard.draw.words import long_text, name
from leaderboard.queries.samples import RunFacts
from leaderboard.selection.choice import Choice


def board_address() -> str:
    """Where this board stands, as the reader's browser knows it; empty outside of a browser."""
    url = str(st.context.url or "") if hasattr(st, "context") else ""
    match = re.match(r"https?://[^/]+", url)
    return match[0] if match else ""


def cite_board(suite: Suite, chosen: Choice) -> None:
    """A folded BibTeX entry for what the page shows now."""
    with st.expander("Cite this board", icon=":material/format_quote:"):
        st.code(long_text(board_citation(suite, chosen, board_address())), language=None)


def cite_entry(submission: Submission, runs: Sequence[RunFacts]) -> None:
    """BibTeX for an entry, and its badge with the line that embeds it elsewhere."""
    base = board_address()
    with st.expander("Cite and embed", icon=":material/format_quote:"):
        st.code(long_text(entry_citation(submission, base)), language=None)
        for run in runs[:1]:
            badge = f"{base}/api/v1/runs/{run.run_id}/badge.svg"
            st.caption("A badge for a README or a page; it follows the board:")
            st.code(
                f"[![{markdown_text(submission.model)}]({badge})]({base}/model?id={submission.id})",
                language=None,
            )
            page = f"{base}/model?id={submission.id}&embed=true"
            st.code(f'<iframe src="{page}" width="100%" height="520"></iframe>', language=None)


def markdown_text(text: str) -> str:
    """A name that closes no bracket of markdown.

    >>> markdown_text("a](http://x)")
    'a(http://x)'
    """
    return re.sub(r"[\[\]<>`\\]", "", name(text, 60))


def board_citation(suite: Suite, chosen: Choice, base: str) -> str:
    """BibTeX for one board, with the day it was read."""
    today = now()
    lines = (
        f"@misc{{armillary-{suite.name}-{today:%Y%m%d},",
        "  author = {{Armillary}},",
        f"  title = {{{{{suite.title}}}: the open leaderboard for visual world models}},",
        f"  year = {{{today:%Y}}},",
        f"  howpublished = {{\\url{{{base}/ranking?{urlencode(chosen.params())}}}}},",
        f"  note = {{version {suite.version}, board {chosen.board or 'none'}, "
        f"read {today:%Y-%m-%d}}}",
        "}",
    )
    return "\n".join(lines)


def entry_citation(submission: Submission, base: str) -> str:
    """BibTeX for one entry: who handed it in, where it stands, and the hash of what was handed
    in."""
    author = submission.organisation or submission.team
    lines = (
        f"@misc{{armillary-{submission.id},",
        f"  author = {{{{{name(author)}}}}},",
        f"  title = {{{{{name(submission.model)}}} on {submission.suite} "
        f"{submission.suite_version}}},",
        f"  year = {{{submission.created_at:%Y}}},",
        f"  howpublished = {{\\url{{{base}/model?id={submission.id}}}}},",
        f"  note = {{Armillary, entry {submission.id}, bundle {submission.bundle_sha256[:16]}}}",
        "}",
    )
    return "\n".join(lines)
