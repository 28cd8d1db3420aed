"""The operator's command for the rows beside the ranking."""

from __future__ import annotations

from flows.terminal import progress, say, told


def sanity() -> None:
    """Put the sanity rows onto every board that has entries; what stands there already is not made again."""
    from flows.engine import prepare

    with told() as settings, progress():
        prepare(settings)
        from flows.yardsticks import stand

        rows = list(stand(settings))
        for row in rows:
            say(f"{row.submission_id} is {row.state}: {row.made} outputs taken over and {row.judged} judged now.")
        say(f"{len(rows)} rows stand beside the ranking." if rows else "No board has entries yet: there is no ranking.")
