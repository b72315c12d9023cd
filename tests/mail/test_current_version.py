"""The current version of a group is shown on top, earlier ones under it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from ibidem.grouped_search.api import EngineBackend, search_index
from ibidem.grouped_search.passage import Passage
from ibidem.grouped_search.texts import group_texts
from ibidem_dedupe.request import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_engines.signing import records
from ibidem_ingest.document import Document
from ibidem_workers.groups.follower import Follower
from support.command_line import Answer, Run
from support.general_tables import general_tables

TEXT = (
    "The tenant pays the rent of the house at the harbour on the first of May, and the landlord keeps the roof, the "
    "gutters and the windows in repair; whoever breaks a pane has it mended within a month at his own expense. "
)
VERSIONS = (("a", "Lease v1", "1991"), ("c", "Lease v10", "1990"), ("b", "Lease v2 (draft)", "1992"))


@pytest.fixture(scope="module")
def leases(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    documents = [Document(id_, TEXT, title=title, date=date, language="en") for id_, title, date in VERSIONS]
    documents.append(Document("other", "A tenant of another house has a dog.", title="Dog", language="en"))
    return index(tmp_path_factory.mktemp("leases"), documents)


def index(folder: Path, documents: Sequence[Document]) -> Engine:
    """Index documents, with their groups."""
    engine = open_engine(f"sqlite:///{folder}/index.sqlite", "leases")
    engine.create()
    engine.write(list(records(documents, general_tables())))
    engine.refresh()
    Follower(engine).catch_up()
    return engine


def shown(engine: Engine, **options: str) -> list[list[str]]:
    """Return the ids of each group that is shown, the lead first."""
    groups: list[list[str]] = []
    given = {"dedupe": "indent", "dedupe_keep": "current", "dedupe_window_days": "none"} | options
    for hit in search_index(engine, parse_query("tenant"), parse_request(given))["hits"]["hits"]:
        groups += [] if hit["_dedupe"]["indent"] else [[]]
        groups[-1].append(cast("str", hit["_id"]))
    return groups


def test_the_highest_version_number_leads_whatever_the_dates_say(leases: Engine) -> None:
    group = next(each for each in shown(leases) if "other" not in each)
    assert group[0] == "c"
    assert sorted(group) == ["a", "b", "c"]


def test_a_document_alone_stays_as_it_is(leases: Engine) -> None:
    assert ["other"] in shown(leases)


def test_of_stored_groups_the_current_version_leads_too(leases: Engine) -> None:
    options = {"dedupe": "indent", "dedupe_keep": "current", "dedupe_by": "stored"}
    hits = search_index(leases, parse_query("tenant"), parse_request(options))["hits"]["hits"]
    followed = {hit["_dedupe"]["group"]: hit["_id"] for hit in reversed(hits)}
    several = next(hit["_dedupe"]["group"] for hit in hits if hit["_dedupe"]["size"] > 1)
    ids = [hit["_id"] for hit in hits if hit["_dedupe"]["group"] == several]
    assert followed[several] == max(ids, key=["a", "b", "c"].index)


def test_of_documents_that_nothing_puts_in_order_the_best_in_rank_leads(tmp_path: Path) -> None:
    for text in (TEXT, f"{TEXT} Signed by both."):
        folder = tmp_path / str(len(text))
        folder.mkdir()
        engine = index(folder, [Document("p", TEXT, title="Tenant, tenant"), Document("q", text, title="Lease")])
        assert shown(engine) == [["p", "q"]]


def test_few_texts_are_read_at_once_to_put_versions_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [Document(f"d{at}", TEXT, title=f"Lease v{at}", language="en") for at in range(1, 46)]
    engine = index(tmp_path, documents)
    sizes: list[int] = []
    fetch = EngineBackend.fetch

    def counted(self: Any, hits: Any, outside: Any = ()) -> Any:
        sizes.append(len(hits))
        return fetch(self, hits, outside)

    monkeypatch.setattr(EngineBackend, "fetch", counted)
    assert shown(engine, dedupe_max_per_group="1")[0][0] == "d45"
    assert sizes[:3] == [20, 20, 5]


def test_of_texts_titles_names_and_dates_say_which_version_is_current() -> None:
    titles = [Passage(TEXT, title=title) for _, title, _ in VERSIONS]
    assert [each.lead for each in group_texts(titles, keep="current", language="en")] == [1]
    names = [Passage(TEXT, document=f"leases/{name}.pdf") for name in ("lease-v2", "lease-v3", "lease-v1")]
    assert group_texts(names, keep="current", language="en")[0].lead == 1
    dates = [Passage(TEXT, date=date) for date in ("1990", "1992", "1991")]
    assert group_texts(dates, keep="current", language="en")[0].lead == 1
    assert group_texts([TEXT, TEXT], keep="current", language="en")[0].lead == 0


def ids(output: Any) -> list[str]:
    return [each["_id"] for each in output["hits"]["hits"]]


def test_the_current_version_is_on_top_where_asked(run: Run, answer: Answer) -> None:
    current = answer("search", "roof", "--keep", "current")
    assert ids(current) == ids(answer("search", "roof", "--keep", "current"))
    assert current["dedupe"]["keep"] == "current"
