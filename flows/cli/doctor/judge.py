"""Whether the judge that is set can be asked: its files are there, its endpoint lets us in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from flows.cli.doctor.finding import DoctorFinding
from infra.settings import Settings

if TYPE_CHECKING:
    from evaluators.judges.http.endpoint import HttpJudgeConfig

SECONDS = 10.0
"""How long an endpoint may take to answer the doctor."""
REFUSED = (401, 403)


def judge(settings: Settings) -> Iterator[DoctorFinding]:
    """The judge, or each member of the panel; an endpoint is asked for its models, which costs
    nothing."""
    from flows.workers.judges import UnknownJudge, check_judge, members_of

    try:
        check_judge(settings.judge)
        for name in members_of(settings.judge):
            yield _asked(name, settings)
    except UnknownJudge as error:
        yield DoctorFinding("judge", "wrong", settings.judge, str(error))


def _asked(name: str, settings: Settings) -> DoctorFinding:
    from flows.workers.apis import chat_endpoint
    from flows.workers.judges import JudgeOptions, UnknownJudge

    if name == "scripted":
        remedy = "A scripted judge says nothing about a model: set ARMILLARY_JUDGE."
        return DoctorFinding("judge", "note", name, remedy)
    endpoint = chat_endpoint(name, JudgeOptions.of(settings).chat, UnknownJudge)
    if endpoint is None:
        return DoctorFinding("judge", "good", f"{name}: weights of {_gigabytes(name):.1f} GB")
    return _endpoint(name, endpoint)


def _gigabytes(name: str) -> float:
    folder = Path(name.partition(":")[2])
    return sum(file.stat().st_size for file in folder.glob("*.safetensors")) / 1e9


def _endpoint(name: str, endpoint: HttpJudgeConfig) -> DoctorFinding:
    """Ask for the list of models with the key; not every endpoint has one."""
    import httpx

    url = f"{endpoint.base_url.rstrip('/')}/models"
    headers = {"Authorization": f"Bearer {endpoint.api_key}"} | endpoint.sent_headers
    try:
        status = httpx.get(url, headers=headers, timeout=SECONDS).status_code
    except httpx.HTTPError as error:
        detail = f"{name}: {endpoint.base_url} does not answer ({type(error).__name__})"
        remedy = "Check ARMILLARY_JUDGE_URL and the network of this process."
        return DoctorFinding("judge", "wrong", detail, remedy)
    if status in REFUSED:
        remedy = "Check ARMILLARY_JUDGE_KEY."
        return DoctorFinding("judge", "wrong", f"{name}: the key is refused ({status})", remedy)
    if status >= 500:
        remedy = "It is in trouble itself: try again later."
        return DoctorFinding("judge", "wrong", f"{name}: the endpoint answers {status}", remedy)
    return DoctorFinding("judge", "good", f"{name}: {endpoint.base_url} answers")
