"""Fifty readers of the ranking page at once for two minutes, each speaking Streamlit's own
protocol."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Iterator
from statistics import median, quantiles
from time import monotonic, perf_counter

from infra.settings import Settings
from tests.bench.board_page import BOARD, _serving
from tests.bench.report import Row, at_most, shown

READERS = 50
SECONDS = 120.0
LOOKS = 10.0
"""How long a reader looks at a page before the next, on average."""
QUERIES = (
    "suite=tailor",
    "suite=tailor&metric=physical_realism&scenario=impossible",
    "suite=tailor&task=cut",
    "suite=sc3",
    "suite=universe",
)


def rows(settings: Settings) -> Iterator[Row]:
    """Errors, and how far the slow twentieth is from the middle."""
    with _serving([sys.executable, "-c", BOARD], settings) as url:
        seconds, errors = asyncio.run(_read(url.replace("http://", "ws://")))
    yield at_most(
        f"{READERS} readers for {SECONDS:.0f} s: errors in {len(seconds)} page views",
        len(errors),
        0,
    )
    yield at_most(
        "95th percentile / median of a page view",
        quantiles(seconds, n=20)[-1] / median(seconds),
        3.0,
    )
    yield shown("median of a page view, seconds", median(seconds))


async def _read(url: str) -> tuple[list[float], list[str]]:
    seconds: list[float] = []
    errors: list[str] = []
    end = monotonic() + SECONDS
    await asyncio.gather(*(_reader(url, number, end, seconds, errors) for number in range(READERS)))
    return seconds, errors


async def _reader(
    url: str, number: int, end: float, seconds: list[float], errors: list[str]
) -> None:
    dice = random.Random(number)
    await asyncio.sleep(dice.uniform(0, LOOKS))
    while monotonic() < end:
        start = perf_counter()
        try:
            await asyncio.wait_for(_view(url, dice.choice(QUERIES)), 60)
            seconds.append(perf_counter() - start)
        except Exception as error:
            errors.append(repr(error))
        await asyncio.sleep(dice.uniform(0.5, 1.5) * LOOKS)


async def _view(url: str, query: str) -> None:
    """Open the page's stream, ask for the ranking, and read until its script has ended."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from websockets.asyncio.client import connect

    async with connect(
        f"{url}/_stcore/stream",
        subprotocols=["streamlit"],  # type: ignore[list-item]
        max_size=None,
    ) as socket:
        ask = BackMsg()
        ask.rerun_script.query_string = query
        ask.rerun_script.page_name = "ranking"
        await socket.send(ask.SerializeToString())
        async for data in socket:
            message = ForwardMsg()
            message.ParseFromString(bytes(data))  # type: ignore[arg-type]
            if message.WhichOneof("type") == "delta" and message.delta.new_element.HasField(
                "exception"
            ):
                raise AssertionError(message.delta.new_element.exception.message)
            if message.WhichOneof("type") == "script_finished":
                return
    raise AssertionError("The page's stream ended early.")
