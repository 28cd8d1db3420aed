"""Reading a sidecar: every mistake at once, each with its line, and a case only when there is
none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

import yaml

from evaluators.suites.liva.cases.case import KEYS, AvatarCase, SceneObject, Source

MOST_BYTES = 256 * 1024
MOST_WORDS = 2000
CASE_ID = re.compile(r"([a-z][a-z0-9]*(?:_[a-z0-9]+)*)_case\d{2,4}")
THING_ID = re.compile(r"[a-z][a-z0-9_]{0,59}")
THING_KEYS = ("id", "description", "state")
Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class SidecarFinding:
    """Something wrong in a file, or worth a look, with its line."""

    file: str
    line: int
    text: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.text}"


@dataclass
class Sidecar:
    """A sidecar being read: where its keys stand, and what was found wrong so far."""

    path: Path
    findings: list[SidecarFinding] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    case: AvatarCase | None = None

    def wrong(self, line: int, text: str, severity: Severity = "error") -> None:
        """Note a finding."""
        self.findings.append(SidecarFinding(self.path.name, line, text, severity))

    def line(self, key: str, position: int | None = None) -> int:
        """The line of a key, or of an item of its list."""
        return self.lines.get(
            key if position is None else f"{key}.{position}", self.lines.get(key, 1)
        )


def read_sidecar(path: Path) -> Sidecar:
    """Read one sidecar; its case is set when no error was found."""
    read = Sidecar(path)
    fields = _fields(read)
    if not any(finding.severity == "error" for finding in read.findings):
        read.case = _case(fields, path)
    return read


def _case(fields: dict[str, Any], path: Path) -> AvatarCase:
    return AvatarCase(**{**fields, "folder": path.parent})


def _fields(read: Sidecar) -> dict[str, Any]:
    root = _compose(read)
    if root is None:
        return {}
    nodes = dict(_keys(read, root, KEYS, ""))
    for key in KEYS:
        if key not in nodes:
            read.wrong(1, f"The key {key!r} is missing. A sidecar has {', '.join(KEYS)}.")
    values = {key: _value(read, key, node) for key, node in nodes.items()}
    if len(values) == len(KEYS):
        _check(read, values)
    return values


def _compose(read: Sidecar) -> yaml.MappingNode | None:
    """The tree of a file's nodes, which know their lines; nothing in it is ever built or called."""
    try:
        data = read.path.read_bytes()
        if len(data) > MOST_BYTES:
            raise ValueError(f"The file has {len(data)} bytes; {MOST_BYTES} are the most.")
        root = yaml.compose(data.decode("utf-8"), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        read.wrong(
            mark.line + 1 if mark else 1, f"This is not YAML: {error.problem or error.context}."
        )
        return None
    except UnicodeDecodeError:
        read.wrong(1, "This is not text in UTF-8. Save it as UTF-8.")
        return None
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        read.wrong(1, f"This cannot be read: {str(error) or type(error).__name__}")
        return None
    if not isinstance(root, yaml.MappingNode):
        read.wrong(1, "The top level is not a mapping. Begin with `case_id: ...`.")
        return None
    return root


def _keys(
    read: Sidecar, node: yaml.MappingNode, allowed: tuple[str, ...], at: str
) -> Iterator[tuple[str, yaml.Node]]:
    keys_read: set[str] = set()
    for name, value in node.value:
        line, key = name.start_mark.line + 1, str(name.value)
        if key not in allowed:
            near = get_close_matches(key, allowed, 1)
            read.wrong(
                line,
                f"There is no key {key!r} here. "
                + (f"Did you mean {near[0]!r}?" if near else f"Use {', '.join(allowed)}."),
            )
        elif key in keys_read:
            read.wrong(line, f"The key {key!r} is there twice. Keep one.")
        else:
            keys_read.add(key)
            read.lines[f"{at}{key}"] = line
            yield key, value


def _value(read: Sidecar, key: str, node: yaml.Node) -> Any:
    if key == "objects":
        return tuple(_scene_objects(read, node))
    if key in ("subgoals", "reference_prompts"):
        return tuple(_text(read, key, item) for item in _items(read, key, node))
    return _text(read, key, node)


def _items(read: Sidecar, key: str, node: yaml.Node) -> list[yaml.Node]:
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        read.wrong(node.start_mark.line + 1, f"{key!r} must be a list with at least one entry.")
        return []
    for number, item in enumerate(node.value):
        read.lines[f"{key}.{number}"] = item.start_mark.line + 1
    return list(node.value)


def _text(read: Sidecar, key: str, node: yaml.Node) -> str:
    words = " ".join(str(node.value).split()) if isinstance(node, yaml.ScalarNode) else ""
    if not words or node.tag.endswith(":null"):
        read.wrong(node.start_mark.line + 1, f"{key!r} must be a line of text.")
    elif len(words) > MOST_WORDS or not words.isprintable():
        read.wrong(node.start_mark.line + 1, f"{key!r} is too long or holds invisible characters.")
    return words


def _scene_objects(read: Sidecar, node: yaml.Node) -> Iterator[SceneObject]:
    for number, item in enumerate(_items(read, "objects", node)):
        if not isinstance(item, yaml.MappingNode):
            read.wrong(
                item.start_mark.line + 1,
                "An object is a mapping with id, description and, if you like, state.",
            )
            continue
        fields = {
            k: _text(read, k, v) for k, v in _keys(read, item, THING_KEYS, f"objects.{number}.")
        }
        if missing := [key for key in THING_KEYS[:2] if key not in fields]:
            read.wrong(item.start_mark.line + 1, f"This object has no {missing[0]}.")
            continue
        yield SceneObject(**fields)


def _check(read: Sidecar, fields: dict[str, Any]) -> None:
    named = CASE_ID.fullmatch(fields["case_id"])
    if not named:
        message = (
            f"The case_id is {fields['case_id']!r}. Write the scenario and a number, as in "
            "kitchen_case14."
        )
        read.wrong(read.line("case_id"), message)
    elif named[1] != fields["scenario"]:
        message = (
            f"The scenario is {fields['scenario']!r} but the case_id begins with {named[1]!r}."
        )
        read.wrong(read.line("scenario"), message)
    if fields["source"] not in get_args(Source):
        read.wrong(
            read.line("source"), f"The source is {fields['source']!r}. Write real or synthetic."
        )
    image = PurePosixPath(fields["image"])
    if image.is_absolute() or ".." in image.parts or "\\" in fields["image"]:
        read.wrong(
            read.line("image"),
            f"The image {fields['image']!r} must lie in the sidecar's own folder.",
        )
    _check_lists(read, fields)


def _check_lists(read: Sidecar, fields: dict[str, Any]) -> None:
    goals, prompts = fields["subgoals"], fields["reference_prompts"]
    if len(goals) != len(prompts):
        message = (
            f"There are {len(goals)} subgoals and {len(prompts)} reference prompts. Write one "
            "prompt a subgoal."
        )
        read.wrong(read.line("reference_prompts"), message)
    for number, goal in enumerate(goals):
        if goal in goals[:number]:
            read.wrong(
                read.line("subgoals", number),
                "This subgoal is there twice. Each needs a result of its own.",
            )
    ids = [item.id for item in fields["objects"]]
    for number, name in enumerate(ids):
        if not THING_ID.fullmatch(name):
            read.wrong(
                read.line("objects", number),
                f"The id {name!r} must be small letters, digits and _.",
            )
        elif name in ids[:number]:
            read.wrong(read.line("objects", number), f"The id {name!r} is there twice.")
