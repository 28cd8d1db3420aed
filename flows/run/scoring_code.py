"""The code that can move a suite's scores, and its hash: nights and receipts know it by this one.

It is every module of `evaluators` that the suite's package and the code of cells import, directly
or by way of others, read from the import statements. Nobody has to keep a list: a module that
scoring begins to use counts from the first import on, and one that only curation or training uses
makes no number stale. The walk takes a tenth of a second. Data is not in it: scoring reads none but
the samples, and those have a hash of their own (`items_sha256`).
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import evaluators
from evaluators import suites

PACKAGE = evaluators.__name__
SUITES = suites.__name__
ROOTS = (
    "evaluators.aggregate.cells",
    "evaluators.aggregate.columns",
    "evaluators.judges.card",
    "evaluators.aggregate.summaries",
)
"""Beside the suite's package: what makes cells and ranked summaries, and finds the answers to a
question."""
MODELS = "evaluators.models"
"""Makes outputs, never scores; suites import it inside the functions that produce."""


@dataclass(frozen=True, slots=True)
class Source:
    """A module's file, read: the hash of what it does, and the names it imports, relative ones with
    their dots."""

    sha256: str
    imports: tuple[str, ...]


@cache
def code_sha256(suite: str) -> str:
    """The hash of all code that can move a suite's scores; comments, docstrings and layout do not
    count."""
    return _hash_of(module_hashes(suite))


@cache
def module_hashes(suite: str) -> dict[str, str]:
    """The hash of each module of this installation that a suite's scores come from."""
    return _hashes(Path(next(iter(evaluators.__path__))).parent, suite)


def tree_sha256(tree: Path, suite: str) -> str:
    """The same for the folder in which the package `evaluators` lies."""
    return _hash_of(_hashes(tree, suite))


def _hashes(tree: Path, suite: str) -> dict[str, str]:
    return {name: source.sha256 for name, source in sorted(sources(tree, suite).items())}


def _hash_of(modules: Mapping[str, str]) -> str:
    lines = (f"{name} {sha256}\n" for name, sha256 in modules.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def sources(tree: Path, suite: str) -> dict[str, Source]:
    """The modules that a suite's scores come from, by name."""
    if absent := [name for name in ROOTS if _file(tree, name) is None]:
        raise LookupError(
            f"There is no module {absent[0]}. Name in ROOTS where scores become cells."
        )
    waiting = [suites.module_of(suite), *ROOTS]
    modules: dict[str, Source] = {}
    while waiting:
        name = waiting.pop()
        file = _file(tree, name)
        if name in modules or file is None:
            continue
        modules[name] = _read(file.read_text("utf-8"))
        parent = name.rpartition(".")[0]
        package = name if file.name == "__init__.py" else parent
        imported = (resolve_name(target, package) for target in modules[name].imports)
        waiting += [target for target in (parent, *imported) if _counts(target)]
    return modules


def meaning(node: object) -> str:
    """A syntax tree in words, without comments, docstrings and layout, alike on every release of
    Python.

    What a release adds to a node is empty in code that does not use it, and nothing empty is
    spelled out.

    >>> first, second = "def f():\\n    'Says.'\\n    return 1  # one", "def f(): return 1"
    >>> meaning(ast.parse(first)) == meaning(ast.parse(second))
    True
    """
    if isinstance(node, list):
        return f"[{' '.join(meaning(child) for child in node if not _is_docstring(child))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = (
        (name, value) for name, value in ast.iter_fields(node) if value is not None and value != []
    )
    return (
        f"({type(node).__name__} {' '.join(f'{name}={meaning(value)}' for name, value in fields)})"
    )


@cache
def _read(source: str) -> Source:
    """Kept by the text: suites share most of their modules."""
    module = ast.parse(source)
    imports = tuple(dict.fromkeys(_imports(module)))
    return Source(hashlib.sha256(meaning(module).encode()).hexdigest(), imports)


def _imports(node: ast.AST) -> Iterator[str]:
    """Names that may be modules, inside functions too; `from a import b` gives `a` and `a.b`."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        within = f"{module}." if node.module else module
        yield module
        yield from (f"{within}{alias.name}" for alias in node.names)
    elif not isinstance(node, ast.expr):
        for child in _run(node):
            yield from _imports(child)


def _run(node: ast.AST) -> Iterable[ast.AST]:
    """The parts of a node that are run; what stands under TYPE_CHECKING is not."""
    if (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    ):
        return node.orelse
    return ast.iter_child_nodes(node)


def _counts(name: str) -> bool:
    return name.partition(".")[0] == PACKAGE and not f"{name}.".startswith(f"{MODELS}.")


def _file(tree: Path, name: str) -> Path | None:
    """A module's file in the tree; of an outside suite, in the folder that it was found in."""
    spots = [tree.joinpath(*name.split("."))]
    if name.startswith(f"{SUITES}."):
        inside = name.removeprefix(f"{SUITES}.").split(".")
        spots += [Path(folder).joinpath(*inside) for folder in list(suites.__path__)[1:]]
    files = (file for spot in spots for file in (spot / "__init__.py", spot.with_suffix(".py")))
    return next((file for file in files if file.is_file()), None)


def _is_docstring(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
