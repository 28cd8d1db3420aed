"""An S3 server: OpenStack Swift with its S3 interface, which checks signatures as Amazon's does."""

from __future__ import annotations

import configparser
import json
import os
import pwd
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from .again import Again
from .process import Running, answers, free_ports, running
from .tools import installed
from .unavailable import Unavailable

REQUIREMENT = "swift>=2.38,<3"
ACCOUNT, USER, REGION = "test", "tester", "us-east-1"
STORAGE = ("account", "container", "object")

PIPELINE = (
    *("catch_errors", "gatekeeper", "healthcheck", "listing_formats", "s3api", "tempauth"),
    *("copy", "slo", "versioned_writes", "symlink"),
)
"""Of Swift's filters those that S3 needs; the order is Swift's own."""

RINGS = """
import json, sys
from swift.common.ring import RingBuilder

for name, port in json.loads(sys.argv[2]).items():
    builder = RingBuilder(part_power=3, replicas=1, min_part_hours=0)
    builder.add_dev(dict(id=0, region=1, zone=1, weight=1.0, device="disk", meta="",
                         ip="127.0.0.1", port=port,
                         replication_ip="127.0.0.1", replication_port=port))
    builder.rebalance()
    builder.get_ring().save(f"{sys.argv[1]}/{name}.ring.gz")
"""


@dataclass(frozen=True, slots=True)
class S3Server:
    """A running server and the one user it knows."""

    endpoint: str
    key: str
    secret: str
    region: str
    pids: tuple[int, ...]

    @property
    def environment(self) -> dict[str, str]:
        """The variables that give boto3 this user's credentials and keep a proxy out of the way."""
        return {
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_DEFAULT_REGION": self.region,
            "NO_PROXY": "127.0.0.1",
        }

    def fresh_bucket(self) -> str:
        """Make a new, empty bucket and return its name."""
        import boto3

        session = boto3.session.Session(self.key, self.secret, region_name=self.region)
        bucket = f"test-{secrets.token_hex(6)}"
        session.client("s3", endpoint_url=self.endpoint).create_bucket(Bucket=bucket)
        return bucket


@contextmanager
def serve() -> Iterator[S3Server]:
    """Run Swift's four processes over an empty folder; about 3 seconds, and half a minute more the
    first time."""
    with killable() as (server, again):
        yield replace(server, pids=again.pids)


@contextmanager
def killable() -> Iterator[tuple[S3Server, Again]]:
    """The same, so that it can be killed and started again."""
    with tempfile.TemporaryDirectory(prefix="armillary-s3-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        _check(folder)
        venv = installed("swift", REQUIREMENT)
        ports = dict(zip((*STORAGE, "proxy"), free_ports(4), strict=True))
        secret = secrets.token_hex(16)
        _configure(folder, ports, secret)
        _make_rings(venv, folder, ports)
        server = S3Server(
            f"http://127.0.0.1:{ports['proxy']}", f"{ACCOUNT}:{USER}", secret, REGION, ()
        )
        starts = [partial(_run, venv, folder, part) for part in ports]
        with Again(
            starts, lambda: all(answers(port, "/healthcheck") for port in ports.values()), 90
        ) as again:
            yield server, again


def _check(folder: Path) -> None:
    if sys.platform != "linux":
        raise Unavailable("Swift runs only on Linux.")
    try:
        os.setxattr(folder, "user.armillary", b"1")
    except OSError as error:
        raise Unavailable(
            f"Swift needs user xattrs, and the temporary folder has none ({error.strerror}). "
            "Set TMPDIR to a folder that has, such as one on ext4."
        ) from error


def _configure(folder: Path, ports: Mapping[str, int], secret: str) -> None:
    (folder / "data/disk").mkdir(parents=True)
    _write(
        folder / "swift.conf",
        {
            "swift-hash": {
                "swift_hash_path_prefix": "armillary",
                "swift_hash_path_suffix": "tests",
            },
            "storage-policy:0": {"name": "single", "default": "yes"},
        },
    )
    for part in STORAGE:
        _write(
            folder / f"{part}.conf",
            _common(folder, ports[part]) | _pipeline(part, ("healthcheck",), {}),
        )
    settings = {
        "s3api": {"location": REGION},
        "tempauth": {f"user_{ACCOUNT}_{USER}": f"{secret} .admin"},
        "versioned_writes": {"allow_object_versioning": "true"},
        # On a busy machine a late answer is no reason to think that the only disk has gone.
        "proxy": {
            "account_autocreate": "true",
            "node_timeout": "60",
            "error_suppression_limit": "1000000",
        },
    }
    _write(
        folder / "proxy.conf",
        _common(folder, ports["proxy"]) | _pipeline("proxy", PIPELINE, settings),
    )


Sections = dict[str, dict[str, str]]


def _common(folder: Path, port: int) -> Sections:
    return {
        "DEFAULT": {
            "bind_ip": "127.0.0.1",
            "bind_port": str(port),
            "workers": "0",
            "user": pwd.getpwuid(os.getuid()).pw_name,
            "swift_dir": str(folder),
            "devices": str(folder / "data"),
            "mount_check": "false",
            "disable_fallocate": "true",
            "log_level": "WARNING",
            "conn_timeout": "10",
            "node_timeout": "60",
            "container_update_timeout": "30",
        }
    }


def _pipeline(
    app: str, filters: tuple[str, ...], settings: Mapping[str, dict[str, str]]
) -> Sections:
    sections = {"pipeline:main": {"pipeline": " ".join((*filters, f"{app}-server"))}}
    for name in filters:
        sections[f"filter:{name}"] = {"use": f"egg:swift#{name}"} | settings.get(name, {})
    sections[f"app:{app}-server"] = {"use": f"egg:swift#{app}"} | settings.get(app, {})
    return sections


def _write(path: Path, sections: Sections) -> None:
    parser = configparser.RawConfigParser()
    parser.read_dict(sections)
    with path.open("w") as file:
        parser.write(file)


def _make_rings(venv: Path, folder: Path, ports: Mapping[str, int]) -> None:
    storage = json.dumps({part: ports[part] for part in STORAGE})
    subprocess.run(
        [venv / "bin/python", "-c", RINGS, folder, storage], check=True, capture_output=True
    )


def _run(venv: Path, folder: Path, part: str) -> AbstractContextManager[Running]:
    command = [venv / "bin/python", venv / f"bin/swift-{part}-server", folder / f"{part}.conf"]
    return running([str(each) for each in command], folder / f"{part}.log")
