"""The four protocols, in our own words: from what is judged to a form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leaderboard.studies.forms import UNABLE, Form, FormQuestion, Medium

YES_NO_UNCLEAR = ("yes", "no", "unclear")
ZERO_TO_FIVE = ("0", "1", "2", "3", "4", "5")
ONE_TO_FIVE = ("1", "2", "3", "4", "5")
GRADES = ("correct", "partially_correct", "incorrect", "unclear")
CRITERIA = ("language_following", "object_lifting", "object_placing")

GUIDES = {
    "tailor": "Read the description, look at the output, answer each question by what can be seen. "
    "If it cannot be "
    "told, say unclear. Then give the two marks.",
    "liva": "Watch all videos to the end. Tick only what is really finished in a video, and not if "
    "something passes "
    "through something else or appears from nowhere on the way. Then give each video a mark, and "
    "name the best and the "
    "worst: first by what was finished, then by whether it makes sense, then by its look.",
    "universe": "Watch the whole clip. Judge the answer by what is visible only. If several "
    "readings are possible and "
    "the answer fits one of them, it is correct. If you are not sure, say unclear.",
    "sc3": "Judge three things by themselves: is the named object the first one that the hand "
    "closed on, did the one "
    "that it closed on first leave the table in the hand, was that one let go in the bin that the "
    "task names.",
}
EXAMPLES = {
    "tailor": (
        "Asked whether the nail is in the wood, and the shoe hides it: unclear, even if it most "
        "likely is.",
        "The nail bends like rubber when it is hit: a low mark for realism, even if the picture is "
        "beautiful.",
        "A sharp picture in which the tool changes its shape from frame to frame: a low mark for "
        "quality.",
    ),
    "liva": (
        "The cup is to be on the shelf, and it gets there through the shelf's wood: no tick.",
        "Water is to be poured, the kettle is tilted but nothing flows: no tick.",
        "Everything is done but a hand flickers for a moment: all ticks, and a 4 for plausibility.",
        "The first picture shows no kettle at all, and the task is to fill it: unable to label.",
    ),
    "universe": (
        "Question: what does the player do? Answer: it runs. The player runs and then jumps: "
        "partially correct.",
        "Two readings fit what is seen, and the answer gives one of them: correct.",
        "Smoke hides the player the whole time: unclear, whatever the answer says.",
    ),
    "sc3": (
        "The hand closes on the right cup, which slips away: yes, then not lifted and not placed.",
        "The right cup is lifted and dropped beside the bin: yes, lifted, not placed.",
        "Another cup is taken and ends in the bin of the task: no, then lifted and placed.",
    ),
}
"""What is right in doubtful cases, in words; a study may bring examples with media beside them."""
PLAUSIBLE = (
    "1: the scene falls apart",
    "2: things jump or pass through each other",
    "3: floating or clipping, but it holds together",
    "4: right, with small flaws",
    "5: weight, contact and collision as in life",
)
REALISM = ("0: plainly impossible", "5: weight, contact, material and cause all right")
QUALITY = ("0: hardly recognisable", "5: clean, and the same things stay the same")


def tailor(prompt: str, questions: Sequence[dict[str, Any]], media: Sequence[Medium]) -> Form:
    """A checklist and two marks about one output."""
    asks = [_rubric(question) for question in questions]
    return Form(prompt, tuple(media), tuple(asks))


def _rubric(question: dict[str, Any]) -> FormQuestion:
    if question["kind"] == "rating":
        anchors = QUALITY if "quality" in question["id"] else REALISM
        return FormQuestion(
            question["id"], question["text"], "scale", options=ZERO_TO_FIVE, anchors=anchors
        )
    return FormQuestion(question["id"], question["text"], "choice", options=YES_NO_UNCLEAR)


def liva(intention: str, subgoals: Sequence[str], media: Sequence[Medium]) -> Form:
    """Two to four videos of one case side by side: marks, ticks, best and worst."""
    asks = [ask for medium in media for ask in _of_video(medium.letter, subgoals)]
    video_letters = tuple(medium.letter for medium in media)
    asks += [
        FormQuestion("best", "Best", "letter", options=video_letters),
        FormQuestion("worst", "Worst", "letter", options=video_letters),
    ]
    asks.append(
        FormQuestion(
            UNABLE,
            "Unable to label: the first frame or the task makes no sense",
            "tick",
            required=False,
        )
    )
    return Form(intention, tuple(media), tuple(asks), differ=(("best", "worst"),))


def _of_video(letter: str, subgoals: Sequence[str]) -> list[FormQuestion]:
    marks = FormQuestion(
        f"{letter}.pps", "How plausible is it physically?", "scale", letter, ONE_TO_FIVE, PLAUSIBLE
    )
    ticks = [
        FormQuestion(f"{letter}.goal{n}", goal, "tick", letter, required=False)
        for n, goal in enumerate(subgoals, 1)
    ]
    return [*ticks, marks]


def universe(question: str, answer: str, media: Sequence[Medium]) -> Form:
    """One question about a clip and somebody's answer to it."""
    ask = FormQuestion("grade", "Is this answer right?", "choice", options=GRADES)
    return Form(f"Question: {question}\n\nAnswer: {answer}", tuple(media), (ask,))


def sc3(instruction: str, objects: Sequence[str], media: Sequence[Medium]) -> Form:
    """Three criteria for each object of a trajectory, seen from every side."""
    words = {
        "language_following": "the hand closed on it before any other object",
        "object_lifting": "it, or whatever else the hand closed on first, left the table in the "
        "hand",
        "object_placing": "it, or whatever else the hand closed on first, was let go and lies in "
        "the bin of the task",
    }
    asks = [
        FormQuestion(
            f"{name}.{criterion}", f"{name}: {words[criterion]}", "choice", options=("yes", "no")
        )
        for name in objects
        for criterion in CRITERIA
    ]
    return Form(instruction, tuple(media), tuple(asks))
