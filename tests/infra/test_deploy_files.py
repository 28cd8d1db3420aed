"""What the files in infra/deploy claim: they are well formed, and every name, port and command in
them is ours."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from flows.operate.deployments import POOLS, deployments
from infra.settings import Settings
from tests.command_lines import named

DEPLOY = Path(__file__).parents[2] / "infra" / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
PROBES = ("readinessProbe", "livenessProbe")
FOREIGN = {
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_DEFAULT_REGION",
    "PREFECT_API_AUTH_STRING",
}


def documents() -> Iterator[dict[str, Any]]:
    for path in MANIFESTS:
        if path.name != "kustomization.yaml":
            yield from yaml.safe_load_all(path.read_text())


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for document in documents():
        if document["kind"] == "Deployment":
            yield document["metadata"]["name"], document["spec"]["template"]


def containers() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, pod in pods():
        for one in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
            yield name, one


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())[
        "services"
    ]
    return found


def commands() -> list[list[str]]:
    """Every armillary command that any of the files starts."""
    given = [one["command"] for _, one in containers()] + [
        one.get("command", []) for one in services().values()
    ]
    for path in DEPLOY.glob("Dockerfile.*"):
        given += [
            yaml.safe_load(line.removeprefix("CMD "))
            for line in path.read_text().splitlines()
            if "CMD [" in line
        ]
    words = [shlex.split(one) if isinstance(one, str) else list(one) for one in given]
    plain = [
        shlex.split(part) for one in words if one[:2] == ["sh", "-c"] for part in one[2].split("&&")
    ]
    return [one for one in [*words, *plain] if one[:1] == ["armillary"]]


@pytest.mark.parametrize(
    "document", documents(), ids=lambda one: f"{one['kind']} {one['metadata']['name']}"
)
def test_every_manifest_is_what_kubernetes_takes(document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, "1.34", strict=True)


def test_kustomize_lists_every_file() -> None:
    listed = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())["resources"]

    assert sorted(listed) == [path.name for path in MANIFESTS if path.name != "kustomization.yaml"]


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_is_one_of_ours_with_options_that_exist(command: list[str]) -> None:
    leaf, values = named(command[1:])

    context = leaf.make_context(command[1], values)

    assert not hasattr(leaf, "commands")
    assert not context.args


def test_every_variable_is_a_setting_or_a_librarys() -> None:
    names = {
        name
        for document in documents()
        if document["kind"] == "ConfigMap"
        for name in document["data"]
    }
    names |= {one["name"] for _, container in containers() for one in container.get("env", [])}
    for service in services().values():
        names |= set(service.get("environment", {}))
    ours = {name for name in names if name.startswith("ARMILLARY_")}
    prefects = {name for name in names if name.startswith("PREFECT_")} - FOREIGN

    assert ours <= {f"ARMILLARY_{name.upper()}" for name in Settings.model_fields}
    assert prefects <= {name.upper() for name in prefect_settings()}
    assert names - ours - prefects <= FOREIGN | {
        *(
            "POSTGRES_USER",
            "POSTGRES_PASSWORD",
            "POSTGRES_DB",
            "MINIO_ROOT_USER",
            "MINIO_ROOT_PASSWORD",
        ),
        "MC_HOST_board",
    }


def prefect_settings() -> set[str]:
    from prefect.settings.legacy import _get_settings_fields
    from prefect.settings.models.root import Settings as PrefectSettings

    return set(_get_settings_fields(PrefectSettings))


def test_ports_are_where_the_programs_listen() -> None:
    ports = {
        name: [port["containerPort"] for port in one.get("ports", [])] for name, one in containers()
    }
    published = {name: one["ports"] for name, one in services().items() if "ports" in one}

    assert ports["board"] == [Settings.model_fields["port"].default]
    assert ports["api"] == [8502]
    assert ports["scheduler"] == [8786]
    assert ports["prefect"] == [4200]
    assert all(port.startswith("127.0.0.1:") for some in published.values() for port in some)


def test_probes_and_scrapes_ask_for_paths_that_the_api_has(ready: Settings) -> None:
    from fastapi.testclient import TestClient

    from leaderboard.api.app import create

    asked = {
        one[probe]["httpGet"]["path"]
        for name, one in containers()
        if name == "api"
        for probe in PROBES
    }
    scraped = {
        pod["metadata"].get("annotations", {}).get("prometheus.io/path") for _, pod in pods()
    } - {None}
    client = TestClient(create(ready))

    assert {path: client.get(path).status_code for path in asked | scraped} == dict.fromkeys(
        asked | scraped, 200
    )
    assert asked == {"/health/ready", "/health/live"}


def test_every_pod_is_locked_down_and_bounded() -> None:
    for name, pod in pods():
        assert pod["spec"]["securityContext"]["runAsNonRoot"], name
        assert pod["spec"]["automountServiceAccountToken"] is False, name
    for name, one in containers():
        assert one["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }, name
        assert "memory" in one["resources"]["limits"], name
        assert not one.get("ports") or {"readinessProbe", "livenessProbe"} <= one.keys(), name


def test_who_generates_has_a_gpu_and_neither_the_database_nor_the_internet() -> None:
    (_, gpu) = next(found for found in pods() if found[0] == "gpu")
    container = gpu["spec"]["containers"][0]
    policy = next(
        one
        for one in documents()
        if one["kind"] == "NetworkPolicy" and one["metadata"]["name"] == "generation"
    )
    secrets = {one["secretRef"]["name"] for one in container["envFrom"] if "secretRef" in one}
    reached = {port["port"] for rule in policy["spec"]["egress"] for port in rule.get("ports", [])}

    assert gpu["spec"]["nodeSelector"] == {"nvidia.com/gpu.present": "true"}
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert secrets == {"armillary-store"}
    assert 5432 not in reached
    assert all(
        "ipBlock" not in target for rule in policy["spec"]["egress"] for target in rule["to"]
    )
    assert "ARMILLARY_DATABASE_URL" not in services()["gpu"]["environment"]


def test_no_policy_reaches_a_pod_that_is_not_there() -> None:
    labels = [set(pod["metadata"]["labels"].items()) for _, pod in pods()]
    for document in documents():
        if document["kind"] == "NetworkPolicy" and document["spec"]["podSelector"]:
            wanted = set(document["spec"]["podSelector"]["matchLabels"].items())
            assert any(wanted <= one for one in labels), document["metadata"]["name"]


def test_no_secret_stands_in_a_file() -> None:
    for path in [*DEPLOY.glob("*.yaml"), *MANIFESTS]:
        assert not re.search(
            r"(password|secret|key)\"?:\s*[\"']?[a-z0-9]{8,}", path.read_text(), re.I
        ), path.name


def test_compose_depends_on_services_that_exist() -> None:
    known = services()

    for name, one in known.items():
        assert set(one.get("depends_on", {})) <= set(known), name
        assert "image" in one or (DEPLOY.parents[1] / one["build"]["dockerfile"]).is_file(), name


def test_prefects_own_file_says_what_we_register() -> None:
    listed = {
        one["name"]: one
        for one in yaml.safe_load((DEPLOY / "prefect.yaml").read_text())["deployments"]
    }

    for one in deployments(Settings()):
        found = listed.pop(one.name)
        when = found.get("schedules", [{}])[0]
        assert (found["entrypoint"], found["work_pool"]["name"]) == (one.flow, one.pool)
        assert (when.get("interval"), when.get("cron"), found.get("concurrency_limit")) == (
            one.interval_seconds,
            one.cron,
            one.limit,
        )
        assert one.pool in POOLS
    assert listed == {}
