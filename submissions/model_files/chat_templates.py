"""Chat templates: they may lay out text, and reach nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from submissions.format.errors import Problem, shown

MOST_CHARACTERS = 100_000
INTERNAL = re.compile(
    r"_.*|mro|format(_map)?|(func|gi|cr|ag|f|tb|co)_\w+|subclasses|globals|builtins"
)
"""Attributes that lead from a message into Python; all others ask a message, a loop or a string for
something."""
PIECES = re.compile(r"__[a-z0-9]|[a-z0-9]__", re.IGNORECASE)
"""A text from which the name of such an attribute could be put together."""
GLOBALS = frozenset({"cycler", "joiner", "lipsum", "self", "os", "sys"})
"""Names that a chat template has no use for, and an attack has."""
FILTERS = frozenset(
    {
        *(
            "abs",
            "batch",
            "capitalize",
            "center",
            "count",
            "d",
            "default",
            "dictsort",
            "e",
            "escape",
            "first",
            "float",
        ),
        *(
            "forceescape",
            "from_json",
            "fromjson",
            "groupby",
            "indent",
            "int",
            "items",
            "join",
            "last",
            "length",
            "list",
        ),
        *(
            "lower",
            "map",
            "max",
            "min",
            "random",
            "reject",
            "rejectattr",
            "replace",
            "reverse",
            "round",
            "safe",
            "select",
        ),
        *(
            "selectattr",
            "slice",
            "sort",
            "string",
            "striptags",
            "sum",
            "title",
            "tojson",
            "trim",
            "truncate",
            "unique",
        ),
        *("upper", "urlencode", "wordcount", "wordwrap"),
    }
)
"""What jinja and transformers do to text and lists; `attr`, `format` and those that make markup are
not here."""


def template_problems(where: str, source: str) -> Iterator[Problem]:
    """What keeps a template from being taken."""
    if why := _wrong(source):
        yield Problem(
            "E_TEMPLATE", shown(where), why, "Use a template that only lays out messages."
        )


def _wrong(source: str) -> str:
    import jinja2
    from jinja2.ext import loopcontrols

    if len(source) > MOST_CHARACTERS:
        return f"It is over {MOST_CHARACTERS} characters."
    try:
        return _reaching(
            jinja2.Environment(extensions=[loopcontrols, Generation], autoescape=True).parse(source)
        )
    except (jinja2.TemplateError, RecursionError, ValueError, OverflowError):
        return "This is no template that jinja reads."


def _reaching(tree: Any) -> str:
    from jinja2 import nodes

    for node in tree.find_all((nodes.Getattr, nodes.Filter, nodes.Name, nodes.Const)):
        if why := _wrong_node(node):
            return why
    others = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
    return "It loads other templates." if next(tree.find_all(others), None) is not None else ""


def _wrong_node(node: Any) -> str:
    from jinja2 import nodes

    if isinstance(node, nodes.Getattr) and INTERNAL.fullmatch(node.attr):
        return f"It asks for the attribute {shown(node.attr)}."
    if isinstance(node, nodes.Filter) and node.name not in FILTERS:
        return f"It uses the filter {shown(node.name)}."
    if isinstance(node, nodes.Name) and (node.name.startswith("__") or node.name in GLOBALS):
        return f"It uses the name {shown(node.name)}."
    if isinstance(node, nodes.Const) and isinstance(node.value, str) and PIECES.search(node.value):
        return f"It uses the text {shown(node.value)}."
    return ""


def _generation() -> type:
    from jinja2 import nodes
    from jinja2.ext import Extension
    from jinja2.parser import Parser

    class GenerationBlock(Extension):
        """`{% generation %}`, which transformers adds to jinja, read as a plain block."""

        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    return GenerationBlock


Generation = _generation()
