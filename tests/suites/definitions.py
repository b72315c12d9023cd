"""The engines' own REST test suites as they are published: definitions of requests, and tests in YAML."""

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from servers.jars import fetched

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

OPENSEARCH = "org.opensearch:rest-api-spec:3.1.0"
ELASTICSEARCH_REQUESTS = "org.elasticsearch:rest-api-spec:9.5.3"
# The newest release that was published with its tests; later ones hold the definitions of requests alone.
ELASTICSEARCH_TESTS = "org.elasticsearch:rest-api-spec:7.10.2"


@dataclass(frozen=True)
class SuiteTest:
    chapter: str  # its folder
    name: str  # file and name
    setup: Sequence[Any]  # steps before it
    steps: Sequence[Any]  # its own steps
    teardown: Sequence[Any]  # steps behind it, whatever became of it


def jar(artifact: str) -> Path:
    """Return the artifact's one file, fetched by Maven."""
    folder = fetched(f"suite-{artifact.rpartition(':')[2]}-{artifact.split(':', maxsplit=1)[0]}", [f"{artifact}:alone"])
    (path,) = folder.glob("*.jar")
    return path


@cache
def requests_of(artifact: str) -> Mapping[str, Any]:
    """Return what each request is called, and which paths and parameters it has."""
    requests: dict[str, Any] = {}
    with zipfile.ZipFile(jar(artifact)) as archive:
        for name in archive.namelist():
            if name.startswith("rest-api-spec/api/") and name.endswith(".json") and "/_" not in name:
                requests |= json.loads(archive.read(name))
    return requests


def read_chapter(artifact: str, chapter: str) -> Iterator[SuiteTest]:
    prefix = f"rest-api-spec/test/{chapter}/"
    with zipfile.ZipFile(jar(artifact)) as archive:
        for name in sorted(archive.namelist()):
            if name.startswith(prefix) and name.endswith(".yml"):
                yield from read(chapter, name.removeprefix(prefix), archive.read(name).decode())


def read(chapter: str, file: str, text: str) -> Iterator[SuiteTest]:
    parts = [part for part in yaml.load_all(text, LOADER) if part]
    sections = [(name, steps or []) for part in parts for name, steps in part.items()]
    sections_by_name = dict(each for each in sections if each[0] in ("setup", "teardown"))
    for name, steps in sections:
        if name not in sections_by_name:
            yield SuiteTest(
                chapter,
                f"{file}: {name}",
                sections_by_name.get("setup", ()),
                steps,
                sections_by_name.get("teardown", ()),
            )
