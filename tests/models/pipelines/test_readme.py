"""The table of families that submissions/README.md prints is the table that runs."""

from __future__ import annotations

from evaluators.models.generate.families import FAMILIES, FORM_NAMES, PipelineFamily
from evaluators.models.generate.settings import signature_of
from tests.command import ROOT

HEAD = (
    "| pipeline | form | size | frames | rate | steps | guidance |\n|---|---|---|---|---|---|---|"
)
OWN = "its config's"


def row(family: PipelineFamily) -> str:
    """A family as a line of the table: what it gets where a manifest leaves a setting out."""
    default = {name: value.default for name, value in signature_of(family.called).items()}
    named = f"`{family.pipeline}`" + (f" as `{family.runs_as}`" if family.runs_as else "")
    cells = (
        named,
        FORM_NAMES[family.form],
        size(family, default),
        frames(family, default),
        f"{float(default.get(family.rate) or family.fps):g}" if family.modality == "video" else "",
        f"{default['num_inference_steps']}",
        OWN if family.guidance == "guider" else f"`{family.guidance}` {default[family.guidance]:g}",
    )
    return f"| {' | '.join(cells)} |"


def size(family: PipelineFamily, default: dict[str, object]) -> str:
    if default.get("height"):
        return f"{default['width']}x{default['height']}"
    if "x" in family.size:
        return "x".join(reversed(family.size.split("x")))
    return f"{8 * int(family.size)}x{8 * int(family.size)}" if family.size.isdigit() else OWN


def frames(family: PipelineFamily, default: dict[str, object]) -> str:
    if family.modality == "image":
        return ""
    number = default.get("num_frames") or (family.frames if family.frames.isdigit() else OWN)
    return f"{number} ({family.period}k+1)" if family.period > 1 else f"{number}"


def test_the_page_has_every_family_as_it_is_run() -> None:
    page = (ROOT / "submissions" / "README.md").read_text("utf-8")

    table = "\n".join([HEAD, *map(row, FAMILIES)])

    assert table in page, f"put this table into submissions/README.md:\n{table}"


def test_a_clip_of_a_family_s_own_length_is_one_that_it_can_make() -> None:
    for family in FAMILIES:
        number = signature_of(family.called).get("num_frames")
        if number is not None and number.default and family.period > 1:
            assert number.default % family.period == 1, family.pipeline
