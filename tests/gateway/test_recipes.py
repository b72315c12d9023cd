"""The recipes of docs/gateway.md for other languages and libraries run as printed there."""

import json
import re
import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.conftest import Leases
from gateway.gateway_server import run_gateway
from ibidem_core.settings import Settings
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.run import follow
from servers.fake_server import Answer, Request, between
from servers.indices import ask, remove_indices
from servers.jars import fetched
from servers.jdk import java
from servers.kinds import CLUSTERS
from servers.packages import interpreter
from support.run_program import run_program

PAGE = Path(__file__).parents[2] / "docs" / "gateway.md"
JAVA = {
    "opensearch": (
        "org.opensearch.client:opensearch-java:3.1.0",
        "org.apache.httpcomponents.client5:httpclient5:5.4.4",
    ),
    "elasticsearch": ("co.elastic.clients:elasticsearch-java:9.5.2",),
}
OF_KIND = {"opensearch": "org.opensearch.client", "elasticsearch": "co.elastic.clients"}
JAVASCRIPT = {"opensearch": ("@opensearch-project/opensearch", "3"), "elasticsearch": ("@elastic/elasticsearch", "9")}
GO = "github.com/opensearch-project/opensearch-go/v4@v4.8.1"


def recipe(language: str, gateway: str, leases: Leases, name: str = "") -> str:
    """Return the page's program that names something, for the gateway and index of the test."""
    programs = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (program,) = [each for each in programs if name in each]
    program_here = program.replace("http://127.0.0.1:8042", gateway).replace("licences", leases.index)
    return program_here.replace("warranty", "rent")


def needs(tool: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not on this machine")


@needs("npm")
def test_javascript(leases: Leases, gateway: str, tmp_path: Path) -> None:
    package, version = JAVASCRIPT[leases.kind]
    (tmp_path / "recipe.mjs").write_text(recipe("js", gateway, leases, package))
    run_program(tmp_path, "npm", "install", "--no-audit", "--no-fund", "--silent", f"{package}@{version}")
    lines = [line.split() for line in run_program(tmp_path, "node", "recipe.mjs").splitlines()]
    assert sorted(line[1] for line in lines) == ["1", "3"]


def test_java(leases: Leases, gateway: str, tmp_path: Path) -> None:
    jars = fetched(f"{leases.kind}-java-1", JAVA[leases.kind])
    (tmp_path / "Recipe.java").write_text(recipe("java", gateway, leases, OF_KIND[leases.kind]))
    output = run_program(tmp_path, java(), "-cp", f"{jars}/*", tmp_path / "Recipe.java").splitlines()
    assert sorted(line.split()[1] for line in output) == ["0", "2"]


@needs("go")
@pytest.mark.parametrize("leases", CLUSTERS[:1], indirect=True)
def test_go(leases: Leases, gateway: str, tmp_path: Path) -> None:
    (tmp_path / "recipe.go").write_text(recipe("go", gateway, leases))
    run_program(tmp_path, "go", "mod", "init", "recipe")
    run_program(tmp_path, "go", "get", GO)
    lines = [line.split() for line in run_program(tmp_path, "go", "run", "recipe.go").splitlines()]
    assert sorted(size for _, size in lines) == ["0", "2"]


STORES = [
    pytest.param(CLUSTERS[1].values[0], "ElasticsearchStore", "text=text,meta=metadata", marks=CLUSTERS[1].marks),
    pytest.param(CLUSTERS[0].values[0], "OpenSearchDocumentStore", "text=content,meta=", marks=CLUSTERS[0].marks),
]
PACKAGES = ("langchain-elasticsearch==1.0.0", "opensearch-haystack==9.0.0")
# Answer of `GET /`; the test's server is put together of fewer modules than a whole one, and tells nothing.
INFO = {
    "name": "one",
    "cluster_name": "tests",
    "version": {"number": "9.5.3", "build_flavor": "default"},
    "tagline": "You Know, for Search",
}


def root(request: Request) -> Answer | None:
    return Answer(200, INFO) if (request.method, request.path) == ("GET", "/") else None


@contextmanager
def following(settings: Settings) -> Iterator[None]:
    """Sign what is written, as `ibidem backfill --follow` does."""
    has_ended = threading.Event()
    follower = threading.Thread(target=follow, args=(settings, has_ended.wait))
    follower.start()
    try:
        yield
    finally:
        has_ended.set()
        follower.join()


@pytest.mark.parametrize(("kind", "store", "fields"), STORES)
def test_a_store_of_langchain_or_haystack_is_signed_and_searched_without_copies(  # noqa: PLR0917 - fixtures
    request: pytest.FixtureRequest, kind: str, store: str, fields: str, tables: Tables, tmp_path: Path
) -> None:
    python = interpreter("stores-2", PACKAGES)
    settings = Settings(
        engine=request.getfixturevalue(kind), index=f"notes-{secrets.token_hex(4)}", fields=fields, tables=tables.folder
    )
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (program,) = [each for each in programs if f" {store}(" in each]
    try:
        text = fields.partition(",")[0].removeprefix("text=")  # the store's own index would need a plugin for vectors
        mapping = json.dumps({"mappings": {"properties": {text: {"type": "text"}}}})
        ask(settings.engine, "PUT", f"/{settings.index}", mapping)
        with following(settings), run_gateway(settings) as url, between(url, root) as front:
            program = program.replace("http://127.0.0.1:8042", f"http://127.0.0.1:{front.port}")
            (tmp_path / "recipe.py").write_text(program.replace('"notes', f'"{settings.index}'))
            assert run_program(tmp_path, python, "recipe.py").splitlines() == ["The tenant pays the rent."]
    finally:
        remove_indices(settings.engine, settings.index)
