"""Which vision-language model runs an agent, and where what it has done is kept."""

from __future__ import annotations

from math import inf
from pathlib import Path

from evaluators.agents.agent import Agent
from evaluators.judges.http.chat import Talker
from flows.workers.apis import ChatOptions, chat_endpoint
from infra.settings import Settings
from infra.store import Store, blob_key, fetch_blob, put_blob

WAYS = (
    "scripted, vlm:FOLDER (a chat model's folder on this machine), http:MODEL@SNAPSHOT with "
    "ARMILLARY_AGENT_URL, or http:FILE.toml (an endpoint with settings of its own)"
)


class UnknownAgent(Exception):
    """The setting names no agent; the message says what it may name."""


def open_agent(name: str, device: str, store: Store, folder: Path) -> Agent:
    """The agent of that name with a memory in the store."""
    settings = Settings()
    money = inf if settings.agent_money is None else settings.agent_money
    seconds = inf if settings.agent_seconds is None else settings.agent_seconds
    journal = StoreJournal(store, folder / "agent")
    return Agent(open_talker(name, device), journal, seconds, money, settings.agent_price_clip)


def open_talker(name: str, device: str) -> Talker:
    """The vision-language model of that name."""
    kind, _, target = name.partition(":")
    if name == "scripted":
        from evaluators.suites.liva.agent.scripted import ScriptedTalker

        return ScriptedTalker()
    if kind == "vlm" and (Path(target) / "config.json").is_file():
        from evaluators.models.device import pick_device
        from evaluators.models.vlm.talk import LocalTalker

        return LocalTalker(Path(target), device=pick_device(device))
    if endpoint := chat_endpoint(name, _chat_options(Settings()), UnknownAgent):
        from evaluators.judges.http.chat import HttpTalker

        return HttpTalker(endpoint)
    raise UnknownAgent(f"ARMILLARY_AGENT is {name!r}. Set it to {WAYS}.")


def _chat_options(settings: Settings) -> ChatOptions:
    return ChatOptions(
        role="agent",
        ways=WAYS,
        url=settings.agent_url,
        key=settings.agent_key,
        price_in=settings.agent_price_in,
        price_out=settings.agent_price_out,
    )


class StoreJournal:
    """A journal in the object store; files lie there by their hash too, so that a page can show
    them."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store, self._folder = store, folder

    def get(self, key: str) -> bytes | None:
        """The record's bytes."""
        return self._store.get(key) if self._store.exists(key) else None

    def put(self, key: str, data: bytes) -> None:
        """One object, written whole or not at all."""
        self._store.put(key, data)

    def file(self, key: str) -> Path | None:
        """A local copy, fetched once a machine; what a kill left without its hash gets it now."""
        path = self._folder / key
        if path.is_file():
            return path
        if not self._store.exists(key):
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        sha256 = self._store.fetch(key, path)
        if not self._store.exists(blob_key(sha256)):
            put_blob(self._store, path, sha256)
        return path

    def keep(self, key: str, path: Path) -> Path:
        """The key first: it alone decides whether the file has to be made again. A local copy of
        another run of the same work gives way."""
        self._store.put_file(key, path)
        put_blob(self._store, path)
        (self._folder / key).unlink(missing_ok=True)
        local = self.file(key)
        assert local is not None
        return local

    def find(self, sha256: str) -> Path:
        """A local copy by the hash."""
        path = self._folder / "by-hash" / sha256
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            fetch_blob(self._store, sha256, path)
        return path
