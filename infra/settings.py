"""Where things are, read from ARMILLARY_* variables and files of secrets when somebody asks, never
at import."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
)

SECRETS = "ARMILLARY_SECRETS"


class Settings(BaseSettings):
    """Every switch of the program. The defaults keep everything in one folder on one machine."""

    model_config = SettingsConfigDict(env_prefix="ARMILLARY_", extra="ignore", frozen=True)

    home: Path = Field(
        Path(".armillary"),
        validate_default=True,
        description="folder for the embedded database, store and work files",
    )
    secrets: Path | None = Field(
        None,
        description="folder of files that hold settings, such as armillary_database_password, so "
        "that no secret stands in an environment",
    )
    database_url: str = Field("", description="SQLAlchemy URL; empty: SQLite under home")
    database_password: SecretStr = Field(SecretStr(""), description="for a URL that has none")
    store: str = Field("", description="s3://bucket/prefix or a folder; empty: a folder under home")
    s3_endpoint: str | None = Field(None, description="S3 endpoint other than Amazon's")
    s3_key: SecretStr = Field(SecretStr(""), description="its key; empty: as boto3 finds one")
    s3_secret: SecretStr = Field(SecretStr(""), description="the secret of that key")
    prefect_auth: SecretStr = Field(
        SecretStr(""), description="user:password of the Prefect server, if it asks for them"
    )
    judge: str = Field(
        "scripted", description="scripted, vlm:FOLDER, http:MODEL@SNAPSHOT, or http:FILE.toml"
    )
    judge_frames: str = Field(
        "uniform-8",
        description="which frames of a clip a judge sees: uniform-N or first-N, and for "
        "http:MODEL@SNAPSHOT also change-N or video",
    )
    judge_dtype: Literal["", "fp32", "bf16", "fp16"] = Field(
        "", description="of a local judge; empty: by its device"
    )
    judge_url: str = Field(
        "", description="base URL of an OpenAI-compatible endpoint, for an http judge"
    )
    judge_key: SecretStr = Field(SecretStr(""), description="its key")
    judge_structured: bool = Field(False, description="the endpoint keeps to a JSON schema")
    judge_concurrency: int = Field(8, ge=1, description="calls at once")
    judge_rpm: int = Field(0, ge=0, description="requests a minute; 0: no limit")
    judge_tpm: int = Field(0, ge=0, description="tokens a minute; 0: no limit")
    judge_price_in: float = Field(0, ge=0, description="price of a million tokens in")
    judge_price_out: float = Field(0, ge=0, description="price of a million tokens out")
    judge_budget: float | None = Field(
        None, description="the run stops cleanly before it costs more"
    )
    exam: Literal["required", "off"] = Field(
        "required",
        description="off: boards are ranked although their judge has sat no exam, and say so",
    )
    ocr: bool = Field(
        False, description="flag outputs in which a sentence is written; needs the extra `ocr`"
    )
    image_url: str = Field(
        "", description="base URL of an OpenAI-compatible image API, for models entered behind one"
    )
    image_key: SecretStr = Field(SecretStr(""), description="its key")
    image_concurrency: int = Field(4, ge=1, description="pictures asked for at once")
    video_url: str = Field(
        "", description="base URL of a video API of the `/videos` kind, for models behind one"
    )
    video_key: SecretStr = Field(SecretStr(""), description="its key")
    video_protocol: Literal["openai", "predictions"] = Field(
        "openai",
        description="how it is asked: openai (/videos), or predictions (/models/…/predictions)",
    )
    video_concurrency: int = Field(4, ge=1, description="clips asked for at once")
    video_pause: float = Field(2, gt=0, description="seconds between two looks at a clip's job")
    media_hosts: str = Field(
        "",
        description="hosts, separated by commas, from which pictures and clips of these APIs may "
        "be fetched besides the API's own",
    )
    api_prices: Path | None = Field(
        None,
        description="TOML file with a table a model behind an API: picture, clip, second",
    )
    api_budget: float | None = Field(
        None, description="what the pictures and clips of one submission may cost together"
    )
    video_languages: str = Field(
        "English", description="the languages of captions that its models take, in words"
    )
    private: Path | None = Field(
        None, description="folder of private banks, one folder a suite; never served"
    )
    suites_path: str = Field(
        "",
        description="folders of suites beside ours, separated like PATH; their code runs with our "
        "rights",
    )
    banks_path: str = Field(
        "",
        description="folders of banks for the suites, separated like PATH, each with a bank.json; "
        "samples and no code",
    )
    shelf: Path | None = Field(
        None, description="folder of base models for adapters: ORGANISATION--NAME/REVISION"
    )
    agent: str = Field(
        "scripted",
        description="who thinks in L-IVA's loop: scripted, vlm:FOLDER, http:MODEL@SNAPSHOT or "
        "http:FILE.toml",
    )
    agent_url: str = Field(
        "", description="base URL of an OpenAI-compatible endpoint, for an http agent"
    )
    agent_key: SecretStr = Field(SecretStr(""), description="its key")
    agent_price_in: float = Field(0, ge=0, description="price of a million tokens in")
    agent_price_out: float = Field(0, ge=0, description="price of a million tokens out")
    agent_price_clip: float = Field(0, ge=0, description="price of a clip that an agent has filmed")
    agent_clip_seconds: float = Field(
        1800, gt=0, description="how long a video model may take for one clip"
    )
    agent_money: float | None = Field(
        None, description="what the calls and clips of one case of an agent may cost together"
    )
    agent_seconds: float | None = Field(
        None, description="how long the calls and clips of one case may take together"
    )
    load_seconds: float = Field(
        1800, gt=0, description="how long a handed-in model may take to load"
    )
    sample_seconds: float = Field(
        1800,
        gt=0,
        description="how long it may take for one output; ten times the slowest one so far if that "
        "is more",
    )
    device: str = Field("auto", description="auto, cpu, cuda, cuda:1, ...")
    unconfined: bool = Field(
        False,
        description="run handed-in models where the system cannot keep them off network and files; "
        "their entries say so",
    )
    shard_size: int = Field(100, ge=1, description="samples in a shard")
    workers: int = Field(1, ge=1, description="shards at once on this machine")
    commit: str = Field(
        "", description="the commit that an image was built from; empty: asked of the work tree"
    )
    log: Literal["file", "stderr"] = Field(
        "file", description="where log lines go: a file under home, or stderr"
    )
    review: bool = Field(
        False, description="show the page for reviewing drafts; it has no sign-in, keep it private"
    )
    port: int = Field(8501, description="where `armillary serve` listens on 127.0.0.1")

    inbox: str = Field(
        "", description="s3://bucket/prefix under which teams drop bundles in folders of their own"
    )
    closes: dict[str, datetime] = Field(
        default_factory=dict,
        description='suites that take nothing after a moment: {"tailor": "2027-01-01T00:00:00Z"}',
    )
    upload_bytes: int = Field(
        64 * 1024**3, ge=1, description="the largest bundle that the API takes"
    )
    intake_memory: int = Field(
        3 * 1024**3, ge=512 * 1024**2, description="bytes of memory to read one bundle in"
    )
    intake_cpu_seconds: float = Field(
        60,
        gt=0,
        description="processor time to read one bundle in; one second more for every 20 MiB of it",
    )
    intake_wall_seconds: float = Field(
        600,
        gt=0,
        description="time to read and decode one bundle in; one second more for every MiB of it",
    )
    cache_bytes: int = Field(
        64 * 1024**3,
        ge=0,
        description="bundles and unpacked models that a machine keeps for the next evaluation, in "
        "bytes, beside those in use",
    )
    upload_hours: float = Field(
        24, gt=0, description="an upload that is not finished by then is dropped"
    )
    uploads_bytes: int = Field(
        64 * 1024**3,
        ge=1,
        description="how much all uploads of a team that are not finished may hold; one alone is "
        "bounded by upload_bytes",
    )
    link_minutes: float = Field(
        15, gt=0, description="how long a link for uploading straight to S3 holds"
    )
    quota_scored: int = Field(
        3, ge=0, description="scored submissions of a team in a suite within the quota's days"
    )
    quota_free: str = Field(
        "demo", description="the subset whose submissions cost no quota; empty: none is free"
    )
    quota_days: float = Field(
        7, gt=0, description="how long a scored submission counts against the quota"
    )
    quota_running: int = Field(
        1, ge=1, description="submissions of a team in a suite that are evaluated at once"
    )
    quota_waiting: int = Field(
        100, ge=1, description="submissions of a team that wait or are in work, in all suites"
    )
    gpu_hours: float = Field(
        48,
        gt=0,
        description="hours that the model of one submission may work here; what is not through by "
        "then fails, by its own fault",
    )
    gpu_hours_free: float = Field(
        2, gt=0, description="the same where the submission costs no quota (quota_free)"
    )
    rate_requests: int = Field(600, ge=1, description="requests a minute for a token")
    rate_address: int = Field(
        1200, ge=1, description="requests a minute from one address, whatever tokens it has"
    )
    trusted_proxies: str = Field(
        "",
        description="addresses or networks of proxies before the API, separated by commas, whose "
        "X-Forwarded-For names the caller; empty: nobody's",
    )
    metrics_token: SecretStr = Field(
        SecretStr(""),
        description="what reads /metrics sends as a bearer token; empty: this machine alone",
    )
    rate_wrong_tokens: int = Field(10, ge=1, description="wrong tokens a minute from one address")

    webhook_url: str = Field("", description="where to POST how submissions ended; empty: nowhere")
    webhook_secret: SecretStr = Field(
        SecretStr(""), description="what the webhook's signature is made with"
    )
    smtp_host: str = Field(
        "", description="mail server that tells teams how their submissions ended; empty: none"
    )
    smtp_port: int = Field(587, description="its port")
    smtp_tls: bool = Field(True, description="speak TLS to it")
    smtp_user: str = Field("", description="its user; empty: no log-in")
    smtp_password: SecretStr = Field(SecretStr(""), description="the user's password")
    smtp_from: str = Field("armillary@localhost", description="whom the e-mails are from")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment, then the files of the folder that it names. Sources that
        nobody set up would be asked for every field each time."""
        if folder := os.environ.get(SECRETS):
            files = SecretsSettingsSource(settings_cls, secrets_dir=folder)
            return init_settings, env_settings, files
        return init_settings, env_settings

    @field_validator("api_prices", "api_budget", mode="before")
    @classmethod
    def _none_if_empty(cls, value: object) -> object:
        """A deployment's file names variables that nobody has filled in."""
        return None if value == "" else value

    @field_validator("home")
    @classmethod
    def _absolute_home(cls, home: Path) -> Path:
        """Children and workers have other working folders."""
        return home.expanduser().resolve()

    @field_validator("store")
    @classmethod
    def _absolute_store(cls, store: str) -> str:
        return store if not store or "://" in store else str(Path(store).expanduser().resolve())

    engine: str = Field(
        "threads", description="threads, dask://host:8786, or here (one by one, without Prefect)"
    )
    certificates: Path | None = Field(
        None,
        description="folder with ca.pem, cert.pem and key.pem, for a Dask cluster over a network",
    )
    lease_seconds: float = Field(
        45, gt=0, description="a worker that gives no sign for so long is taken for dead"
    )
    pending_seconds: float = Field(
        60, gt=0, description="a run that holds a slot and has not begun by then is dead"
    )
    watchdog_seconds: float = Field(30, gt=0, description="how often the watchdog looks")
    retry_seconds: float = Field(
        30, gt=0, description="wait after a failure of ours; doubles each time"
    )
    attempts: int = Field(
        8, ge=1, description="how often an evaluation is started before it is given up"
    )
    keep_days: float = Field(
        30, gt=0, description="how long `armillary operate prune` leaves what it may remove"
    )
    nightly_at: str = Field(
        "03:00", pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="local time of the nightly"
    )
    nightly_zone: str = Field("UTC", description="its time zone, such as Europe/Berlin")
    anchors: int = Field(
        100, ge=0, description="fixed outputs that each judge is asked about every night"
    )
    drift_outputs: int = Field(
        20, ge=0, description="outputs drawn anew each night and asked about again"
    )
    drift_bound: float = Field(
        0.98, ge=0, le=1, description="agreement on the anchors under which a board is frozen"
    )
    deadline_hours: float = Field(
        72,
        gt=0,
        description="a submission that is not through by then fails, by our fault; a model at work "
        "has its GPU time besides",
    )

    @property
    def database(self) -> str:
        """The database's URL with its password, the embedded one if none was named."""
        password = self.database_password.get_secret_value()
        if self.database_url and password:
            from sqlalchemy.engine import make_url

            url = make_url(self.database_url).set(password=password)
            return url.render_as_string(hide_password=False)
        return self.database_url or f"sqlite:///{self.home / 'armillary.db'}"

    @property
    def objects(self) -> str:
        """The object store's address, the embedded folder if none was named."""
        return self.store or str(self.home / "store")

    @property
    def work(self) -> Path:
        """Where unpacked models and files in work lie; may be deleted whenever nothing runs."""
        return self.home / "work"
