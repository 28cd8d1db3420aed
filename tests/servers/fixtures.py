"""The servers as pytest fixtures, one each a session, started by the first test that asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import postgres, prefect, s3
from .postgres import PostgresServer
from .prefect import PrefectServer
from .s3 import S3Server
from .unavailable import needs


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """An S3 server; make a bucket with `fresh_bucket()` and set `environment` for boto3."""
    with needs(s3.serve()) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server; make a database with `fresh_database()`."""
    with needs(postgres.serve()) as server:
        yield server


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[PrefectServer]:
    """A Prefect server; set `environment` for whoever is to talk to it."""
    with needs(prefect.serve()) as server:
        yield server
