"""What `make compose-test` would do: it says so where there is no container engine, and all that it
starts, sets and types is in compose.yaml and among our commands."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.db import session
from infra.settings import Settings
from submissions.teams import tokens
from tests.command_lines import named
from tests.deployment import compose_run
from tests.deployment.composed import COMPOSE

NO_ENGINE = "There is no container engine here (`docker info` fails): nothing was tested.\n"


class FakeDocker:
    """Takes down what would be typed, and answers as the programs inside would."""

    def __init__(self, fails: str = "") -> None:
        self.typed: list[list[str]] = []
        self.environment: dict[str, str] = {}
        self.fails, self.parses = fails, False
        self.left_over: dict[str, list[str]] = {}

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        self.typed.append(command)
        if self.parses and (words := _ours(command)):
            leaf, values = named(words)
            self.left_over[" ".join(words[:3])] = leaf.make_context(words[0], values).args
        if "--env-file" in command:
            lines = Path(command[command.index("--env-file") + 1]).read_text().splitlines()
            self.environment = dict(line.split("=", 1) for line in lines)
        if self.fails and self.fails in command:
            raise subprocess.CalledProcessError(1, command)
        return subprocess.CompletedProcess(
            command, 0, "Received as sub-0123456789ab.\narm_a-token\n"
        )

    def of_compose(self) -> list[list[str]]:
        """The words behind `docker compose` and its options."""
        return [
            command[command.index("--project-name") + 2 :]
            for command in self.typed
            if command[:2] == ["docker", "compose"]
        ]


def _ours(command: list[str]) -> list[str]:
    """The words of an armillary command line, in a container or outside; none of another."""
    if command[1:3] == ["-m", "flows.cli.app"]:
        return command[3:]
    return command[command.index("armillary") + 1 :] if "armillary" in command else []


@pytest.fixture
def docker(monkeypatch: pytest.MonkeyPatch) -> FakeDocker:
    fake = FakeDocker()
    monkeypatch.setattr("tests.deployment.compose_run.subprocess.run", fake)
    return fake


def test_without_docker_one_sentence_says_so_and_the_exit_code_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    absent = compose_run.main()
    (tmp_path / "docker").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "docker").chmod(0o755)
    stopped = compose_run.main()

    assert (absent, stopped) == (1, 1)
    assert capsys.readouterr().out == 2 * NO_ENGINE


def test_it_starts_compose_as_shipped_and_removes_all_of_it(docker: FakeDocker) -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    override = yaml.safe_load(re.sub(r"!reset ", "", compose_run.OVERRIDE.read_text()))["services"]

    assert compose_run.main() == 0

    first, *between, last = docker.of_compose()
    assert first[0] == "up" and "--build" in first and last[:2] == ["down", "--volumes"]
    assert {words[2] for words in between} <= services.keys()
    assert override.keys() <= services.keys()
    assert {one["image"] for one in override.values()} <= {
        one["image"] for one in services.values()
    }
    assert all(
        str(COMPOSE) in words for words in docker.typed if words[:2] == ["docker", "compose"]
    )


def test_its_settings_are_those_that_compose_asks_for(docker: FakeDocker) -> None:
    text = COMPOSE.read_text()
    wanted = set(re.findall(r"\$\{(\w+):\?\}", text))
    secrets = {one["environment"] for one in yaml.safe_load(text)["secrets"].values()}
    drawn = {*compose_run.WANTED, "PREFECT_AUTH"}

    compose_run.main()

    assert docker.environment.keys() >= wanted | secrets
    assert wanted <= drawn and all(docker.environment[name] for name in drawn)
    assert len({docker.environment[name] for name in drawn}) == len(drawn)
    assert not any(docker.environment[name] for name in secrets - drawn)


def test_every_command_that_it_types_is_one_of_ours(ready: Settings, docker: FakeDocker) -> None:
    with session(ready.database) as db:
        tokens.add_team(db, compose_run.TEAM)

    docker.parses = True

    assert compose_run.main() == 0
    assert len(docker.left_over) == 5 and not any(docker.left_over.values())


def test_what_was_started_is_removed_when_a_step_fails(docker: FakeDocker) -> None:
    docker.fails = "doctor"

    with pytest.raises(subprocess.CalledProcessError):
        compose_run.main()

    assert docker.of_compose()[-1][0] == "down"
