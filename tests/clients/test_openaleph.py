"""OpenAleph's own package writes and asks as it does, and its results are grouped as `docs/openaleph.md` says.

Its search engine here lacks most analysis modules, `percolator` and `GET /`: analyzers and normalizers are replaced by
`standard` and `lowercase`, the field of percolated queries is left out, and the client asks nobody who it is.
"""

import json
import os
import secrets
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from servers.indices import ask
from servers.missing import Missing
from servers.packages import interpreter, newest
from snippets.page import blocks, commands

pytestmark = [pytest.mark.server("elasticsearch"), pytest.mark.slow]
ROOT = Path(__file__).parents[2]
PACKAGE = "openaleph-search==5.3.3"
PAGE = blocks(ROOT / "docs" / "openaleph.md")
(PATCH,) = (each.body for each in PAGE if each.language == "python")
EXPORTS, (BACKFILL,) = (
    [line for each in PAGE for line in commands(each) if line.startswith(word)] for word in ("export ", "ibidem ")
)
INDEX = "openaleph-entity-documents-v1"

REPLACED = """
import json
import elasticsearch
from openaleph_search.index.mapping import ANALYZE_SETTINGS, FieldType

async def nobody(client):
    return {}

elasticsearch.Elasticsearch.info = lambda client: {}
elasticsearch.AsyncElasticsearch.info = nobody
analysis = ANALYZE_SETTINGS["analysis"]
analysis |= {
    "char_filter": {},
    "filter": {},
    "analyzer": {name: {"type": "standard"} for name in analysis["analyzer"]},
    "normalizer": {name: {"type": "custom", "filter": ["lowercase"]} for name in analysis["normalizer"]},
}
FieldType.PERCOLATOR = {"type": "object", "enabled": False}
"""

LETTER = (
    "The tenant shall pay the rent of the house on the first day of each month, in advance and without any demand, "
    "and shall keep the roof, the gutters and the windows of the house in good repair until the end of the term."
)
NOTICE = "Either party may end this lease by notice in writing three months before its term, and the rent is then due."
MAILS = {"first": LETTER, "again": LETTER, "forwarded": f"{LETTER} I agree to all of this.", "notice": NOTICE}

WRITE = f"""
from followthemoney import model
from openaleph_search.index.admin import upgrade_search
from openaleph_search.index.entities import index_bulk

upgrade_search()
mails = []
for name, text in {MAILS!r}.items():
    mail = model.make_entity("Email")
    mail.id = name
    mail.add("subject", name)
    mail.add("bodyText", text)
    mail.add("language", "eng" if name != "notice" else "deu")
    mails.append(mail)
print(json.dumps(index_bulk("leak", mails, sync=True).indexed))
"""

ASK = """
from openaleph_search.query.queries import EntitiesQuery
from openaleph_search.search.logic import make_parser

def ask(more):
    parser = make_parser("rent", f"filter:dataset=leak&facet=languages&highlight=true{more}")
    return dict(EntitiesQuery(parser).search())

plain = ask("")
exec({patch!r})
print(json.dumps([plain, ask(""), ask("&dedupe=collapse&dedupe_keep=longest")]))
"""

Run = Callable[[str], Any]


@pytest.fixture(scope="module")
def aleph(elasticsearch: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run programs with the package, ibidem and what both need, over indexes of a prefix of their own."""
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    try:
        python = interpreter(PACKAGE, [PACKAGE, *needed], newest())
    except Missing as missing:
        pytest.skip(f"OpenAleph's package: {missing}")
    prefix = f"aleph{secrets.token_hex(4)}"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path_factory.mktemp("aleph")),
        "PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in ("ingest", "mappings", "plugins", "workers")),
        "TESTING": "1",
        "OPENALEPH_ELASTICSEARCH_URI": elasticsearch.partition("+")[2],
        "OPENALEPH_SEARCH_INDEX_PREFIX": prefix,
    }

    def run(program: str) -> Any:
        command = [str(python), "-W", "ignore", "-c", REPLACED + program]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=240)
        assert done.returncode == 0, done.stderr[-2_000:]
        return json.loads(done.stdout.splitlines()[-1])

    assert run(WRITE) == len(MAILS)
    index = INDEX.replace("openaleph", prefix)
    before = ask(elasticsearch, "GET", f"/{index}/_search")
    sign(elasticsearch, index, tmp_path_factory.mktemp("signing"))
    assert ask(elasticsearch, "GET", f"/{index}/_search")["hits"] == before["hits"]
    yield run
    for name in ask(elasticsearch, "GET", f"/{prefix}-*,.ibidem-{prefix}-*"):
        ask(elasticsearch, "DELETE", f"/{name}")


def sign(address: str, index: str, folder: Path) -> None:
    """Sign as the page says."""
    variables = dict(each.split("=", 1) for line in EXPORTS for each in line.split()[1:])
    variables |= {"IBIDEM_ENGINE": address, "IBIDEM_INDEX": variables["IBIDEM_INDEX"].replace(INDEX, index)}
    command = [str(Path(sys.executable).with_name("ibidem")), *BACKFILL.split()[1:]]
    environment = {**os.environ, **variables, "IBIDEM_TABLES": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr


def test_a_search_of_its_own_is_grouped_with_its_facets_and_highlights(aleph: Run) -> None:
    plain, passed, found = aleph(ASK.replace("{patch!r}", repr(PATCH)))
    assert passed["hits"] == plain["hits"]
    assert len(plain["hits"]["hits"]) == len(MAILS)
    hits = found["hits"]["hits"]
    groups = {name_of(hit): {name_of(each) for each in hit["inner_hits"]["duplicates"]["hits"]["hits"]} for hit in hits}
    assert groups == {"forwarded": {"first", "again"}, "notice": set()}
    assert all("<em>rent</em>" in each["highlight"]["content"][0] for each in hits)
    buckets = {each["key"]: each["doc_count"] for each in found["aggregations"]["languages.values"]["buckets"]}
    assert not any("_dedupe" in each for each in found["aggregations"]["languages.values"]["buckets"])
    assert buckets == {"eng": 3, "deu": 1}
    assert (found["dedupe"]["unsigned"], found["dedupe"]["groups"]["in_window"]) == (0, 2)


def name_of(hit: Any) -> str:
    """The name of a mail, before the signature of its dataset."""
    return str(hit["_id"]).partition(".")[0]
