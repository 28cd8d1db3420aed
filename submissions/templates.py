"""Chat templates: they may lay out text, and reach nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from submissions.errors import Problem, shown

MOST_CHARACTERS = 100_000
ATTRIBUTES = frozenset({
    *("role", "content", "type", "text", "name", "image", "video", "tool_calls", "function", "arguments", "parameters"),
    *("id", "index", "index0", "first", "last", "length", "previtem", "nextitem", "description", "properties"),
    *("reasoning_content", "thinking", "tools", "system", "found", "value", "count", "is_first", "tool", "required"),
    *("strip", "lstrip", "rstrip", "split", "rsplit", "startswith", "endswith", "upper", "lower", "title", "replace"),
    *("items", "keys", "values", "get", "append", "join", "capitalize", "last_query_index", "multi_step_tool"),
})  # fmt: skip
"""What a template may ask of messages, loops and strings."""
FILTERS = frozenset({
    *("trim", "tojson", "length", "first", "last", "join", "lower", "upper", "capitalize", "title", "replace", "list"),
    *("string", "int", "float", "default", "d", "safe", "selectattr", "map", "reject", "select", "items", "indent"),
    *("rejectattr", "sort", "unique", "reverse", "count", "round", "abs", "e", "escape"),
})  # fmt: skip


def template_problems(where: str, source: str) -> Iterator[Problem]:
    """What keeps a template from being taken."""
    if why := _wrong(source):
        yield Problem("E_TEMPLATE", shown(where), why, "Use a template that only lays out messages.")


def _wrong(source: str) -> str:
    import jinja2
    from jinja2 import nodes
    from jinja2.ext import loopcontrols

    if len(source) > MOST_CHARACTERS:
        return f"It is over {MOST_CHARACTERS} characters."
    try:
        tree = jinja2.Environment(extensions=[loopcontrols, Generation], autoescape=True).parse(source)
    except (jinja2.TemplateError, RecursionError, ValueError, OverflowError):
        return "This is no template that jinja reads."
    for node in tree.find_all((nodes.Getattr, nodes.Getitem, nodes.Filter, nodes.Name, nodes.Const)):
        if isinstance(node, nodes.Getattr) and node.attr not in ATTRIBUTES:
            return f"It asks for the attribute {shown(node.attr)}."
        if isinstance(node, nodes.Filter) and node.name not in FILTERS:
            return f"It uses the filter {shown(node.name)}."
        if isinstance(node, nodes.Name) and node.name.startswith("_"):
            return f"It uses the name {shown(node.name)}."
        if isinstance(node, nodes.Const) and isinstance(node.value, str) and node.value.startswith("__"):
            return f"It uses the text {shown(node.value)}."
    others = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
    return "It loads other templates." if next(tree.find_all(others), None) is not None else ""


def _generation() -> type:
    from jinja2 import nodes
    from jinja2.ext import Extension
    from jinja2.parser import Parser

    class Block(Extension):
        """`{% generation %}`, which transformers adds to jinja, read as a plain block."""

        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    return Block


Generation = _generation()
