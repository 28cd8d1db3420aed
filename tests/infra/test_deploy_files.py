"""What the files in infra/deploy claim: they are well formed, and every name, port and command in
them is ours."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from flows.operate.deployments import GPU_SLOTS, POOLS, deployments
from infra import memory
from infra.settings import Settings
from submissions.media.decoder_pool import MEMORY as DECODER
from submissions.media.derivatives import MEMORY as ENCODER
from submissions.media.shown_files import MOST_BYTES as SHOWN
from tests.command_lines import named

DEPLOY = Path(__file__).parents[2] / "infra" / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
PROBES = ("readinessProbe", "livenessProbe")
FOREIGN = {"AWS_DEFAULT_REGION"}
PROCESSES = (
    *("board", "api", "rating", "watchdog", "cpu", "evaluations", "scheduler", "gpu"),
    "init",
)
"""What a deployment consists of beside databases, store and Prefect's own server."""
KEPT_ALIVE = {"watchdog", "cpu", "evaluations", "gpu"}


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
        *("POSTGRES_USER", "POSTGRES_PASSWORD_FILE", "POSTGRES_DB"),
        *("MINIO_ROOT_USER_FILE", "MINIO_ROOT_PASSWORD_FILE"),
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
    assert ports["rating"] == [8503]
    assert ports["scheduler"] == [8786]
    assert ports["prefect"] == [4200]
    assert all(port.startswith("127.0.0.1:") for some in published.values() for port in some)


def test_probes_ask_for_paths_that_the_api_has(ready: Settings) -> None:
    from fastapi.testclient import TestClient

    from leaderboard.api.app import create

    asked = {
        one[probe]["httpGet"]["path"]
        for name, one in containers()
        if name == "api"
        for probe in PROBES
    }
    client = TestClient(create(ready))

    assert {path: client.get(path).status_code for path in asked} == dict.fromkeys(asked, 200)
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
        assert one["name"] == "init" or "livenessProbe" in one, name


def test_who_generates_has_a_gpu_and_neither_the_database_nor_the_internet() -> None:
    (_, gpu) = next(found for found in pods() if found[0] == "gpu")
    container = gpu["spec"]["containers"][0]
    policy = next(
        one
        for one in documents()
        if one["kind"] == "NetworkPolicy" and one["metadata"]["name"] == "generation"
    )
    reached = {port["port"] for rule in policy["spec"]["egress"] for port in rule.get("ports", [])}

    assert gpu["spec"]["nodeSelector"] == {"nvidia.com/gpu.present": "true"}
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert kubernetes_secrets("gpu") == {
        *("armillary_s3_key", "armillary_s3_secret", "armillary_agent_key")
    }
    assert not {5432, 4200} & reached
    assert services()["gpu"]["networks"] == ["shards"]
    assert "shards" not in {
        network
        for name in ("postgres", "prefect")
        for network in services()[name].get("networks", [])
    }
    assert all(
        "ipBlock" not in target for rule in policy["spec"]["egress"] for target in rule["to"]
    )
    assert "ARMILLARY_DATABASE_URL" not in services()["gpu"]["environment"]


INTAKE = ("board", "api", "watchdog")
"""Who takes bundles in: through the API, or from the inbox."""
GIBIBYTE = 1 << 30
CACHE = Settings().cache_bytes


@pytest.mark.parametrize("name", INTAKE)
def test_no_bundle_swallows_the_pod_that_reads_it(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A container that takes more than its limit is ended whole, not the child that took it."""
    limit = _bytes(kubernetes_container(name)["resources"]["limits"]["memory"])
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    monkeypatch.setattr(memory, "LIMITS", (tmp_path / "memory.max",))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64))
    kinds = (Settings().intake_memory, DECODER, ENCODER)

    assert sum(memory.children_in_third(each) * each for each in kinds) <= limit - GIBIBYTE


@pytest.mark.parametrize("name", INTAKE)
def test_the_largest_upload_fits_on_the_disk_of_the_pod_that_takes_it(name: str) -> None:
    assert 3 * Settings().upload_bytes <= _disk(name)


@pytest.mark.parametrize(
    ("name", "kept"),
    [("rating", SHOWN), *((name, CACHE) for name in ("gpu", "evaluations", "cpu"))],
)
def test_what_a_pod_keeps_for_the_next_time_is_less_than_half_of_its_disk(
    name: str, kept: int
) -> None:
    assert 2 * kept <= _disk(name)


def _disk(name: str) -> int:
    pod = next(pod for found, pod in pods() if found == name)
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    return _bytes(volumes["state"]["emptyDir"]["sizeLimit"])


def _bytes(size: str) -> int:
    return int(size.removesuffix("Gi")) * GIBIBYTE


def test_no_policy_reaches_a_pod_that_is_not_there() -> None:
    labels = [set(pod["metadata"]["labels"].items()) for _, pod in pods()]
    for document in documents():
        if document["kind"] == "NetworkPolicy" and "matchLabels" in document["spec"]["podSelector"]:
            wanted = set(document["spec"]["podSelector"]["matchLabels"].items())
            assert any(wanted <= one for one in labels), document["metadata"]["name"]


def test_no_secret_stands_in_a_file() -> None:
    for path in [*DEPLOY.glob("*.yaml"), *DEPLOY.glob("env.*"), *MANIFESTS]:
        assert not re.search(
            r"(password|secret|key)\"?[:=]\s*[\"']?[a-z0-9]{8,}", path.read_text(), re.I
        ), path.name


def test_compose_depends_on_services_that_exist() -> None:
    known = services()

    for name, one in known.items():
        assert set(one.get("depends_on", {})) <= set(known), name
        assert "image" in one or (DEPLOY.parents[1] / one["build"]["dockerfile"]).is_file(), name


def kubernetes_environment(name: str) -> dict[str, str]:
    """What a container is told, from its config maps and its own lines."""
    maps = {
        one["metadata"]["name"]: one["data"] for one in documents() if one["kind"] == "ConfigMap"
    }
    container = kubernetes_container(name)
    told: dict[str, str] = {}
    for source in container.get("envFrom", []):
        assert "secretRef" not in source, f"{name} has secrets in its environment"
        told |= maps[source["configMapRef"]["name"]]
    return told | {one["name"]: one["value"] for one in container.get("env", [])}


def kubernetes_container(name: str) -> dict[str, Any]:
    return next(one for _, one in containers() if one["name"] == name)


SECRET_FILES = {
    "armillary-database": {"armillary_database_password"},
    "armillary-store": {"armillary_s3_key", "armillary_s3_secret"},
    "armillary-prefect": {"armillary_prefect_auth"},
    "armillary-judge": {"armillary_judge_key"},
    "armillary-models": {"armillary_image_key", "armillary_video_key"},
    "armillary-notices": {"armillary_webhook_secret", "armillary_smtp_password"},
    "armillary-agent": {"armillary_agent_key"},
    "armillary-metrics": {"armillary_metrics_token"},
}


def kubernetes_secrets(name: str) -> set[str]:
    """The files of secrets that a process finds."""
    pod = next(pod for _, pod in pods() if any(one["name"] == name for one in all_containers(pod)))
    projected = [one["projected"] for one in pod["spec"]["volumes"] if "projected" in one]
    return {
        file
        for volume in projected
        for source in volume["sources"]
        for file in SECRET_FILES[source["secret"]["name"]]
    }


def all_containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


PLACES = ("ARMILLARY_DATABASE_URL", "ARMILLARY_S3_ENDPOINT", "ARMILLARY_SECRETS")
"""What is called otherwise on another platform."""


@pytest.mark.parametrize("name", PROCESSES)
def test_compose_and_kubernetes_start_the_same_processes_with_the_same_surroundings(
    name: str,
) -> None:
    service, container = services()[name], kubernetes_container(name)
    plain = {
        variable: re.sub(r"^\$\{\w+:-(.*)\}$", r"\1", value)
        for variable, value in service["environment"].items()
    }
    ours = kubernetes_environment(name)
    secrets = {one["source"] for one in service["secrets"]}

    assert service["command"] == container["command"]
    assert plain.keys() == ours.keys()
    assert {n: v for n, v in plain.items() if n not in PLACES} == {
        n: v for n, v in ours.items() if n not in PLACES
    }
    assert secrets == kubernetes_secrets(name)
    assert service["image"].partition(":")[0] == container["image"]
    assert ("healthcheck" in service) == (name in KEPT_ALIVE)


@pytest.mark.parametrize("name", PROCESSES)
def test_what_a_process_is_told_as_shipped_makes_settings(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in kubernetes_environment(name).items():
        monkeypatch.setenv(variable, value)
    monkeypatch.delenv("ARMILLARY_SECRETS", raising=False)

    settings = Settings()

    assert (settings.api_prices, settings.api_budget) == (None, None)
    assert settings.store == "s3://armillary/board" or name == "scheduler"


def test_as_many_evaluations_as_a_new_pool_takes_have_a_place_on_the_workers() -> None:
    command = services()["evaluations"]["command"]

    assert 1 < GPU_SLOTS <= int(command[command.index("--limit") + 1])


def test_the_example_names_every_variable_that_compose_asks_for() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    asked = set(re.findall(r"(?<!\$)\$\{(\w+)[:}]", text)) | set(
        re.findall(r"\{ environment: (\w+) \}", text)
    )
    example = (DEPLOY / "env.example").read_text()

    assert asked == set(re.findall(r"^(\w+)=", example, re.M))


def test_no_secret_of_ours_stands_in_an_environment() -> None:
    secret = {f"ARMILLARY_{name.upper()}" for name in secret_settings()}
    for name in PROCESSES:
        assert not secret & services()[name].get("environment", {}).keys(), name
        assert not secret & kubernetes_environment(name).keys(), name


def secret_settings() -> set[str]:
    from pydantic import SecretStr

    return {name for name, field in Settings.model_fields.items() if field.annotation is SecretStr}


def test_every_file_of_a_secret_is_a_secret_setting() -> None:
    known = {f"armillary_{name}" for name in secret_settings()}

    assert {file for files in SECRET_FILES.values() for file in files} <= known
    assert set(yaml.safe_load((DEPLOY / "compose.yaml").read_text())["secrets"]) <= known | {
        "prefect_database_password"
    }


def test_every_image_has_the_release_as_its_tag() -> None:
    release = version("armillary")
    kustomization = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())
    tags = {image["name"]: image["newTag"] for image in kustomization["images"]}
    named = {services()[name]["image"] for name in PROCESSES}
    built = {
        word
        for path in DEPLOY.glob("Dockerfile.*")
        for word in path.read_text().split()
        if re.match(r"armillary-[\w-]+:", word)
    }

    assert tags == dict.fromkeys(tags, release)
    assert named == built == {f"{name}:{release}" for name in tags}


def test_an_image_is_built_from_packages_only_and_never_from_a_secret() -> None:
    lines = (DEPLOY.parents[1] / ".dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]

    assert patterns[0] == "*"
    assert {pattern for pattern in patterns if pattern.startswith("!")} == {
        *("!constraints.txt", "!pyproject.toml", "!README.md", "!LICENSE"),
        *("!evaluators", "!flows", "!infra", "!leaderboard", "!submissions"),
    }


def test_volumes_belong_to_the_user_of_the_image() -> None:
    for path in DEPLOY.glob("Dockerfile.*"):
        text = path.read_text()
        mounted = {"/home/armillary/state"} | ({"/tls"} if "worker" in path.name else set())
        owned = next(line for line in text.splitlines() if "install -d -o armillary" in line)
        assert all(folder in owned for folder in mounted), path.name
        assert text.index("install -d") < text.index("USER armillary")


def test_readers_stay_with_the_replica_that_drew_their_page() -> None:
    for name in ("board", "rating"):
        service, ingress = (document(kind, name) for kind in ("Service", "Ingress"))
        annotations = ingress["metadata"]["annotations"]

        assert service["spec"]["sessionAffinity"] == "ClientIP"
        assert annotations["nginx.ingress.kubernetes.io/affinity"] == "cookie"


def test_who_answers_strangers_can_be_told_whose_forwarded_addresses_to_believe() -> None:
    for name in ("board", "api", "rating"):
        assert kubernetes_environment(name)["ARMILLARY_TRUSTED_PROXIES"] == ""
        assert kubernetes_environment(name)["ARMILLARY_LOG"] == "stderr"
        assert (
            services()[name]["environment"]["ARMILLARY_TRUSTED_PROXIES"] == "${TRUSTED_PROXIES:-}"
        )
    assert "TRUSTED_PROXIES=" in (DEPLOY / "env.example").read_text()


def document(kind: str, name: str) -> dict[str, Any]:
    return next(
        one for one in documents() if (one["kind"], one["metadata"]["name"]) == (kind, name)
    )


def test_who_speaks_with_the_outside_may() -> None:
    allowed = {name for name, pod in pods() if pod["metadata"]["labels"].get("internet") == "yes"}
    blocked = document("NetworkPolicy", "internet")["spec"]["egress"][0]["to"][0]["ipBlock"][
        "except"
    ]

    assert allowed == {"board", "api", "watchdog", "cpu", "evaluations"}
    assert {"10.0.0.0/8", "169.254.0.0/16"} <= set(blocked)


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
