"""Where things are, read from ARMILLARY_* variables when somebody asks, never at import."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Every switch of the program. The defaults keep everything in one folder on one machine."""

    model_config = SettingsConfigDict(env_prefix="ARMILLARY_", extra="ignore", frozen=True)

    home: Path = Field(Path(".armillary"), description="folder for the embedded database, store and work files")
    database_url: str = Field("", description="SQLAlchemy URL; empty: SQLite under home")
    store: str = Field("", description="s3://bucket/prefix or a folder; empty: a folder under home")
    s3_endpoint: str | None = Field(None, description="S3 endpoint other than Amazon's")
    judge: str = Field("scripted", description="scripted, or vlm:FOLDER for a local vision-language model")
    device: str = Field("auto", description="auto, cpu, cuda, cuda:1, ...")
    shard_size: int = Field(64, ge=1, description="samples in a shard")
    workers: int = Field(1, ge=1, description="shards at once on this machine")
    port: int = Field(8501, description="where `armillary serve` listens on 127.0.0.1")

    @property
    def database(self) -> str:
        """The database's URL, the embedded one if none was named."""
        return self.database_url or f"sqlite:///{(self.home / 'armillary.db').resolve()}"

    @property
    def objects(self) -> str:
        """The object store's address, the embedded folder if none was named."""
        return self.store or str((self.home / "store").resolve())

    @property
    def work(self) -> Path:
        """Where unpacked models and files in work lie; may be deleted whenever nothing runs."""
        return self.home.resolve() / "work"
