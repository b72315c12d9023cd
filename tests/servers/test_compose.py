"""Compose reads its file, starts what its profiles name, and the image holds what the package needs."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ibidem_core.settings import PREFIX, load, read_dotenv
from servers.missing import Missing

ROOT = Path(__file__).parents[2]
OURS = {"worker", "gateway", "follower"}
# Services that are started, by the profiles that are named.
STARTED = {
    (): OURS,
    ("default",): OURS | {"opensearch", "rabbitmq"},
    ("elasticsearch", "redis"): OURS | {"elasticsearch", "redis"},
    ("opensearch", "redis"): OURS | {"opensearch", "redis"},
    ("command",): OURS | {"ibidem"},
}

Services = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def services() -> Services:
    """Every service as Compose reads it, with the files of variables put in."""
    command = shutil.which("docker-compose")
    if command is None:
        raise Missing("docker-compose is not on the path: install it (tests/servers/install.sh)")
    process = subprocess.run([command, "config"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (process.returncode, process.stderr) == (0, "")
    definitions: Services = yaml.safe_load(process.stdout)["services"]
    return definitions


@pytest.mark.parametrize("profiles", STARTED, ids=str)
def test_what_the_profiles_name_is_started_and_nothing_else(services: Services, profiles: tuple[str, ...]) -> None:
    names = {
        name for name, service in services.items() if set(service.get("profiles", profiles or ["-"])) & {*profiles, "-"}
    }
    assert names | OURS == STARTED[profiles]
    assert not any("profiles" in services[name] for name in OURS)
    assert not any("depends_on" in service for service in services.values()), "it would start what no profile names"


@pytest.mark.slow
def test_every_service_says_how_it_is_and_may_take_so_much_memory_and_no_more(services: Services) -> None:
    assert {name for name, service in services.items() if service["healthcheck"]["test"] == ["NONE"]} == {
        "follower",
        "ibidem",
    }
    assert all(service["mem_limit"] for service in services.values())


def test_every_image_is_one_version(services: Services) -> None:
    images = {service["image"] for service in services.values() if "build" not in service}
    images |= set(re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    assert [image for image in images if not re.search(r":\d+\.\d+\.\d+(-\w+)?$", image)] == []


def test_ours_are_given_every_setting_of_a_file_and_know_each(services: Services, tmp_path: Path) -> None:
    variables = {name: value for name, value in services["worker"]["environment"].items() if name.startswith(PREFIX)}
    assert read_dotenv(ROOT / "docker.env").keys() == {"engine", "broker", "index"}
    settings = load(variables, tmp_path)
    assert (settings.engine, settings.index) == ("opensearch+http://opensearch:9200", "ibidem")
    assert services["gateway"]["environment"] == services["ibidem"]["environment"] == services["worker"]["environment"]


def test_every_folder_that_the_image_copies_is_there_and_let_in() -> None:
    copied = re.findall(r"^COPY (?:--chmod=\d+ )?([^-].*) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    let_in = (ROOT / ".dockerignore").read_text().split()
    for name in names:
        assert (ROOT / name).exists(), name
        assert f"!{name.partition('/')[0]}" in let_in
