"""Which judge a setting names."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from evaluators.contracts import Judge
from evaluators.judges.scripted import ScriptedJudge


class UnknownJudge(Exception):
    """The setting names no judge; the message says what it may name."""


@lru_cache(maxsize=2)
def open_judge(name: str, device: str) -> Judge:
    """The judge of that name, loaded once a process."""
    if name == "scripted":
        return ScriptedJudge()
    if name.startswith("vlm:"):
        from evaluators.models.device import pick_device
        from evaluators.models.vlm import VlmJudge

        return VlmJudge(Path(name.removeprefix("vlm:")), device=pick_device(device))
    raise UnknownJudge(
        f"ARMILLARY_JUDGE is {name!r}. Set it to scripted, or to vlm:FOLDER with a model folder on this machine."
    )
