"""What the UNIVERSE paper prints: judges against ground truth, judges against people, and its
facts.

A judge's name says backbone, what was tuned, frames and epochs, as far as our copy of the table
states them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluators.contracts import ALL, Facets, Fact, Published
from evaluators.suites.figures import join_notes, one_per_address, read_facts, read_table

PAPER = "UNIVERSE (Adapting Vision-Language Models for Evaluating World Models)"
BACKBONE = "PaliGemma 2 3B"
PROJECTOR = f"{BACKBONE}, projector"
HOME = "environment_1"
"""The environment the judges were adapted in; every table but 14 and 15 is about it."""

TASKS = {"AR": "action_recognition", "CR": "character_recognition"}
METRICS = {"em": "em_normalised", "rouge_f1": "rouge_f1"}
METRIC_NOTES = {
    "em": "The paper does not say how answers are normalised.",
    "rouge_f1": "ROUGE not comparable with ours.",
}
TUNED = {
    "language": "language model",
    "projector": "projector",
    "vision": "vision encoder",
    "projector+language": "projector and language model",
    "vision+language": "vision encoder and language model",
    "vision+projector": "vision encoder and projector",
    "all": "full tuning",
    "lora_r8": "LoRA rank 8",
}

FIRST_FRAMES = "First frames, not uniform: the one-epoch rows equal the first-n rows of Table 9."
NO_EFFECT = "Nearly the zero-shot row of the same backbone: adaptation seems to have had no effect."
TASK_MIX = "Frames, epochs and question shares are not in our copy of the table."
FORMAT_MIX = "Frames and task shares are not in our copy of the table."
SAME_ROWS = "The paper prints the same row for both tasks, up to 0.01."
CLIP = (
    "Closest label by CLIP similarity, majority over frames; printed as accuracy, no question "
    "asked."
)
NOT_A_SHARE = "Not a share of 30 answers; the paper prints 100 % this way."
SMALL_WORLD = "Adaptation environment with the small world model."


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """One judge as one table describes it."""

    table: int
    judge: str
    note: str = ""


def published() -> tuple[Published, ...]:
    """Every figure with an address. Where tables repeat a run the lowest-numbered one is kept."""
    return one_per_address(
        (*_against_truth(), *_clip(), *_kappa(), *_against_people(), *_against_fvd())
    )


def facts() -> tuple[Fact, ...]:
    """Training settings, sizes and baselines of the paper."""
    return read_facts("universe")


def _against_truth() -> Iterator[Published]:
    for table in (4, 5, 6, 7, 8, 9, 10, 11, 12, 17):
        for row in read_table("universe", f"table{table}"):
            yield _figure(_run(table, row), row)


def _run(table: int, row: Mapping[str, str]) -> PublishedRun:
    match table:
        case 4:
            return _zero_shot(row)
        case 5:
            note = NO_EFFECT if row["tuned_component"].startswith("lora") else ""
            return PublishedRun(
                5, f"{BACKBONE}, {TUNED[row['tuned_component']]}, 1 frame, 1 epoch", note
            )
        case 6 | 7:
            return PublishedRun(table, f"{PROJECTOR}, 1 frame, {_epochs(row)}")
        case 8:
            frames = _frames("first_n", row["frames"])
            return PublishedRun(
                8,
                f"{PROJECTOR}, {frames}, {_epochs(row)}",
                "" if frames == "1 frame" else FIRST_FRAMES,
            )
        case 9:
            return PublishedRun(
                9, f"{PROJECTOR}, {_frames(row['sampling'], row['frames'])}, 1 epoch"
            )
        case 10:
            return PublishedRun(
                10,
                f"{PROJECTOR}, tasks mixed {_shares(row, AR='alpha_ar', CR='alpha_cr')}",
                TASK_MIX,
            )
        case 11 | 12:
            shares = _shares(row, binary="beta_binary", MC="beta_mc", OE="beta_oe")
            return PublishedRun(
                table, f"{PROJECTOR}, formats mixed {shares}, {_epochs(row)}", FORMAT_MIX
            )
        case 17:
            return PublishedRun(
                17, f"{BACKBONE}, LoRA rank {row['lora_rank']}, 1 frame, 1 epoch", NO_EFFECT
            )
    raise ValueError(f"Table {table} has no judges; name one of 4 to 12 or 17.")


def _zero_shot(row: Mapping[str, str]) -> PublishedRun:
    frames = "1 frame" if row["frames"] == "1" else f"{row['frames']} frames"
    repeated = row["model"] == "VideoLLaMA3 2B" and row["frames"] == "8"
    return PublishedRun(4, f"{row['model']}, zero-shot, {frames}", SAME_ROWS if repeated else "")


def _frames(sampling: str, count: str) -> str:
    """One frame is the first one under both rules, so that it has one name."""
    if count == "1":
        return "1 frame"
    return f"first {count} frames" if sampling == "first_n" else f"{count} uniform frames"


def _epochs(row: Mapping[str, str]) -> str:
    count = f"{float(row['epochs']):g}"
    return "1 epoch" if count == "1" else f"{count} epochs"


def _shares(row: Mapping[str, str], **columns: str) -> str:
    return " ".join(f"{name} {float(row[column]):g}" for name, column in columns.items())


def _figure(run: PublishedRun, row: Mapping[str, str]) -> Published:
    return Published(
        model=run.judge,
        metric=METRICS[row["metric"]],
        facets=Facets(HOME, TASKS[row["task"]], row["format"], "text"),
        evaluator="auto",
        value=float(row["mean"]),
        spread=float(row["std"]),
        source=_source(run.table),
        note=join_notes(METRIC_NOTES[row["metric"]], run.note),
    )


def _clip() -> Iterator[Published]:
    """Choosing among all labels is what a multiple-choice question asks."""
    for row in read_table("universe", "table16"):
        frames = "1 frame" if row["frames"] == "1" else f"{row['frames']} frames"
        facets = Facets(HOME, TASKS[row["task"]], "multiple_choice", "text")
        mean, std = float(row["mean"]), float(row["std"])
        judge = f"{row['model']}, zero-shot, {frames}"
        yield Published(judge, "em_normalised", facets, "auto", mean, std, _source(16), CLIP)


def _kappa() -> Iterator[Published]:
    for row in read_table("universe", "table14"):
        facets = Facets(f"environment_{row['setting']}", ALL, ALL, "text")
        note = join_notes(f"{row['valid_qa_pairs']} valid pairs printed.", _world(row))
        kappa = float(row["cohen_kappa"])
        yield Published("UNIVERSE", "cohen_kappa", facets, "human", kappa, None, _source(14), note)


def _against_people() -> Iterator[Published]:
    for row in read_table("universe", "table15"):
        value = float(row["value"])
        yield Published(
            model="UNIVERSE",
            metric=row["metric"].removesuffix("_percent"),
            facets=Facets(
                f"environment_{row['setting']}", TASKS[row["task"]], row["format"], "text"
            ),
            evaluator="human",
            value=value,
            spread=None,
            source=_source(15),
            note=join_notes(NOT_A_SHARE if value > 99 else "", _world(row)),
        )


def _against_fvd() -> Iterator[Published]:
    for row in read_table("universe", "table18"):
        facets = Facets(f"environment_{row['setting']}", TASKS[row["task"]], ALL, "text")
        r = float(row["value"])
        yield Published(
            "UNIVERSE", "pearson_fvd", facets, "human", r, None, _source(18), _world(row)
        )


def _world(row: Mapping[str, str]) -> str:
    return SMALL_WORLD if row["setting"] == "8" else ""


def _source(table: int) -> str:
    return f"{PAPER}, Table {table}"
