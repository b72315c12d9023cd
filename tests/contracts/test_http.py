"""What the gateway answers: its description of itself, names of metrics, and grouped searches."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError

import pytest

from contracts.command import Command, gateway, get, leases
from contracts.golden import Golden

pytestmark = pytest.mark.slow

DRAINS = json.dumps({"query": {"match": {"text": "drains"}}, "_source": ["title", "date"]})
ERROR = "#/components/schemas/Error"
SEARCHES = {
    "indent": "dedupe=indent",
    "collapse": "dedupe=collapse&dedupe_explain=true",
    "collapse-partial": "dedupe=collapse&dedupe_level=partial&dedupe_keep=longest&dedupe_scope=matches",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The gateway over the leases in a file."""
    command = leases(tmp_path_factory.mktemp("leases"))
    command.run("ingest", "documents.jsonl")
    with gateway(command, command.folder / "gateway.log") as url:
        yield url


def test_the_openapi_document_is_as_written_down(served: str) -> None:
    document = json.loads(get(f"{served}/openapi.json"))
    errors: dict[str, Any] = {}
    for path, operations in document.pop("paths").items():
        for operation in operations.values():
            for status in [status for status, each in operation["responses"].items() if ERROR in str(each)]:
                errors.setdefault(status, []).append(operation["responses"].pop(status))
        name = re.sub(r"\W+", "-", path).strip("-") or "root"
        Golden.check_json(f"openapi/{name}", {path: operations})
    assert {len(each) for each in errors.values()} == {len(errors["500"])}, "an error is described for every route"
    Golden.check_json("openapi/errors", {status: each[0] for status, each in sorted(errors.items())})
    Golden.check_json("openapi/document", document)


def test_metrics_have_these_names_types_and_labels(served: str) -> None:
    get(f"{served}/ibidem/search?q=drains")
    with pytest.raises(HTTPError):
        get(f"{served}/ibidem/inspect/nosuch")
    lines = get(f"{served}/metrics").decode().splitlines()
    types = [line.removeprefix("# TYPE ") for line in lines if line.startswith("# TYPE ")]
    labels = [re.sub(r'="[^"]*"', "", line.rpartition(" ")[0]) for line in lines if not line.startswith("#")]
    Golden.check_names("http/metrics", [*types, *labels])


def test_a_search_of_a_file_is_answered_so(served: str) -> None:
    Golden.check_json("http/search", json.loads(get(f"{served}/ibidem/search?q=drains&dedupe=collapse")))


@pytest.fixture(scope="module")
def clustered(tmp_path_factory: pytest.TempPathFactory, opensearch: str) -> Iterator[str]:
    """The gateway over the leases in a cluster, under a name that groups are named after."""
    command = leases(tmp_path_factory.mktemp("leases"))
    index = "contracts-leases"
    clean = f"{index},.ibidem-{index},.ibidem-{index}-work?ignore_unavailable=true"
    get(f"{opensearch.partition('+')[2]}/{clean}", method="DELETE")
    command = Command(command.folder, command.settings | {"IBIDEM_ENGINE": opensearch, "IBIDEM_INDEX": index})
    assert command.run("ingest", "documents.jsonl").code == 3
    with gateway(command, command.folder / "gateway.log") as url:
        yield f"{url}/{index}"
    get(f"{opensearch.partition('+')[2]}/{clean}", method="DELETE")


@pytest.mark.server("opensearch")
@pytest.mark.parametrize("name", SEARCHES)
def test_a_grouped_search_of_a_cluster_is_answered_so(clustered: str, name: str) -> None:
    answer = json.loads(get(f"{clustered}/_search?{SEARCHES[name]}", DRAINS.encode()))
    Golden.check_json(f"http/{name}", answer)
