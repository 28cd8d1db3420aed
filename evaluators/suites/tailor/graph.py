"""The affordance graph: which everyday object has which properties, as an idea giver for the
writers of tasks."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import BinaryIO

from evaluators.suites.tailor.bank import DATA, Bank, public

RELATION = b"\t/r/HasProperty\t"
CONCEPT = re.compile(r"/c/en/([^/\s]+)(?:/.*)?")
COLUMNS = 5
GZIP = b"\x1f\x8b"
STEM = 4
"""Two words are one when they begin alike, for so many letters at least and but for an ending:
absorbs, absorbent."""

STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and as at be by can for from has in is it its made not of on one or than that the to "
        "with",
    )
)
CONTRARIES: Mapping[str, str] = {
    "absorbent": "waterproof smooth",
    "bristly": "smooth slippery",
    "dry": "wet watery sticky",
    "edge": "rounded soft round",
    "flat": "round curved",
    "flexible": "rigid brittle",
    "gripping": "slippery smooth",
    "hard": "soft squashy",
    "heat": "melts burns",
    "heavy": "light weightless",
    "hollow": "flat solid",
    "insulating": "metal cold",
    "light": "heavy",
    "long": "small",
    "narrow": "wide thick",
    "opaque": "transparent",
    "pointed": "blunt rounded flat",
    "porous": "watertight smooth",
    "rigid": "limp flexible soft bent",
    "rough": "smooth slippery",
    "sharp": "blunt soft rounded",
    "smooth": "rough bristly",
    "solid": "hollow liquid powdery",
    "sticky": "slippery dry",
    "stiff": "limp soft bent",
    "strong": "weak fragile torn snapped",
    "sturdy": "fragile weak squashed",
    "tension": "weak torn snapped",
    "thin": "thick wide",
    "transparent": "opaque",
    "waterproof": "absorbent porous weak",
    "watertight": "porous holes absorbent",
    "wide": "narrow small",
}


class NoGraph(ValueError):
    """The file is no graph; the message says what is right."""


@dataclass(frozen=True, slots=True)
class Affordance:
    """One object and what it is like."""

    object: str
    properties: tuple[str, ...]

    @property
    def line(self) -> str:
        """As a reader would note it."""
        return f"{self.object}: {', '.join(self.properties)}"


@dataclass(frozen=True)
class AffordanceGraph:
    """Objects with their properties, and how many lines of the file could not be read."""

    objects: Mapping[str, tuple[str, ...]]
    bad_lines: int = 0

    def excerpt(self, words: Sequence[str], limit: int) -> tuple[Affordance, ...]:
        """The objects whose properties have most to do with the words, at most so many; of equals,
        any, but the same.

        >>> graph = AffordanceGraph({"sponge": ("absorbent", "soft"), "nail": ("hard",)})
        >>> graph.excerpt(["absorbs water", "soft"], 5)
        (Affordance(object='sponge', properties=('absorbent', 'soft')),)
        """
        stems = sorted({word for text in words for word in _words(text)})
        shared = Counter(name for word in stems for name in self._objects_with(word))
        order = sorted(shared, key=lambda name: (-shared[name], _shuffled(stems, name)))
        return tuple(Affordance(name, self.objects[name]) for name in order[:limit])

    def _objects_with(self, word: str) -> set[str]:
        near = self._index.get(word[:STEM], {})
        return {name for token, names in near.items() if _is_one(word, token) for name in names}

    @cached_property
    def _index(self) -> Mapping[str, Mapping[str, set[str]]]:
        """Objects by the words of their properties, these by their first letters."""
        index: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for name, properties in self.objects.items():
            for word in (word for text in properties for word in _words(text)):
                index[word[:STEM]][word].add(name)
        return index


@cache
def own() -> AffordanceGraph:
    """The graph that comes with this package: everyday objects, and every tool of the open bank
    with what its tasks say of it."""
    properties = {name: dict.fromkeys(listed) for name, listed in everyday().objects.items()}
    for tool in tools_of(public()):
        properties.setdefault(tool.object, {}).update(dict.fromkeys(tool.properties))
    return AffordanceGraph({name: tuple(listed) for name, listed in properties.items()})


def everyday() -> AffordanceGraph:
    """The small graph of everyday objects, written for this project."""
    rows = (json.loads(line) for line in (DATA / "graph.jsonl").read_text("utf-8").splitlines())
    return AffordanceGraph({row["object"]: tuple(row["properties"]) for row in rows})


def tools_of(bank: Bank) -> Iterator[Affordance]:
    """Each tool of a bank and what it is like: the attributes that it has by its table, or by its
    kind where that is not written, and of an unfit tool what stands against the task."""
    tasks = {task["task_id"]: task for task in bank.tasks}
    for row in bank.instances:
        task = tasks[row["task_id"]]
        fit = row["tool_type"] != "impossible"
        table = row.get("attributes") or dict.fromkeys(
            task["required_tool_attributes"] if fit else (), "yes"
        )
        has = [name for name, verdict in table.items() if verdict.startswith("yes")]
        yield Affordance(row["tool"], (*has, *(() if fit else task["opposite_tool_attributes"])))


def load(file: Path | None) -> AffordanceGraph:
    """The graph in ConceptNet's assertions file, plain or gzip, read line by line; our own when no
    file is named."""
    if file is None:
        return own()
    properties_by_object: dict[str, dict[str, None]] = defaultdict(dict)
    bad = 0
    for edge in _edges(file):
        if edge is None:
            bad += 1
        else:
            properties_by_object[edge.object].update(dict.fromkeys(edge.properties))
    if not properties_by_object:
        raise NoGraph(
            f"{file} holds no English HasProperty edge. Give conceptnet-assertions-5.7.0.csv or "
            "its .gz."
        )
    return AffordanceGraph(
        {name: tuple(properties) for name, properties in sorted(properties_by_object.items())}, bad
    )


def check_file(file: Path) -> None:
    """Refuse a file whose first line is none of ConceptNet's; the others are read when they are
    needed."""
    try:
        with _opened(file) as lines:
            first = next(iter(lines), b"")
    except (EOFError, OSError, zlib.error):
        raise NoGraph(f"{file} is cut off or damaged. Download it again.") from None
    if first.count(b"\t") != COLUMNS - 1:
        raise NoGraph(
            f"{file} holds no assertions of ConceptNet. Give conceptnet-assertions-5.7.0.csv or "
            "its .gz."
        )


def contraries(words: Iterable[str]) -> tuple[str, ...]:
    """Words for what an object would be like that lacks these attributes.

    >>> contraries(["sharp edge"])
    ('blunt soft rounded', 'rounded soft round')
    """
    stems = (word for text in words for word in _words(text))
    return tuple(
        dict.fromkeys(
            CONTRARIES[name] for word in stems for name in CONTRARIES if _is_one(word, name)
        )
    )


def _edges(file: Path) -> Iterator[Affordance | None]:
    """One edge a line of the relation; None for a line that cannot be read; nothing for other
    relations and tongues."""
    try:
        with _opened(file) as lines:
            for line in lines:
                yield from _edge(line)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise NoGraph(f"{file} is cut off or damaged. Download it again.") from None
    except OSError as error:
        raise NoGraph(
            f"{file} cannot be read: {error.strerror}. Give the path of ConceptNet's assertions."
        ) from None


def _opened(file: Path) -> BinaryIO | gzip.GzipFile:
    with file.open("rb") as raw:
        packed = raw.read(2) == GZIP
    return gzip.open(file, "rb") if packed else file.open("rb")


def _edge(line: bytes) -> Iterator[Affordance | None]:
    if line.count(b"\t") != COLUMNS - 1:
        yield None
    elif RELATION in line:
        yield from _property(line)


def _property(line: bytes) -> Iterator[Affordance | None]:
    try:
        start, end = line.decode("utf-8").split("\t")[2:4]
    except UnicodeDecodeError:
        yield None
        return
    if not start.startswith("/c/") or not end.startswith("/c/"):
        yield None
    elif (owner := CONCEPT.fullmatch(start)) and (quality := CONCEPT.fullmatch(end)):
        yield Affordance(_name(owner[1]), (_name(quality[1]),))


def _name(concept: str) -> str:
    return concept.replace("_", " ")


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]+", text.lower()) if word not in STOP]


def _is_one(a: str, b: str) -> bool:
    alike = max(STEM, min(len(a), len(b)) - 1)
    return a == b or (len(a) >= STEM and a[:alike] == b[:alike])


def _shuffled(stems: Sequence[str], name: str) -> str:
    """An order that differs from question to question, so that not always the same objects come
    first."""
    return hashlib.sha256("\0".join([*stems, name]).encode()).hexdigest()
