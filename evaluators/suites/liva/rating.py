"""The protocol of L-IVA's studies: videos of one case side by side, with ticks, marks, best and
worst."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from evaluators.contracts import FormAsk, Json, Output, RatedItem, Rating, RatingForm, Sample
from evaluators.metrics.ranking import Ballot
from evaluators.statistics.opinions import RatedOutput, grouped, opinions
from evaluators.suites.liva import people
from evaluators.suites.liva.metrics import FAILURE_WORDS

UNABLE = "unable"
ONE_TO_FIVE = ("1", "2", "3", "4", "5")
PLAUSIBLE = (
    "1: the scene falls apart",
    "2: things jump or pass through each other",
    "3: floating or clipping, but it holds together",
    "4: right, with small flaws",
    "5: weight, contact and collision as in life",
)
LEGEND = "How plausible is it physically?"
NO_TICK = (
    "Do not tick a step if on the way something passes through something else, or appears from "
    "nowhere."
)
CRITERIA = "First by what was finished, then by whether it makes sense, then by its look."
GUIDE = (
    "Watch all videos to the end. Tick only what is really finished in a video, and not if "
    "something passes through something else or appears from nowhere on the way. Then give each "
    "video a mark, and name the best and the worst: first by what was finished, then by whether it "
    "makes sense, then by its look."
)
EXAMPLES = (
    "The cup is to be on the shelf, and it gets there through the shelf's wood: no tick.",
    "Water is to be poured, the kettle is tilted but nothing flows: no tick.",
    "Everything is done but a hand flickers for a moment: all ticks, and a 4 for plausibility.",
    "The first picture shows no kettle at all, and the task is to fill it: unable to label.",
)


def words(sample: Sample, _output: Output) -> Mapping[str, Json]:
    """The case, the intention and what should be done for it."""
    return {
        "case": sample.facets.task,
        "intention": sample.prompt,
        "subgoals": sample.reference["subgoals"],
    }


def begins(output: Output) -> str:
    """The first frame of the case, by its hash."""
    return str(output.record.get("first_frame", ""))


def form(item: Mapping[str, Any], letters: Sequence[str]) -> RatingForm:
    """Two to four videos of one case side by side: marks, ticks, best and worst."""
    intention, subgoals = item["intention"], item["subgoals"]
    asks = [ask for letter in letters for ask in _about_video(letter, subgoals)]
    asks += [
        FormAsk("best", "Best", "letter", options=tuple(letters), anchors=(CRITERIA,)),
        FormAsk("worst", "Worst", "letter", options=tuple(letters), anchors=(CRITERIA,)),
    ]
    unable = "Unable to label: the first frame or the task makes no sense"
    asks.append(FormAsk(UNABLE, unable, "tick", required=False))
    heading = f"Case {item['case']}" if item.get("case") else ""
    return RatingForm(
        intention, tuple(asks), (("best", "worst"),), heading, (LEGEND, *PLAUSIBLE), NO_TICK
    )


def _about_video(letter: str, subgoals: Sequence[str]) -> list[FormAsk]:
    mark = FormAsk(
        f"{letter}.pps", "How plausible is it physically?", "scale", letter, ONE_TO_FIVE, PLAUSIBLE
    )
    ticks = [
        FormAsk(f"{letter}.goal{number}", goal, "tick", letter, required=False)
        for number, goal in enumerate(subgoals, 1)
    ]
    tags = [
        FormAsk(f"{letter}.tag_{kind}", _sentence(text), "tick", letter, required=False)
        for kind, (_, text) in FAILURE_WORDS.items()
    ]
    seen = FormAsk(f"{letter}.watched", "Watched to the end", "watched", letter)
    return [seen, *ticks, mark, *tags]


def _sentence(text: str) -> str:
    return f"What went wrong: {text}"


def table(ratings: Sequence[RatedItem], seed: int) -> Mapping[str, Mapping[str, Any]]:
    """Task success and plausibility, raters of a video first; best-worst over all ballots, with
    intervals."""
    real = [rated for rated in ratings if rated.kind == "real"]
    subgoals = {rated.item: int(rated.behind.get("subgoals", 0)) for rated in real}
    name_of = _names(real)
    views = grouped(opinions(real), lambda output: name_of(output.method, output.sample))
    choices = [_choice(rated, name_of) for rated in real]
    standings = {
        ranged.standing.method: ranged for ranged in people.best_worst(sorted(views), choices, seed)
    }
    return {
        method: _figures(views[method], subgoals, standings[method]) for method in sorted(views)
    }


def _figures(
    outputs: Sequence[RatedOutput], subgoals: Mapping[str, int], ranged: people.RankedMethod
) -> dict[str, Any]:
    rows = [
        people.rated(output.sample, subgoals[output.opinion.item], output.opinion)
        for output in outputs
    ]
    scores = grouped(people.scores(rows), lambda score: score.metric)
    means = {
        name: [score.value for score in scores.get(name, ()) if score.value is not None]
        for name in ("tsr", "pps")
    }
    standing = ranged.standing
    return {
        **{name: fmean(values) if values else None for name, values in means.items()},
        "bws": standing.score,
        "low": ranged.low,
        "high": ranged.high,
        "rank": standing.rank,
        "n": standing.n_shown,
    }


def _names(real: Sequence[RatedItem]) -> Callable[[str, str], str]:
    """A method's name; where an entry stands beside itself in another setting, with the setting."""
    methods = [list(rated.behind["methods"].values()) for rated in real]
    if all(len(set(names)) == len(names) for names in methods):
        return lambda method, _sample: method
    return lambda method, sample: f"{method} {sample.rpartition('.')[2]}"


def repair(ratings: Sequence[RatedItem]) -> tuple[str, ...]:
    """Cases that at least half of their raters could not label."""
    real = [rated for rated in ratings if rated.kind == "real"]
    cases = {
        sample: sample.rpartition(".")[0]
        for rated in real
        for sample in rated.behind.get("samples", {}).values()
    }
    rows = [
        people.rated(output.sample, 0, output.opinion)
        for output in opinions(real)
        if output.sample in cases
    ]
    return people.faulty(rows, cases)


def _choice(rated: RatedItem, name_of: Callable[[str, str], str]) -> people.BestWorstChoice:
    methods, samples = rated.behind["methods"], rated.behind.get("samples", {})
    names = {letter: name_of(method, samples.get(letter, "")) for letter, method in methods.items()}
    unable = rated.answers.get(UNABLE) is True
    best, worst = (
        None if unable else names.get(str(rated.answers.get(end))) for end in ("best", "worst")
    )
    case = next(iter(samples.values()), rated.item).rpartition(".")[0] or rated.item
    return people.BestWorstChoice(
        case, rated.rater, Ballot(tuple(names.values()), best, worst, unable)
    )


RATING = Rating(
    words,
    form,
    table,
    GUIDE,
    EXAMPLES,
    side_by_side=True,
    score=people.score,
    beside={"tsr": "afs"},
    native=True,
    begins=begins,
    repair=repair,
)
