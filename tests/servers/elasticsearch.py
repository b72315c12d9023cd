"""Elasticsearch as one node out of the jars of Maven's repository, which lacks its launcher and some of its modules."""

import os
import shutil
import zipfile
from pathlib import Path

from servers.class_archive import ALONE, with_archive
from servers.jars import fetched
from servers.jdk import java
from servers.process import JVM, SETTINGS, Launch, free_ports, healthy
from servers.programs import compiled

VERSION = os.environ.get("IBIDEM_TEST_ELASTICSEARCH_VERSION", "9.5.3")
SERVER = "org.elasticsearch:elasticsearch:{}"
MODULE = "transport-netty4"
DESCRIPTOR = f"META-INF/es-plugins/{MODULE}/plugin-descriptor.properties"
NODE = Path(__file__).with_name("ElasticsearchNode.java")
# What stands in for modules that Maven's repository lacks, by the name of its folder.
PARTS = {
    "words": Path(__file__).with_name("ElasticsearchWords.java"),
    "fusion": Path(__file__).with_name("ElasticsearchFusion.java"),
}
# For a jar that came into the repository without its own, as those of 9.0 to 9.2 did.
OWN_DESCRIPTOR = """name=transport-netty4
description=HTTP transport
version={version}
elasticsearch.version={version}
java.version=21
classname=org.elasticsearch.transport.netty4.Netty4Plugin
modulename=org.elasticsearch.transport.netty4
"""
PLUGIN = """name={name}
description=Stands in for a module that Maven's repository lacks
version={version}
elasticsearch.version={version}
java.version=21
classname={main}
"""


def assemble(home: Path, server: Path, everything: Path, version: str) -> None:
    """Lay out the folders of a node, with the transport module's jars apart from the server's."""
    module = home / "modules" / MODULE
    for folder in (home / "config", home / "plugins", module):
        folder.mkdir(parents=True)
    for jar in everything.glob("*.jar"):
        if not (server / jar.name).exists():
            shutil.copy(jar, module)
    with zipfile.ZipFile(module / f"{MODULE}-{version}.jar") as jar:
        known = DESCRIPTOR in jar.namelist()
        descriptor = jar.read(DESCRIPTOR).decode() if known else OWN_DESCRIPTOR.format(version=version)
    (module / "plugin-descriptor.properties").write_text(descriptor)


def add_part(home: Path, name: str, jar: Path, version: str) -> None:
    """Put a plugin that stands in for a module into its folder."""
    plugin = home / "plugins" / name
    plugin.mkdir()
    shutil.copy(jar, plugin)
    descriptor = PLUGIN.format(name=name, version=version, main=PARTS[name].stem)
    (plugin / "plugin-descriptor.properties").write_text(descriptor)


def prepare(folder: Path) -> Launch:
    """Fetch the jars and say how a node that is a cluster of its own is started from them."""
    return node(folder, *free_ports(2), *ALONE, f"path.repo={folder}")


def node(folder: Path, port: int, transport: int, *settings: str, version: str = VERSION) -> Launch:
    """Fetch the jars and say how a node is started from them, with an archive of its classes."""
    launch = without_archive(folder, port, transport, *settings, version=version)
    if version != VERSION:  # of which one node or two are started
        return launch
    return with_archive(f"elasticsearch-{version}", launch, without_archive)


def without_archive(folder: Path, port: int, transport: int, *settings: str, version: str = VERSION) -> Launch:
    """Fetch the jars and say how a node is started from them alone; the arguments are those of `node`."""
    runtime, artifact = java(), SERVER.format(version)
    server = fetched(f"elasticsearch-{version}", [artifact])
    transport_jars = [artifact, f"org.elasticsearch.plugin:{MODULE}:{version}"]
    everything = fetched(f"elasticsearch-{version}-transport", transport_jars)
    home = folder / "home"
    assemble(home, server, everything, version)
    for name, source in PARTS.items():
        add_part(home, name, compiled(source, server, runtime), version)
    modules = ("--module-path", str(server), "--add-modules=jdk.incubator.vector,ALL-MODULE-PATH")
    command = [
        *(str(runtime), *JVM, f"-Des.path.home={home}", f"-Des.path.conf={home / 'config'}"),
        *(*modules, "-cp", str(compiled(NODE, server, runtime, *modules)), NODE.stem, str(home)),
        *(*SETTINGS, *settings),
        *(f"http.port={port}", f"transport.port={transport}"),
    ]
    return Launch(f"elasticsearch+http://127.0.0.1:{port}", command, lambda: healthy(port))
