"""A process that speaks the chat-completions protocol and misbehaves by a script, call by call and
item by item.

An item is known by the words "item <number>" in what the user sends. The first calls about it meet
the faults of its script, one after the other; when they are used up it is answered properly.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.judges.families import TAKES_ALL, Family, FamilyState, limit_of
from tests.judges.misbehaviour import (
    REPLIES,
    TRANSPORT,
    Talk,
    completion,
    quote_the_key,
    respond,
    said,
)

ITEM = re.compile(r"item (\d+)")


@dataclass(frozen=True)
class Item:
    """The faults that calls about an item meet in turn, and the answers they get in the end."""

    faults: tuple[str, ...] = ()
    answers: dict[str, Any] = field(default_factory=lambda: {"q1": "yes"})


@dataclass(frozen=True)
class Script:
    """What the server does: seconds to a proper answer, seconds of silence, what Retry-After says,
    and the items."""

    items: dict[str, Item] = field(default_factory=dict)
    latency: float = 0.0
    latencies: dict[str, float] = field(default_factory=dict)
    silence: float = 1.0
    retry_after: str = "0.02"
    structured: bool = False
    family: Family = TAKES_ALL

    def dump(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Script:
        """From JSON."""
        fields = json.loads(text)
        items = {
            key: Item(tuple(item["faults"]), item["answers"])
            for key, item in fields.pop("items").items()
        }
        family = fields.pop("family")
        family["refuses"] = tuple(family["refuses"])
        return cls(items=items, family=Family(**family), **fields)


@dataclass
class Book:
    """What the server saw."""

    calls: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    last_words: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, list[str]] = field(default_factory=dict)
    fields: dict[str, list[str]] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    limits: dict[str, list[int]] = field(default_factory=dict)
    parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    systems: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    now: int = 0
    most_at_once: int = 0


class Server:
    """Follows the script and keeps the book."""

    def __init__(self, script: Script) -> None:
        self.script, self.book = script, Book()
        self.family = FamilyState(script.family)

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve calls on one connection until somebody closes it."""
        try:
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = re.search(r"content-length: *(\d+)", head, re.IGNORECASE)
                body = await reader.readexactly(int(length[1])) if length else b""
                await self._answer(head, body, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, head: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if head.startswith("GET /book"):
            await respond(writer, json.dumps(vars(self.book)))
        elif head.startswith("GET"):
            await respond(writer, "{}")
        elif not head.startswith("POST /v1/chat/completions "):
            await respond(writer, '{"error": {"message": "no such page"}}', "404 Not Found")
        else:
            self.book.now += 1
            self.book.most_at_once = max(self.book.most_at_once, self.book.now)
            try:
                await self._complete(head, json.loads(body), writer)
            finally:
                self.book.now -= 1

    async def _complete(
        self, head: str, call: dict[str, Any], writer: asyncio.StreamWriter
    ) -> None:
        item = self._note(head, call)
        if refusal := self.family.refusal(call):
            self.book.refused[refusal.status] += 1
            await respond(writer, refusal.body, refusal.status, more=refusal.headers)
            return
        script = self.script.items.get(item, Item())
        turn = self.book.calls[item] - 1
        fault = script.faults[turn] if turn < len(script.faults) else ""
        self.book.faults[fault] += 1
        settings = self.script
        talk = Talk(
            writer,
            script.answers,
            settings.silence,
            settings.retry_after,
            settings.structured,
            _key(head),
        )
        if fault == "401 with the key":
            await quote_the_key(talk)
            return
        if fault in TRANSPORT:
            await TRANSPORT[fault](talk)
            return
        await asyncio.sleep(self.script.latencies.get(item, self.script.latency))
        message = REPLIES[fault](talk) if fault else talk.proper()
        cut_off = self.family.cut_off(call)
        message = said(None, finish="length") if cut_off else message
        await respond(writer, completion(message, tokens=self.family.usage(call)))
        self.book.answered[item] += not fault and not cut_off

    def _note(self, head: str, call: dict[str, Any]) -> str:
        """Write down the call, and tell which item it is about."""
        users = [message["content"] for message in call["messages"] if message["role"] == "user"]
        words = [part["text"] for part in users[0] if part["type"] == "text"]
        found = ITEM.search(" ".join(words))
        item = found[1] if found else "0"
        self.book.calls[item] += 1
        self.book.times.append(time.monotonic())
        self.book.order.append(item)
        self.book.last_words[item] = users[-1] if isinstance(users[-1], str) else words[-1]
        self.book.pictures[item] = [
            p["image_url"]["url"][:30] for p in users[0] if p["type"] == "image_url"
        ]
        self.book.fields[item] = sorted(call)
        self.book.limits.setdefault(item, []).append(limit_of(call))
        self.book.parts[item] = [part for part in users[0] if part["type"] != "text"]
        self.book.bodies[item] = {name: call[name] for name in call if name != "messages"}
        systems = [m["content"] for m in call["messages"] if m["role"] == "system"]
        self.book.systems = sorted({*self.book.systems, *systems})
        self.book.heads = sorted({*self.book.heads, *head.lower().splitlines()})
        self.book.keys = sorted({*self.book.keys, _key(head)})
        return item


def _key(head: str) -> str:
    found = re.search(r"authorization: *bearer (.*)\r", head, re.IGNORECASE)
    return found[1] if found else ""


async def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--script", type=Path, required=True)
    arguments = parser.parse_args()
    server = Server(Script.load(arguments.script.read_text()))
    async with await asyncio.start_server(
        server.connection, "127.0.0.1", arguments.port, limit=2**26
    ) as listening:
        await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
