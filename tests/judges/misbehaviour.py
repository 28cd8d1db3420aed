"""Everything an endpoint may do wrong: on the way (TRANSPORT) and in what it says (REPLIES)."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]
HTML = "<!DOCTYPE html><html><body><h1>Bad gateway</h1></body></html>"
REASONING = "I look at one question after the other."


@dataclass(frozen=True)
class Talk:
    """One call that is about to be answered."""

    writer: asyncio.StreamWriter
    answers: dict[str, Any]
    silence: float
    retry_after: str
    structured: bool
    key: str = ""

    def proper(self) -> Message:
        """The reply as it should be."""
        if self.structured:
            return said(json.dumps({"reasoning": REASONING, **self.answers}))
        return said(f"{REASONING}\n{json.dumps(self.answers)}")


def said(text: str | None, finish: str = "stop", refusal: str | None = None) -> Message:
    """A choice."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return {"index": 0, "message": message, "finish_reason": finish}


def completion(*choices: Message, tokens: tuple[int, int] = (100, 20)) -> str:
    """The body of a completion with these choices."""
    counted = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    usage = {**counted, "total_tokens": sum(tokens)}
    fields = {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": choices,
        "usage": usage,
    }
    return json.dumps(fields)


async def respond(
    writer: asyncio.StreamWriter,
    body: str,
    status: str = "200 OK",
    kind: str = "application/json",
    more: str = "",
) -> None:
    """Write an answer and keep the connection."""
    data = body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{more}\r\n"
    writer.write(head.encode() + data)
    await writer.drain()


async def _busy(talk: Talk) -> None:
    await respond(talk.writer, '{"error": {"message": "slow down"}}', "429 Too Many Requests",
                  more=f"Retry-After: {talk.retry_after}\r\n")  # fmt: skip


async def _busy_in_milliseconds(talk: Talk) -> None:
    await respond(talk.writer, '{"error": {"message": "slow down"}}', "429 Too Many Requests",
                  more="retry-after-ms: 20\r\n")  # fmt: skip


async def quote_the_key(talk: Talk) -> None:
    """An endpoint that shows the key in its error; told apart from the others because it is not
    worth a retry."""
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {talk.key}."}})
    await respond(talk.writer, body, "401 Unauthorized")


async def _broken(talk: Talk) -> None:
    await respond(talk.writer, '{"error": {"message": "it broke"}}', "500 Internal Server Error")


async def _gateway(talk: Talk) -> None:
    await respond(talk.writer, HTML, "502 Bad Gateway", "text/html")


async def _page(talk: Talk) -> None:
    await respond(talk.writer, HTML, kind="text/html")


async def _not_json(talk: Talk) -> None:
    await respond(talk.writer, completion(talk.proper())[:-20])


async def _empty_body(talk: Talk) -> None:
    await respond(talk.writer, "")


async def _two_choices(talk: Talk) -> None:
    await respond(talk.writer, completion(talk.proper(), talk.proper()))


async def _no_choices(talk: Talk) -> None:
    await respond(talk.writer, completion())


async def _reset(talk: Talk) -> None:
    """Close so that the other side gets a reset, not an end of file."""
    raw = talk.writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    talk.writer.transport.abort()


async def _half(talk: Talk) -> None:
    data = completion(talk.proper()).encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    talk.writer.write(head.encode() + data[: len(data) // 2])
    await talk.writer.drain()
    talk.writer.close()


async def _half_without_length(talk: Talk) -> None:
    data = completion(talk.proper()).encode()
    talk.writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    )
    talk.writer.write(data[: len(data) // 2])
    await talk.writer.drain()
    talk.writer.close()


async def _silence(talk: Talk) -> None:
    await asyncio.sleep(talk.silence)
    talk.writer.close()


async def _drip(talk: Talk) -> None:
    """Send a byte now and then, so that no read ever times out."""
    data = completion(talk.proper()).encode()
    talk.writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(data)}\r\n\r\n".encode())
    for place in range(20):
        talk.writer.write(data[place : place + 1])
        await talk.writer.drain()
        await asyncio.sleep(talk.silence / 20)
    talk.writer.close()


async def _bad_gzip(talk: Talk) -> None:
    await respond(talk.writer, "this was never compressed", more="Content-Encoding: gzip\r\n")


async def _bad_status_line(talk: Talk) -> None:
    talk.writer.write(b"SPAM 1000 what\r\n\r\n")
    await talk.writer.drain()
    talk.writer.close()


TRANSPORT: dict[str, Callable[[Talk], Awaitable[None]]] = {
    "429": _busy,
    "429 ms": _busy_in_milliseconds,
    "500": _broken,
    "502 page": _gateway,
    "page": _page,
    "not json": _not_json,
    "empty body": _empty_body,
    "two choices": _two_choices,
    "no choices": _no_choices,
    "reset": _reset,
    "half": _half,
    "half without length": _half_without_length,
    "silence": _silence,
    "drip": _drip,
    "bad gzip": _bad_gzip,
    "bad status line": _bad_status_line,
}


def _off_menu(talk: Talk) -> Message:
    return said(json.dumps(talk.answers | {"q1": "perhaps"}))


def _missing(talk: Talk) -> Message:
    return said(json.dumps(dict(list(talk.answers.items())[1:])))


def _cut(talk: Talk) -> Message:
    text = talk.proper()["message"]["content"]
    return said(text[: len(text) * 2 // 3], finish="length")


def _wrong_kind(talk: Talk) -> Message:
    return said(json.dumps(dict.fromkeys(talk.answers, True)))


REPLIES: dict[str, Callable[[Talk], Message]] = {
    "cut": _cut,
    "off menu": _off_menu,
    "missing key": _missing,
    "wrong kind": _wrong_kind,
    "refusal": lambda _: said(None, refusal="I cannot help with that."),
    "refusal in words": lambda _: said("I am sorry, I cannot judge this picture."),
    "filtered": lambda _: said("", finish="content_filter"),
    "empty": lambda _: said(""),
    "null": lambda _: said(None),
    "bad json": lambda _: said("{'q1': 'yes',}"),
    "extra key": lambda talk: said(json.dumps(talk.answers | {"q99": "yes"})),
    "two objects": lambda talk: said(2 * json.dumps(talk.answers)),
    "page as text": lambda _: said(HTML),
    "out of range": lambda talk: said(json.dumps({key: 90 for key in talk.answers})),
}
