"""Models behind an API, where the settings say it is; a key goes nowhere but into the call's
header."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import SecretStr

from evaluators.agents.video_model import VideoModel
from evaluators.contracts import CannotProduce, Generator, Output, Sample
from infra.settings import Settings
from infra.store import Missing, Store

if TYPE_CHECKING:
    from evaluators.judges.http.endpoint import HttpJudgeConfig
    from evaluators.models.generate.endpoints.ledger import Ledger, Price
    from evaluators.models.generate.video_api import VideoEndpoint

CLIP_SECONDS = 4


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The settings of a chat endpoint: who is behind it, how such a one may be named, and what
    holds where no file of its own says otherwise."""

    role: Literal["judge", "agent"]
    ways: str
    url: str
    key: SecretStr
    price_in: float
    price_out: float
    frames: str = "uniform-8"
    structured: bool = False
    concurrency: int = 8
    rpm: int = 0
    tpm: int = 0


def chat_endpoint(
    name: str, options: ChatOptions, refusal: type[Exception]
) -> HttpJudgeConfig | None:
    """The endpoint behind `http:MODEL@SNAPSHOT` or `http:FILE.toml`; None for a name of another
    kind. What can be no endpoint is refused with that exception."""
    kind, _, target = name.partition(":")
    if kind == "http" and target.endswith(".toml"):
        return _from_file(Path(target), options, refusal)
    if kind == "http" and "@" in target:
        return _from_settings(target, options, refusal)
    return None


def _from_file(path: Path, options: ChatOptions, refusal: type[Exception]) -> HttpJudgeConfig:
    from evaluators.judges.http.endpoint_file import read_endpoint

    role = options.role
    try:
        return read_endpoint(path.read_text("utf-8"), options.url, options.key.get_secret_value())
    except (OSError, UnicodeDecodeError):
        text = f"The {role}'s file {path} cannot be read. Name {options.ways}."
        raise refusal(text) from None
    except ValueError as error:
        raise refusal(f"The {role}'s file {path} names no {role}. {error}") from None


def _from_settings(target: str, options: ChatOptions, refusal: type[Exception]) -> HttpJudgeConfig:
    from evaluators.judges.http.endpoint import HttpJudgeConfig

    model, _, snapshot = target.rpartition("@")
    try:
        return HttpJudgeConfig(
            base_url=options.url,
            model=model,
            revision=snapshot,
            api_key=options.key.get_secret_value(),
            frames=options.frames,
            structured=options.structured,
            concurrency=options.concurrency,
            rpm=options.rpm,
            tpm=options.tpm,
            price_in=options.price_in,
            price_out=options.price_out,
        )
    except ValueError as error:
        variable = f"ARMILLARY_{options.role.upper()}_URL"
        raise refusal(f"{variable} is {options.url!r}. {error}") from None


def open_api(
    endpoint: Mapping[str, str], sampling: Mapping[str, Any], ledger: Ledger, purpose: str
) -> Generator:
    """A generator that draws and films behind APIs, each sample behind the one for its modality."""
    return ApiGenerators(
        lambda: open_image_api(endpoint, sampling, ledger, purpose),
        lambda: open_films_api(endpoint, sampling, ledger, purpose),
    )


@dataclass(frozen=True, slots=True)
class ApiGenerators:
    """Pictures from one API and clips from another; what no sample asks for need not be set."""

    pictures: Callable[[], Generator]
    clips: Callable[[], Generator]

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """Outputs in the order of the samples."""
        for modality, group in groupby(samples, key=lambda sample: sample.facets.modality):
            api = self.clips() if modality == "video" else self.pictures()
            yield from api.generate(list(group), folder)


def open_image_api(
    endpoint: Mapping[str, str], sampling: Mapping[str, Any], ledger: Ledger, purpose: str
) -> Generator:
    """A generator that draws behind an API."""
    from evaluators.models.generate.image_api import ApiGenerator, ImageApi

    settings = Settings()
    api = ImageApi(
        base_url=settings.image_url,
        model=endpoint["model"],
        snapshot=endpoint["snapshot"],
        api_key=settings.image_key.get_secret_value(),
        concurrency=settings.image_concurrency,
        hosts=_hosts(settings),
        price=price_of(endpoint["model"], settings),
    )
    return ApiGenerator(api, sampling["height"], sampling["width"], ledger, purpose)


def open_films_api(
    endpoint: Mapping[str, str], sampling: Mapping[str, Any], ledger: Ledger, purpose: str
) -> Generator:
    """A generator that films behind an API from words alone; a size that nobody declared is the
    model's own."""
    from evaluators.models.generate.video_api import ApiFilms

    settings = Settings()
    place = replace(_video_endpoint(endpoint, sampling, settings), deadline=settings.sample_seconds)
    size = _size(sampling)
    return ApiFilms(replace(place, size=size), ledger, purpose)


def open_video_api(
    endpoint: Mapping[str, str], sampling: Mapping[str, Any], ledger: Ledger, purpose: str
) -> VideoModel:
    """A model that films behind an API, for an agent to direct."""
    from evaluators.models.generate.video_api import HttpVideo

    place = _video_endpoint(endpoint, sampling, Settings())
    size = _size(sampling)
    sized = replace(place, size=size) if size else place
    return HttpVideo(sized, ledger=ledger, purpose=purpose)


def price_of(model: str, settings: Settings) -> Price:
    """What the operator's list says a model costs; nothing without a list. A budget needs a
    price."""
    from evaluators.models.generate.endpoints.ledger import Price, read_prices

    file = settings.api_prices
    try:
        prices = read_prices(file.read_text("utf-8")) if file else {}
    except (OSError, ValueError) as error:
        raise CannotProduce(f"The price list {file} cannot be read. {error}") from None
    if settings.api_budget is not None and model not in prices:
        raise CannotProduce(
            f"A budget is set, and {model!r} has no price. Write it into the file that "
            "ARMILLARY_API_PRICES names."
        )
    return prices.get(model, Price())


def _video_endpoint(
    endpoint: Mapping[str, str], sampling: Mapping[str, Any], settings: Settings
) -> VideoEndpoint:
    from evaluators.models.generate.video_api import VideoEndpoint

    if not settings.video_url:
        raise CannotProduce("No video API is set. Set ARMILLARY_VIDEO_URL and ARMILLARY_VIDEO_KEY.")
    return VideoEndpoint(
        base_url=settings.video_url,
        model=endpoint["model"],
        revision=endpoint["snapshot"],
        api_key=settings.video_key.get_secret_value(),
        seconds=_seconds(sampling),
        deadline=settings.agent_clip_seconds,
        languages=settings.video_languages,
        protocol=settings.video_protocol,
        hosts=_hosts(settings),
        concurrency=settings.video_concurrency,
        price=price_of(endpoint["model"], settings),
        pause=settings.video_pause,
    )


def _size(sampling: Mapping[str, Any]) -> str:
    height, width = sampling["height"], sampling["width"]
    return f"{width}x{height}" if height and width else ""


def _hosts(settings: Settings) -> tuple[str, ...]:
    return tuple(host.strip() for host in settings.media_hosts.split(",") if host.strip())


def _seconds(sampling: Mapping[str, Any]) -> int:
    frames, fps = sampling["frames"], sampling["fps"]
    return max(1, round(frames / fps)) if frames and fps else CLIP_SECONDS


class StoreLedger:
    """A submission's purchases as objects in the store, one a key: two workers that buy at once
    both see both, so the budget is never passed."""

    def __init__(self, store: Store, submission: str, budget: float | None) -> None:
        self._store, self._folder, self._budget = store, f"bought/{submission}", budget

    def buy(self, key: str, price: float) -> None:
        """Write it down, then see whether all together is within the budget."""
        name = f"{self._folder}/{key}"
        if self._store.exists(name):
            return
        self._store.put(name, json.dumps({"price": price}).encode())
        if self._budget is not None and price and self.spent() > self._budget + 1e-9:
            self._store.delete(name)
            raise _used_up(self._budget, price)

    def spent(self) -> float:
        """What all purchases of the submission cost."""
        entries = self._store.list(f"{self._folder}/")
        return sum(self._price(entry.key) for entry in entries if "." not in entry.key)

    def _price(self, name: str) -> float:
        """A purchase that another worker gave up since it was listed costs nothing."""
        try:
            return float(json.loads(self._store.get(name))["price"])
        except Missing:
            return 0.0

    def job(self, key: str) -> str:
        """The number of the job that a purchase began."""
        name = f"{self._folder}/{key}.job"
        return self._store.get(name).decode() if self._store.exists(name) else ""

    def note_job(self, key: str, job: str) -> None:
        """Keep it."""
        self._store.put(f"{self._folder}/{key}.job", job.encode())


def _used_up(budget: float, price: float) -> CannotProduce:
    from evaluators.models.generate.endpoints.ledger import BudgetUsedUp

    return BudgetUsedUp(
        f"The next picture or clip costs {price:g}, and this submission's budget of {budget:g} is "
        "used up. What was bought is kept; raise ARMILLARY_API_BUDGET and evaluate it again."
    )
