"""The numbers of both boards of world models: as a judge sees rollouts, as people do, and by rule
against the game."""

from __future__ import annotations

from evaluators.contracts import Metric

VOTED = (
    "A judge is shown each rollout in eight ways (plain, small, hud_occlusion, appearance_drift, "
    "missing_asset, fog, dark, grain), and its most frequent answer counts. "
)
PAIRS = "Of a pair of yes/no questions both must be right, so a constant answer scores 0. "
PEOPLE = "Unclear or pending labels leave both sides and are counted. "
HIGHER = "Higher is better."


def _percent(name: str, title: str, explain: str, *, headline: bool = False) -> Metric:
    return Metric(
        name, title, "percent", "higher", 0, 100, f"{explain} {HIGHER}", headline=headline
    )


JUDGE_METRICS: tuple[Metric, ...] = (
    _percent(
        "score",
        "Seen as conditioned",
        "Mean of the two below: what the judge sees in a rollout is what the world was given. "
        f"{VOTED}{PAIRS}",
        headline=True,
    ),
    _percent(
        "judged_action",
        "Action seen",
        f"100 x rollouts in which the judge sees the action of the buttons / rollouts. {PAIRS}",
        headline=True,
    ),
    _percent(
        "judged_character",
        "Character seen",
        "100 x rollouts in which the judge sees the character of the given frames / rollouts. "
        f"{PAIRS}",
        headline=True,
    ),
    _percent(
        "vote_agreement",
        "Showings that agree",
        "Mean share of the eight showings whose answer is the one that was voted for; it speaks of "
        "the judge, not of the world.",
    ),
)

PEOPLE_METRICS: tuple[Metric, ...] = tuple(
    _percent(name, title, f"{formula}, as people who watched the rollout say. {PEOPLE}")
    for name, title, formula in (
        (
            "graded_accuracy",
            "Graded, by people",
            "100 x (correct + half of partly correct) / answerable, actions and characters alike",
        ),
        (
            "strict_accuracy",
            "Strict, by people",
            "100 x correct / answerable, actions and characters alike",
        ),
        (
            "graded_action",
            "Graded action, by people",
            "100 x (correct + half of partly correct) / answerable, of actions",
        ),
        (
            "graded_character",
            "Graded character, by people",
            "100 x (correct + half of partly correct) / answerable, of characters",
        ),
    )
)

RULE_METRICS: tuple[Metric, ...] = (
    _percent(
        "followed",
        "Buttons followed",
        "100 x rollouts in which a trained probe reads the action of the buttons, and whose last "
        "seven frames are nearer to the game's by 0.5 dB than the last given frame is / rollouts. "
        "A grey, frozen or shuffled world gets about nothing; the game itself gets what the probe "
        "reads right.",
        headline=True,
    ),
    _percent(
        "recovered",
        "Action read by the probe",
        "100 x rollouts in which the probe reads the action of the buttons / rollouts. Chance is "
        "12.5. The row of the game itself shows how good the probe is.",
        headline=True,
    ),
    Metric(
        "gain",
        "PSNR above a frozen frame",
        "dB",
        "higher",
        -40,
        40,
        "PSNR of the last seven frames against the true continuation at 50 x 30 pixels, minus that "
        f"of the last given frame held still, which gets 0 but for its compression. {HIGHER}",
        headline=True,
    ),
    Metric(
        "psnr",
        "PSNR",
        "dB",
        "higher",
        0,
        100,
        "PSNR of the fourteen frames against the true continuation, at 50 x 30 pixels. A frozen "
        f"frame does well here. {HIGHER}",
    ),
    Metric(
        "psnr_early",
        "PSNR, first four frames",
        "dB",
        "higher",
        0,
        100,
        f"The same over the first four frames, where little has happened yet. {HIGHER}",
    ),
    Metric(
        "ssim",
        "SSIM",
        "index",
        "higher",
        0,
        1,
        f"SSIM of the fourteen frames against the true continuation, at 50 x 30. {HIGHER}",
    ),
)
