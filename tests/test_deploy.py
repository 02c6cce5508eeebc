"""The files of deploy/: well formed, with everything that a cluster in use needs, and true to the program's options."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dowse.config import Config
from dowse.interfaces.cli.commands.serving import server
from dowse.store.opensearch import Address

DEPLOY = Path(__file__).parents[1] / "deploy"
MANIFESTS = [
    (path.name, number, manifest)
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for number, manifest in enumerate(yaml.safe_load_all(path.read_text()))
]
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def named(kind: str, name: str) -> Any:
    (found,) = (each for _, _, each in MANIFESTS if (each["kind"], each["metadata"]["name"]) == (kind, name))
    return found


def containers() -> list[Any]:
    return [
        container
        for _, _, each in MANIFESTS
        if each["kind"] in {"Deployment", "StatefulSet"}
        for container in each["spec"]["template"]["spec"]["containers"]
    ]


@pytest.mark.parametrize(("file", "number", "manifest"), MANIFESTS, ids=lambda value: str(value)[:24])
def test_a_manifest_is_what_kubernetes_takes(file: str, number: int, manifest: Any) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="not installed: make test-deploy installs it")
    validator.validate(manifest, validator.latest_version(), strict=True)


def test_every_container_has_limits_and_those_that_serve_have_probes() -> None:
    for container in containers():
        assert container["resources"]["limits"]["memory"]
        assert container["resources"]["requests"]["cpu"]
        if "ports" in container:
            assert {"startupProbe", "readinessProbe", "livenessProbe"} <= container.keys()


def test_passwords_come_from_a_secret() -> None:
    for container in containers():
        for variable in container["env"]:
            if "PASSWORD" in variable["name"] or "TOKEN" in variable["name"]:
                assert "secretKeyRef" in variable["valueFrom"]


def test_selectors_find_the_pods_that_they_mean() -> None:
    for kind, name in (("StatefulSet", "opensearch"), ("Deployment", "dowse-server"), ("Deployment", "dowse-worker")):
        spec = named(kind, name)["spec"]
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    assert named("Service", "dowse")["spec"]["selector"].items() <= (
        named("Deployment", "dowse-server")["spec"]["template"]["metadata"]["labels"].items()
    )


def test_there_are_three_nodes_two_servers_and_workers() -> None:
    replicas = {
        name: named(kind, name)["spec"]["replicas"]
        for kind, name in (
            ("StatefulSet", "opensearch"),
            ("Deployment", "dowse-server"),
            ("Deployment", "dowse-worker"),
        )
    }
    assert replicas == {"opensearch": 3, "dowse-server": 2, "dowse-worker": 4}
    assert {"node1", "node2", "node3", "server1", "server2", "worker"} == set(COMPOSE["services"])


@pytest.mark.parametrize(
    "index",
    [named("ConfigMap", "dowse")["data"]["DOWSE_INDEX"], COMPOSE["services"]["server1"]["environment"]["DOWSE_INDEX"]],
)
def test_the_addresses_are_such_as_the_program_takes(index: str, tmp_path: Path) -> None:
    address = Address.parse(index, {})
    assert (len(address.hosts), address.copies) == (3, 2)
    assert Config(index=index, data_dir=tmp_path, cache_dir=tmp_path).where == index


def test_the_commands_have_only_options_that_the_program_has() -> None:
    servers = [
        COMPOSE["services"]["server1"]["command"],
        named("Deployment", "dowse-server")["spec"]["template"]["spec"]["containers"][0]["args"],
    ]
    known = {name for each in server.params for name in each.opts}
    for command, *options in servers:
        assert command == server.name
        assert {option.partition("=")[0] for option in options} <= known


def test_every_volume_and_dependency_of_the_compose_file_is_there() -> None:
    for service in COMPOSE["services"].values():
        for dependency in service.get("depends_on", {}):
            assert "healthcheck" in COMPOSE["services"][dependency]
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source.startswith(("$", ".", "/")) or source in COMPOSE["volumes"]
        assert service["deploy"]["resources"]["limits"]["memory"]
