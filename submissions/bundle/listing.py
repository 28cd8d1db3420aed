"""Compares the manifest with the zip: every file listed once, every sample answered once, none
missing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from functools import cached_property

from submissions.bundle.answers import AnswerRule
from submissions.bundle.stand_ins import blocked_problems, expected_with_stand_ins
from submissions.format import manifest as manifests
from submissions.format.archive import Archive
from submissions.format.errors import MOST_PROBLEMS, Problem, shown
from submissions.format.layout import TRAJECTORY
from submissions.format.manifest import File, Manifest

NAMED_AT_ONCE = 20
MOST_TASKS = 5
AROUND = 20
MOST_COMPARED = 300
FORBIDDEN = (
    *(
        ".pkl",
        ".pickle",
        ".pt",
        ".pth",
        ".bin",
        ".ckpt",
        ".npy",
        ".npz",
        ".joblib",
        ".py",
        ".pyc",
        ".so",
        ".sh",
    ),
    *(".exe", ".dll", ".ipynb", ".h5", ".msgpack", ".onnx", ".gguf", ".bat", ".js"),
)


def listing_problems(
    manifest: Manifest, archive: Archive, expected: Sequence[str], rules: Mapping[str, AnswerRule]
) -> Iterator[Problem]:
    """Everything in which the list and the zip differ."""
    listed: set[str] = set()
    named = {file.path for file in manifest.files}
    hints = _Hints([name for name in archive.members if name not in named])
    for number, file in enumerate(manifest.files):
        where = f"manifest.files[{number}]"
        if file.path in listed:
            yield Problem(
                "E_DUPLICATE_ENTRY",
                where,
                f"{shown(file.path)} is listed twice.",
                "List each file once.",
            )
        elif file.path not in archive.members:
            hint = hints.near(file.path) or "Add the file, or take it off the list."
            yield Problem(
                "E_FILE_MISSING", where, f"{shown(file.path)} is not in the bundle.", hint
            )
        listed.add(file.path)
    accepted = [TRAJECTORY] if "trajectory" in manifest.modalities else []
    if manifest.kind == "model":
        accepted.append(".gguf")  # the model's own check says what to hand in instead
    yield from _member_problems(
        archive, listed, tuple(end for end in FORBIDDEN if end not in accepted)
    )
    if manifest.kind == "outputs":
        yield from item_problems(manifest, expected, rules)


def _member_problems(
    archive: Archive, listed: set[str], forbidden: tuple[str, ...]
) -> Iterator[Problem]:
    for name in sorted(archive.members):
        if name.lower().endswith(forbidden):
            message = "Files that can hold a program are never taken, nor looked into."
            yield Problem(
                "E_FORBIDDEN_TYPE",
                shown(name),
                message,
                "Save weights as safetensors; leave the rest out.",
            )
        elif name not in listed and name != manifests.NAME:
            yield Problem(
                "E_UNLISTED_FILE",
                shown(name),
                "The manifest does not name this file.",
                "List it or leave it out.",
            )


def item_problems(
    manifest: Manifest, expected: Sequence[str], rules: Mapping[str, AnswerRule]
) -> Iterator[Problem]:
    """Everything in which the listed samples and the expected ones differ."""
    yield from blocked_problems(manifest, expected, rules)
    expected = expected_with_stand_ins(manifest, expected, rules)
    expected_ids, listed_ids = set(expected), set[str]()
    named = {file.sample for file in manifest.files}
    hints = _Hints([name for name in expected if name not in named])
    for number, file in enumerate(manifest.files):
        where = f"manifest.files[{number}].sample"
        if file.sample is None or file.sample not in expected_ids:
            hint = hints.near(file.sample or "") or "List the ids with `armillary samples SUITE`."
            yield Problem(
                "E_ITEM_UNKNOWN",
                where,
                f"{shown(file.sample)} is no sample of this submission.",
                hint,
            )
        elif file.sample in listed_ids:
            yield Problem(
                "E_ITEM_DUPLICATE", where, f"{shown(file.sample)} has two files.", "Keep one."
            )
        else:
            yield from _facet_problems(file, where, rules.get(file.sample))
        listed_ids.add(file.sample or "")
    missing = [item for item in expected if item not in listed_ids]
    if missing and not manifest.partial:
        first = ", ".join(missing[:NAMED_AT_ONCE])
        message = (
            f"{len(missing)} of {len(expected)} samples have no "
            f"file{_untouched_tasks(missing, listed_ids, rules)}, first: {first}."
        )
        hint = "Add them, or say partial: true (shown, never ranked)."
        yield Problem("E_ITEM_MISSING", "manifest.files", message, hint)


def _untouched_tasks(
    missing: Sequence[str], listed_ids: Set[str], rules: Mapping[str, AnswerRule]
) -> str:
    """The tasks of which there is nothing at all, in words; a single file of a task is a start."""
    begun = {rules[name].task for name in listed_ids if name in rules}
    tasks = dict.fromkeys(rules[name].task for name in missing if name in rules)
    lost = [task for task in tasks if task and task not in begun]
    beyond = f" and {len(lost) - MOST_TASKS} more" if len(lost) > MOST_TASKS else ""
    return f", none at all of {', '.join(lost[:MOST_TASKS])}{beyond}" if lost else ""


def _facet_problems(file: File, where: str, rule: AnswerRule | None) -> Iterator[Problem]:
    """What a file says of its sample, if it says so, is what the sample is."""
    if rule is None:
        return
    for name in ("scenario", "setting", "modality"):
        declared, actual = getattr(file, name), getattr(rule, name)
        if declared is not None and actual and declared != actual:
            message = f"{name} {shown(declared)}; the sample's is {actual!r}."
            yield Problem(
                "E_ITEM_SETTING", where, message, "Leave the field out, or name the right sample."
            )


class _Hints:
    """Near names, looked for only as often as they will be shown, and only among those that begin
    or end alike.

    To compare a name with each of a hundred thousand takes half a minute.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self._left = names, MOST_PROBLEMS

    def near(self, name: str) -> str:
        if self._left == 0:
            return ""
        self._left -= 1
        name = name[:MOST_COMPARED]
        alike = _around(self._sorted, name) + [
            back[::-1] for back in _around(self._reversed, name[::-1])
        ]
        comparable = [candidate for candidate in alike if len(candidate) <= MOST_COMPARED]
        matches = get_close_matches(name, comparable, 1)
        return f"Did you mean {matches[0]!r}?" if matches else ""

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._names)

    @cached_property
    def _reversed(self) -> list[str]:
        return sorted(name[::-1] for name in self._names)


def _around(ordered: Sequence[str], name: str) -> list[str]:
    """The names beside the place where this one would stand."""
    at = bisect_left(ordered, name)
    return list(ordered[max(0, at - AROUND) : at + AROUND])
