"""Which process holds which secret, in compose and in Kubernetes alike: SECURITY.md's table."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.infra.test_deploy_files import (
    PROCESSES,
    kubernetes_container,
    kubernetes_secrets,
    pods,
    services,
)

BOARDS = {"armillary_database_password", "armillary_s3_key", "armillary_s3_secret"}
FLOWS = BOARDS | {
    *("armillary_prefect_auth", "armillary_judge_key", "armillary_image_key"),
    *("armillary_video_key", "armillary_webhook_secret", "armillary_smtp_password"),
}
HELD = {
    "board": BOARDS | {"armillary_metrics_token"},
    "api": BOARDS | {"armillary_metrics_token"},
    "rating": BOARDS,
    "init": FLOWS,
    "watchdog": FLOWS,
    "cpu": FLOWS,
    "evaluations": FLOWS,
    "scheduler": set[str](),
    "gpu": {"armillary_s3_key", "armillary_s3_secret", "armillary_agent_key"},
}
"""What each process of ours needs. A secret more is one that falls with it."""
OTHERS = {
    "postgres": {"armillary_database_password", "prefect_database_password"},
    "s3": {"armillary_s3_key", "armillary_s3_secret"},
    "bucket": {"armillary_s3_key", "armillary_s3_secret"},
    "prefect": {"prefect_database_password", "armillary_prefect_auth"},
    "certificates": set[str](),
}
"""The same of what compose starts beside them."""
OF_PREFECT = ("PREFECT_SERVER_API_AUTH_STRING", "PREFECT_SERVER_DATABASE_PASSWORD")


def test_every_process_of_compose_holds_what_it_needs_and_no_more() -> None:
    held = {
        name: {
            secret["source"] if isinstance(secret, dict) else secret
            for secret in service.get("secrets", [])
        }
        for name, service in services().items()
    }

    assert held == HELD | OTHERS
    assert set(PROCESSES) == HELD.keys()


@pytest.mark.parametrize("name", PROCESSES)
def test_every_process_of_kubernetes_holds_what_it_needs_and_no_more(name: str) -> None:
    assert kubernetes_secrets(name) == HELD[name]


def test_prefects_server_finds_its_secrets_in_files_and_not_in_its_definition() -> None:
    (pod,) = [pod["spec"] for name, pod in pods() if name == "prefect"]
    container, service = kubernetes_container("prefect"), services()["prefect"]
    told = {entry["name"]: entry.get("value") for entry in container["env"]}

    assert {secret["target"] for secret in service["secrets"]} == set(OF_PREFECT)
    assert pod["volumes"] == [
        {
            "name": "secrets",
            "projected": {
                "defaultMode": 0o440,
                "sources": [{"secret": {"name": "prefect-server"}}],
            },
        }
    ]
    assert not set(OF_PREFECT) & (service["environment"].keys() | told.keys())
    assert all(told.values()), "no variable is taken from a secret"
    assert _unescaped(service["command"]) == container["command"]


@pytest.mark.parametrize("empty", [*OF_PREFECT, None])
def test_prefects_server_starts_with_its_secrets_or_not_at_all(
    empty: str | None, tmp_path: Path
) -> None:
    """Without a password its API would be open to whoever reaches it."""
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    for name in OF_PREFECT:
        (secrets / name).write_text("" if name == empty else f"{name} 'of' \"files\"\n")
    (tmp_path / "prefect").write_text('#!/bin/sh\necho "$@"\nenv\n')
    (tmp_path / "prefect").chmod(0o755)
    shell, option, script = kubernetes_container("prefect")["command"]

    ended = subprocess.run(
        [shell, option, script.replace("/run/secrets", str(secrets))],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )

    lines = ended.stdout.splitlines()
    if empty:
        assert ended.returncode != 0 and not lines
        assert f"{empty} is empty" in ended.stderr
    else:
        assert lines[0] == "server start --host 0.0.0.0"
        assert {f"{name}={name} 'of' \"files\"" for name in OF_PREFECT} <= set(lines)


def _unescaped(command: list[str]) -> list[str]:
    """What compose makes of its doubled signs."""
    return [word.replace("$$", "$") for word in command]
