"""The chart for Kubernetes, rendered by Helm with its own value files: what it promises holds in every one of them."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from helm_python import Chart, HelmRenderError, HelmValuesError
from helm_python.chart import lint

from ibidem_core.settings import load

ROOT = Path(__file__).parent.parent
CHART = ROOT / "charts" / "ibidem"
# The value files; with the empty name the defaults.
FILES = ("", *sorted(path.name for path in (CHART / "ci").glob("*.yaml")))

WARNING = 2

Manifest = dict[str, Any]
Values = dict[str, Any]


def values_of(name: str) -> Values:
    values: Values = yaml.safe_load((CHART / "ci" / name).read_text()) if name else {}
    return values


def render(values: Values) -> list[Manifest]:
    with Chart.load(CHART) as chart:
        texts = chart.render(values, name="try")
    found = (yaml.safe_load_all(text) for path, text in texts.items() if path.endswith(".yaml"))
    return [manifest for documents in found for manifest in documents if manifest]


def deployments(manifests: list[Manifest]) -> dict[str, Manifest]:
    return {
        each["metadata"]["labels"]["app.kubernetes.io/component"]: each["spec"]
        for each in manifests
        if each["kind"] == "Deployment"
    }


@pytest.fixture(scope="module", params=FILES, ids=lambda name: name or "defaults")
def manifests(request: pytest.FixtureRequest) -> list[Manifest]:
    return render(values_of(request.param))


def mebibytes(quantity: str) -> float:
    number, unit = re.fullmatch(r"(\d+)(Mi|Gi)", quantity).groups()  # type: ignore[union-attr]
    return int(number) * (1024 if unit == "Gi" else 1)


@pytest.mark.parametrize("name", FILES, ids=lambda name: name or "defaults")
def test_helm_finds_nothing_to_warn_of(name: str) -> None:
    report = lint(CHART, values_of(name), strict=True, kube_version="v1.31.0")
    assert [each for each in report["messages"] if each["severity"] >= WARNING] == []
    assert not report["errors"]


def test_addresses_with_passwords_are_references_to_a_secret_that_the_chart_does_not_make(
    manifests: list[Manifest],
) -> None:
    assert not any(each["kind"] == "Secret" for each in manifests)
    for spec in deployments(manifests).values():
        (container,) = spec["template"]["spec"]["containers"]
        variables = {each["name"]: each for each in container["env"]}
        for name in ("IBIDEM_ENGINE", "IBIDEM_BROKER"):
            assert set(variables[name]["valueFrom"]) == {"secretKeyRef"}


def test_pods_are_nobody_and_write_only_into_folders_of_their_own(manifests: list[Manifest]) -> None:
    for spec in deployments(manifests).values():
        pod = spec["template"]["spec"]
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert f"USER {pod['securityContext']['runAsUser']}\n" in (ROOT / "Dockerfile").read_text()
        assert pod["automountServiceAccountToken"] is False
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert {each["mountPath"] for each in container["volumeMounts"]} >= {"/data", "/tmp"}  # noqa: S108 - of the pod


def test_a_follower_is_never_there_twice(manifests: list[Manifest]) -> None:
    follower = deployments(manifests).get("follower")
    assert follower is None or (follower["replicas"], follower["strategy"]) == (1, {"type": "Recreate"})


def test_pods_may_connect_to_names_and_servers_and_only_a_gateway_is_connected_to(manifests: list[Manifest]) -> None:
    policies = [each["spec"] for each in manifests if each["kind"] == "NetworkPolicy"]
    for policy in policies:
        part = policy["podSelector"]["matchLabels"].get("app.kubernetes.io/component")
        assert bool(policy["ingress"]) == (part == "gateway")
    ports = {port["port"] for policy in policies for rule in policy.get("egress", ()) for port in rule["ports"]}
    assert not policies or ports >= {53, 9200, 5672}


def test_pods_ask_for_memory_and_have_a_limit() -> None:
    for part in ("worker", "gateway"):
        (container,) = deployments(render({}))[part]["template"]["spec"]["containers"]
        resources = container["resources"]
        assert mebibytes(resources["requests"]["memory"]) <= mebibytes(resources["limits"]["memory"])


@pytest.mark.parametrize("name", ["large.yaml", "redis.yaml"])
def test_workers_are_counted_by_the_queue_that_they_read(name: str, tmp_path: Path) -> None:
    values = values_of(name)
    queue = load({"IBIDEM_INDEX": values.get("index", "ibidem")}, tmp_path).queue
    manifests = render(values)
    (scaled,) = [each["spec"] for each in manifests if each["kind"] == "ScaledObject"]
    trigger = scaled["triggers"][0]
    by_type = {"rabbitmq": {"queueName": queue}, "redis": {"listName": f"ibidem:{queue}"}}
    assert by_type[trigger["type"]].items() <= trigger["metadata"].items()
    assert "replicas" not in deployments(manifests)["worker"]
    (keys,) = [each["spec"]["secretTargetRef"] for each in manifests if each["kind"] == "TriggerAuthentication"]
    assert keys[0]["name"] == values.get("secret", {}).get("name", "ibidem")


def test_the_settings_that_pods_are_given_are_ones_that_ibidem_knows(manifests: list[Manifest], tmp_path: Path) -> None:
    for spec in deployments(manifests).values():
        (container,) = spec["template"]["spec"]["containers"]
        given = {each["name"]: each["value"] for each in container["env"] if "value" in each}
        address = {"IBIDEM_ENGINE": "opensearch+http://search:9200"}  # which the secret holds
        assert load(given | address, tmp_path).index == given["IBIDEM_INDEX"]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"wokrer": {}}, "wokrer"),
        ({"settings": {"IBIDEM_ENGINE": "opensearch+http://user:secret@host"}}, "IBIDEM_ENGINE"),
        ({"index": "Upper"}, "index"),
        ({"worker": {"terminationGracePeriodSeconds": 1}}, "terminationGracePeriodSeconds"),
    ],
)
def test_a_value_that_the_chart_does_not_know_or_that_has_no_place_there_is_refused(values: Values, named: str) -> None:
    with pytest.raises(HelmValuesError, match=named), Chart.load(CHART) as chart:
        chart.validate_schema(values)


def test_scaling_by_redis_without_its_address_is_refused_with_what_to_write() -> None:
    with pytest.raises(HelmRenderError, match="write HOST:PORT of Redis"):
        render({"worker": {"autoscaling": {"enabled": True, "broker": "redis"}}})


def test_the_chart_is_of_the_version_of_the_distribution() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = re.search(r'__version__ = "(.+)"', (ROOT / "plugins" / "ibidem" / "__init__.py").read_text())
    assert version
    assert chart["version"] == chart["appVersion"] == version[1]


def test_the_examples_for_operators_install_a_zip_of_the_version_that_they_run() -> None:
    for path in sorted((ROOT / "charts" / "operators").glob("*.yaml")):
        manifest = yaml.safe_load(path.read_text())
        version = manifest["spec"].get("version") or manifest["spec"]["general"]["version"]
        assert f"-{path.stem}-{version}.zip" in path.read_text()
