"""The processes of compose.yaml on this machine: its commands, its variables and its secrets, with
addresses and folders of a test in place of the containers'."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.command import ROOT
from tests.servers.process import Running, running

COMPOSE = ROOT / "infra" / "deploy" / "compose.yaml"
STATE, SECRETS, TLS = "/home/armillary/state", "/run/secrets", "/tls"
OF_THE_SYSTEM = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1"}


@dataclass(frozen=True)
class Composed:
    """What compose would start: `places` are its addresses here, `secrets` their values by name,
    `images` the programs of each image."""

    folder: Path
    places: Mapping[str, str]
    secrets: Mapping[str, str]
    images: Mapping[str, Path]
    services: Mapping[str, Any] = field(
        default_factory=lambda: yaml.safe_load(COMPOSE.read_text())["services"]
    )

    def command(self, name: str) -> list[str]:
        """A service's command with the program of its image."""
        words = [self._here(word) for word in self.services[name]["command"]]
        program = str(self._programs(name) / words[0]) if words[0] == "armillary" else words[0]
        return self._in_folders(name, [program, *words[1:]])

    def environment(self, name: str) -> dict[str, str]:
        """What the process finds: its image's, and what compose tells it, nothing of ours."""
        told = self.services[name].get("environment", {})
        home = {"ARMILLARY_HOME": str(self._home(name)), "HOME": str(self._home(name))}
        path = {"PATH": f"{self._programs(name)}:{OF_THE_SYSTEM['PATH']}"}
        values = [self._here(_default(value)) for value in told.values()]
        given = dict(zip(told, self._in_folders(name, values), strict=True))
        return {**OF_THE_SYSTEM, **home, **path, **given}

    def run(self, name: str, command: Sequence[str] | None = None) -> str:
        """Run a service's command, or another in its surroundings, to its end; what it printed."""
        self._hand_out_secrets(name)
        done = subprocess.run(
            list(command or self.command(name)),
            env=self.environment(name),
            cwd=self._home(name),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, f"{name}: {done.returncode}\n{done.stdout}"
        return done.stdout

    @contextmanager
    def started(self, name: str, replica: str, *options: str) -> Iterator[Running]:
        """Start a service, with options where replicas on one machine need them."""
        self._hand_out_secrets(name)
        log = self.folder / f"{replica}.log"
        command = [*self.command(name), *options]
        surroundings = self.environment(name)
        with running(command, log, environment=surroundings, folder=self._home(name)) as process:
            yield process

    def _programs(self, name: str) -> Path:
        """A GPU's image is the worker's over another system."""
        return self.images[self.services[name]["image"].partition(":")[0].removesuffix("-cuda")]

    def _home(self, name: str) -> Path:
        home = self.folder / "state" / name
        home.mkdir(parents=True, exist_ok=True)
        return home

    def _here(self, text: str) -> str:
        for place, address in self.places.items():
            text = text.replace(place, address)
        return text

    def _in_folders(self, name: str, words: list[str]) -> list[str]:
        folders = {SECRETS: self.folder / "secrets" / name, STATE: self._home(name)}
        folders[TLS] = self._certificates(name)
        return [_replaced(word, folders) for word in words]

    def _certificates(self, name: str) -> Path:
        """What of the volume of certificates a service is shown."""
        for volume in self.services[name].get("volumes", []):
            if isinstance(volume, dict) and volume["target"] == TLS:
                return self.folder / "tls" / str(volume["volume"]["subpath"])
        return self.folder / "tls"

    def _hand_out_secrets(self, name: str) -> None:
        """Only those that the file gives to this service."""
        folder = self.folder / "secrets" / name
        folder.mkdir(parents=True, exist_ok=True)
        for listed in self.services[name].get("secrets", []):
            source = listed["source"] if isinstance(listed, dict) else listed
            (folder / source).write_text(self.secrets.get(source, ""))


def _default(value: str) -> str:
    """What compose puts in where .env says nothing.

    >>> _default("${JUDGE:-scripted}"), _default("stderr")
    ('scripted', 'stderr')
    """
    return value[2:-1].partition(":-")[2] if value.startswith("${") else value


def _replaced(word: str, folders: Mapping[str, Path]) -> str:
    """A container's folder by a test's; inside of a shell's line too.

    >>> _replaced("sh /tls/cluster", {"/tls": Path("/tmp/x")})
    'sh /tmp/x/cluster'
    """
    for inside, outside in folders.items():
        if word == inside or f"{inside}/" in word or f"{inside} " in word:
            word = word.replace(inside, shlex.quote(str(outside)))
    return word
