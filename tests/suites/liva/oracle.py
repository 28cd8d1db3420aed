"""A vision-language model by script: a local server that plays the agent's part well, and
misbehaves when told to.

It knows the truth: a clip whose last frame is green shows what its caption asks for, any other does
not.
"""

from __future__ import annotations

import base64
import io
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from PIL import Image

from evaluators.judges.http.chat import HttpTalker
from evaluators.judges.http.endpoint import HttpJudgeConfig

Row = dict[str, Any]
SIGNS = {
    "reflect": "Decide whether the clip can be kept",
    "observe": "Write down the scene as it is at the END",
    "think": "Compare what you believe with what you expected",
    "act_all": "Write the captions from which",
    "act": "Write the caption from which",
    "init": "Write down what you believe about the scene",
}
VIEW = {
    "scene_description": "A person at a table.",
    "interactive_objects": {"mug": {"description": "a red mug", "state": None}},
    "avatar_state": {"right_hand": None, "left_hand": "on the table"},
}


def _status(reply: Row) -> str:
    key = "task_checklist" if "task_checklist" in reply else "checklist"
    return json.dumps({**reply, key: [{**goal, "status": "finished"} for goal in reply[key]]})


SPOILERS: Mapping[str, Callable[[Row], str]] = {
    "prose": lambda _: "Sure! I will plan this for you.",
    "broken json": lambda reply: json.dumps(reply)[:-3] + ",,}",
    "cut short": lambda reply: json.dumps(reply)[:-9],
    "two objects": lambda reply: f"{json.dumps(reply)}\n{json.dumps(reply)}",
    "unknown status": _status,
    "no avatar_state": lambda reply: json.dumps(
        {k: v for k, v in reply.items() if k != "avatar_state"}
    ),
    "a key too many": lambda reply: json.dumps({**reply, "mood": "good"}),
    "goal lost": lambda reply: json.dumps(
        {**reply, "checklist": [{"goal": "rest", "status": "pending"}]}
    ),
    "done too early": lambda reply: json.dumps({**reply, "done": True}),
    "thinking first": lambda reply: (
        f'<thinking>a draft: {{"a": 1}}</thinking>\n```json\n{json.dumps(reply)}\n```'
    ),
}


@dataclass
class Script:
    """The goals of the job, faults that calls of a step meet in turn, and verdicts that overrule
    the eye."""

    goals: Sequence[str] = ("The mug is full.", "The mug is on the shelf.")
    faults: dict[str, list[str]] = field(default_factory=dict)
    never_done: bool = False
    verdict: Callable[[Row], Row] | None = None
    latency: float = 0.0
    calls: list[str] = field(default_factory=list)
    said: list[list[Row]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, messages: list[Row]) -> tuple[int, str]:
        """The status and the words for one call."""
        parts = messages[1]["content"]
        text = parts[0]["text"]
        step = next(step for step, sign in SIGNS.items() if sign in text)
        reply = self._reply(step, text, [part for part in parts if part["type"] == "image_url"])
        time.sleep(self.latency)
        with self.lock:
            self.calls.append(step)
            self.said.append(messages)
            planned = self.faults.get(step, [])
            fault = planned.pop(0) if planned else ""
        if fault.isdigit():
            return int(fault), fault
        return 200, SPOILERS[fault](reply) if fault else json.dumps(reply)

    def counted(self) -> Counter[str]:
        """Calls by step."""
        return Counter(self.calls)

    def _reply(self, step: str, text: str, pictures: list[Row]) -> Row:
        if step == "init":
            return {
                **VIEW,
                "task_checklist": [{"goal": goal, "status": "pending"} for goal in self.goals],
            }
        if step == "observe":
            return VIEW
        if step == "act":
            again = " Do it right this time." if "(nothing yet)" not in text else ""
            plan = re.search(r'The action planned: "(.*)"', text)
            return {
                "caption": f"The person acts: {plan[1] if plan else '?'}{again}",
                "key_objects": ["mug"],
            }
        if step == "act_all":
            return {
                "captions": [
                    {"caption": f"The person acts: {goal}", "key_objects": []}
                    for goal in self.goals
                ]
            }
        if step == "reflect":
            good = is_green(pictures[-1]["image_url"]["url"])
            why = {"reason": "it is there"} if good else {"reason": "it is not there"}
            verdict = {
                "success": good,
                **why,
                "correction": None if good else "move the right hand",
            }
            return self.verdict(verdict) if self.verdict else verdict
        return self._thought(text)

    def _thought(self, text: str) -> Row:
        listed = re.search(r'"task_checklist": (\[.*?\n \])', text, re.DOTALL)
        assert listed
        goals: list[Row] = json.loads(listed[1])
        if self.never_done:
            goals = [{**goal, "status": "pending"} for goal in goals]
        following = next((goal["goal"] for goal in goals if goal["status"] != "done"), None)
        return {
            "discrepancy": None,
            "checklist": goals,
            "next_goal": following,
            "action_plan": following or "",
            "expected_state": VIEW,
            "done": following is None,
        }


def is_green(url: str) -> bool:
    """Whether a picture in a data URL is green in its middle."""
    with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as image:
        pixels = np.asarray(image.convert("RGB"), dtype=int)
    red, green, _ = pixels[pixels.shape[0] // 2, pixels.shape[1] // 2]
    return bool(green > red + 60)


@dataclass(frozen=True)
class Endpoint:
    """The script, served."""

    script: Script
    port: int
    clients: list[HttpTalker] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}/v1"

    def talker(self, **fields: Any) -> HttpTalker:
        """A client of it, quick to lose patience."""
        quick = {
            "model": "scripted",
            "revision": "1",
            "backoff": 0.01,
            "deadline": 20.0,
            "tries": 3,
            **fields,
        }
        self.clients.append(HttpTalker(HttpJudgeConfig(base_url=self.url, **quick)))
        return self.clients[-1]


@contextmanager
def serving(script: Script) -> Iterator[Endpoint]:
    """Serve the script from a thread."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            call = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, words = script.answer(call["messages"])
            choice = {"message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
            page: Row = {
                "choices": [choice],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5},
            }
            data = json.dumps(page if status == 200 else {"error": {"message": words}}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    endpoint = Endpoint(script, server.server_address[1])
    try:
        yield endpoint
    finally:
        for client in endpoint.clients:
            client.close()
        server.shutdown()
        thread.join()
        server.server_close()
