"""A language model by script: a local server that writes the open bank's own items, and misbehaves
when told to."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from evaluators.suites.tailor.bank import PARTS
from tests.suites.tailor.banks import small

Row = dict[str, Any]
Spoil = Callable[[Any], str]
SEEN = " Seen from the left."
"""Makes a prompt another one than the open bank's."""

SIGNS = {
    "rubrics": '"descriptive_video_rubric"',
    "common": '"scene_validity": three or four',
    "instances": '"evaluation_instances"',
    "impossible": '"impossible_tools"',
    "opposites": '"opposite_tool_attributes"',
    "unconventional": '"unconventional_tools"',
    "tasks": '"tasks"',
}
SPOILERS: Mapping[str, Spoil] = {
    "prose": lambda _: "I would love to help! Which tools do you like best?",
    "two objects": lambda reply: f"{json.dumps(reply)} {json.dumps(reply)}",
    "cut short": lambda reply: json.dumps(reply)[:-5],
    "a key missing": lambda reply: json.dumps(dict(list(reply.items())[1:])),
    "a key too many": lambda reply: json.dumps({**reply, "comment": "done"}),
    "one less": lambda reply: json.dumps({key: value[:-1] for key, value in reply.items()}),
    "numbers for texts": lambda reply: json.dumps(
        {key: [7 for _ in value] for key, value in reply.items()}
    ),
}


def tasks_of(action: str, count: int) -> list[Row]:
    """The first tasks of an action in the small bank."""
    return [dict(task) for task in small().tasks if task["action_name"] == action][:count]


def instances_of(task: Row) -> list[Row]:
    """A task's five instances, in words of their own."""
    rows = [dict(row) for row in small().instances if row["task_id"] == task["task_id"]]
    return [
        {key: text + SEEN if key.endswith("_prompt") else text for key, text in row.items()}
        for row in rows
    ]


@dataclass
class Script:
    """What the model does: tasks an action, faults that calls of a step and subject meet, and what
    it was asked."""

    count: int = 2
    faults: dict[str, list[str]] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    said: list[list[Row]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, messages: list[Row], key: str) -> tuple[int, str]:
        """The status and the words for one call."""
        asked = messages[1]["content"]
        step = next(step for step, sign in SIGNS.items() if sign in asked)
        reply, subject = REPLIES[step](self, asked)
        with self.lock:
            self.calls.append((step, subject))
            self.said.append(messages)
            self.keys.add(key)
            planned = self.faults.get(f"{step} {subject}", [])
            fault = planned.pop(0) if planned else ""
        if fault.isdigit():
            return int(fault), fault
        return 200, SPOILERS[fault](reply) if fault else json.dumps(reply)

    def counted(self) -> Counter[str]:
        """Calls by step."""
        return Counter(step for step, _ in self.calls)


def _tasks(script: Script, asked: str) -> tuple[Row, str]:
    action = next(
        row["action_name"] for row in small().actions if row["action_description"] in asked
    )
    names = (
        "task_goal",
        "place",
        "environment",
        "original_tool",
        "expected_outcome",
        "required_tool_attributes",
    )
    return {
        "tasks": [{name: task[name] for name in names} for task in tasks_of(action, script.count)]
    }, action


def _unconventional(script: Script, asked: str) -> tuple[Row, str]:
    task = _task(asked)
    tools = [*task["unconventional_tools"], "old tin tray", "folded newspaper"]
    return {
        "unconventional_tools": [
            {"tool": tool, "reason": f"{tool}: it is stiff."} for tool in tools
        ]
    }, task["task_id"]


def _opposites(script: Script, asked: str) -> tuple[Row, str]:
    task = _task(asked)
    return {"opposite_tool_attributes": task["opposite_tool_attributes"]}, task["task_id"]


def _impossible(script: Script, asked: str) -> tuple[Row, str]:
    task = _task(asked)
    ends = {
        **{
            row["tool"]: row["expected_outcome"]
            for row in instances_of(task)
            if row["tool_type"] == "impossible"
        },
        "soap bubble": "It bursts.",
        "wet noodle": "It flops down.",
    }
    tools = [*task["impossible_tools"], "soap bubble", "wet noodle"]
    return {
        "impossible_tools": [
            {"tool": tool, "reason": f"{tool}: it is soft.", "expected_outcome": ends[tool]}
            for tool in tools
        ]
    }, task["task_id"]


def _instances(script: Script, asked: str) -> tuple[Row, str]:
    task = _task(asked)
    names = ("tool_type", "tool", "expected_outcome")
    rows = [
        {key: value for key, value in row.items() if key in names or key.endswith("_prompt")}
        for row in instances_of(task)
    ]
    return {"evaluation_instances": rows}, task["task_id"]


def _common(script: Script, asked: str) -> tuple[Row, str]:
    task = _task(asked)
    return {
        PARTS[short]: _part(short, _texts(task, short))
        for short in ("entity", "attribute", "scene")
    }, task["task_id"]


def _rubrics(script: Script, asked: str) -> tuple[Row, str]:
    task = _task(asked)
    row = next(row for row in instances_of(task) if row["predictive_image_prompt"] in asked)
    kinds = [
        (setting, modality)
        for setting in ("predictive", "descriptive")
        for modality in ("image", "video")
    ]
    return {
        f"{a}_{b}_rubric": _rubric(task, row, a, b) for a, b in kinds
    }, f"{task['task_id']}.{row['index']}"


def _rubric(task: Row, row: Row, setting: str, modality: str) -> Row:
    asked = {short: [*_texts(task, short), *_texts(row, short)] for short in PARTS}
    if setting == "descriptive":
        details = {one["id"]: one["text"] for one in row["questions"]}
        asked["state_change"].append(details[f"{modality}_detail"])
    if modality == "image":
        asked["motion"] = []
    parts = {PARTS[short]: _part(short, texts) for short, texts in asked.items()}
    first = ("entity_completeness", "attribute_fidelity", "scene_validity")
    return {
        "instruction_adherence": {name: part for name, part in parts.items() if name in first},
        "interaction_accuracy": {name: part for name, part in parts.items() if name not in first},
    }


def _texts(row: Row, short: str) -> list[str]:
    """A part's questions, but for the details of the descriptive prompts."""
    return [
        one["text"]
        for one in row["questions"]
        if one["part"] == short and not one["id"].endswith("_detail")
    ]


def _part(short: str, texts: list[str]) -> Row:
    return {
        "checklist_items": [
            {"id": f"{short}_{n}", "question": text} for n, text in enumerate(texts, 1)
        ]
    }


def _task(asked: str) -> Row:
    return next(dict(task) for task in small().tasks if task["task_goal"] in asked)


REPLIES: Mapping[str, Callable[[Script, str], tuple[Row, str]]] = {
    "tasks": _tasks,
    "unconventional": _unconventional,
    "opposites": _opposites,
    "impossible": _impossible,
    "instances": _instances,
    "common": _common,
    "rubrics": _rubrics,
}


@contextmanager
def speaking(answer: Callable[[list[Row], str], tuple[int, str]]) -> Iterator[str]:
    """Serve chat completions while the block runs; gives the base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, words = answer(body["messages"], self.headers.get("Authorization", ""))
            page = json.dumps(
                _completion(words) if status == 200 else {"error": {"message": words}}
            ).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _completion(words: str) -> Row:
    choice = {"message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 50}}
