"""What a language model has to reply in each step of the curation: one JSON object of a strict
form, or why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from evaluators.judges.replies import BadReply, find_object
from evaluators.suites.tailor.checks import TYPES

Text = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=2, max_length=800, pattern=r"^[^\x00-\x1f\x7f]+$"
    ),
]
Attributes = Annotated[list[Text], Field(min_length=2, max_length=5)]
Opposites = Annotated[list[Text], Field(min_length=2, max_length=3)]
ToolType = Literal["regular", "unconventional", "impossible"]
SHOWN = 6


class StrictReply(BaseModel):
    """No key more, none less, nothing turned into another kind."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WrittenTask(StrictReply):
    """One task of step 1. Place and environment are asked for here, since nothing later would give
    them."""

    task_goal: Text
    place: Literal["indoor", "outdoor"]
    environment: Text
    original_tool: Text
    expected_outcome: Text
    required_tool_attributes: Attributes


class Tasks(StrictReply):
    """The reply of step 1: as many tasks as were ordered."""

    tasks: list[WrittenTask]

    @model_validator(mode="after")
    def _as_ordered(self, info: ValidationInfo) -> Tasks:
        count = context_of(info)["count"]
        require(
            len(self.tasks) == count,
            f"there are {len(self.tasks)} tasks; exactly {count} are right",
        )
        distinct("task_goal", [task.task_goal for task in self.tasks])
        return self


class SuitedTool(StrictReply):
    """An object that would do, and why."""

    tool: Text
    reason: Text


class HopelessTool(StrictReply):
    """An object that would not do, why, and what is seen after the attempt."""

    tool: Text
    reason: Text
    expected_outcome: Text


class Unconventional(StrictReply):
    """The reply of step 2: four or five candidates, of which people choose."""

    unconventional_tools: Annotated[list[SuitedTool], Field(min_length=4, max_length=5)]

    @model_validator(mode="after")
    def _new(self, info: ValidationInfo) -> Unconventional:
        tools = [candidate.tool for candidate in self.unconventional_tools]
        _new_tools(tools, context_of(info)["original_tool"])
        return self


class Contrary(StrictReply):
    """The first reply of step 3: what a tool that must fail would be like."""

    opposite_tool_attributes: Opposites


class Impossible(StrictReply):
    """The second reply of step 3: four or five candidates, of which people choose."""

    impossible_tools: Annotated[list[HopelessTool], Field(min_length=4, max_length=5)]

    @model_validator(mode="after")
    def _new(self, info: ValidationInfo) -> Impossible:
        tools = [candidate.tool for candidate in self.impossible_tools]
        _new_tools(tools, context_of(info)["original_tool"])
        return self


class Instance(StrictReply):
    """One tool of step 5 with its four prompts."""

    tool_type: ToolType
    tool: Text
    expected_outcome: Text
    predictive_image_prompt: Text
    descriptive_image_prompt: Text
    predictive_video_prompt: Text
    descriptive_video_prompt: Text


class Instances(StrictReply):
    """The reply of step 5: the five tools that people chose, in their order."""

    evaluation_instances: list[Instance]

    @model_validator(mode="after")
    def _as_chosen(self, info: ValidationInfo) -> Instances:
        pairs = [
            (actual_pair.tool_type, actual_pair.tool) for actual_pair in self.evaluation_instances
        ]
        expected = list(zip(TYPES, context_of(info)["tools"], strict=True))
        require(
            len(pairs) == len(expected),
            f"there are {len(pairs)} instances; exactly {len(expected)} are right",
        )
        for number, (actual_pair, expected_pair) in enumerate(zip(pairs, expected, strict=True), 1):
            require(
                actual_pair == expected_pair,
                f"instance {number} must have tool_type {expected_pair[0]!r} and tool "
                f"{expected_pair[1]!r}",
            )
        return self


S = TypeVar("S", bound=StrictReply)


def read(schema: type[S], text: str, context: Mapping[str, Any]) -> S:
    """The reply as its schema has it; BadReply tells the model everything that is wrong."""
    try:
        return schema.model_validate(find_object(text), context=dict(context))
    except ValidationError as error:
        raise BadReply(_told(error)) from None


def _told(error: ValidationError) -> str:
    listed = [
        _line(problem["loc"], problem["msg"])
        for problem in error.errors(include_url=False, include_input=False)
    ]
    remainder = f"; and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return "; ".join(listed[:SHOWN]) + remainder


def _line(place: Sequence[int | str], message: str) -> str:
    message = message.removeprefix("Value error, ")
    where = ".".join(str(step) for step in place)
    return f"{where}: {message}" if where else message


def context_of(info: ValidationInfo) -> Mapping[str, Any]:
    """The validation context: what the question demands of the reply."""
    assert isinstance(info.context, Mapping), "the schema is read with its context"
    return info.context


def require(holds: bool, otherwise: str) -> None:
    """Refuse the reply with these words unless something holds."""
    if not holds:
        raise ValueError(otherwise)


def distinct(name: str, texts: Sequence[str]) -> None:
    """Refuse texts that stand twice, in capitals or not."""
    folded: set[str] = set()
    for text in texts:
        require(text.casefold() not in folded, f"{name} {text!r} is there twice")
        folded.add(text.casefold())


def _new_tools(tools: Sequence[str], original: str) -> None:
    distinct("the tool", tools)
    require(
        original.casefold() not in {tool.casefold() for tool in tools},
        f"{original!r} is the usual tool",
    )
