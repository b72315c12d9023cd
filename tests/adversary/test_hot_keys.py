"""Very many documents that share one value and are no duplicates: what that may cost, and what is said of it."""

import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock, patch

import pytest

from engines.conftest import ENGINES
from ibidem.grouped_search.api import search_index
from ibidem_dedupe import leader_clustering, pairs
from ibidem_dedupe.leader_clustering import Grouping, group
from ibidem_dedupe.parameters import parse_request
from ibidem_dedupe.policy import Policy
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, EngineSearch, LookupResult, Record, SignatureLookup
from ibidem_engines.query import Query, parse_query
from ibidem_engines.requests import RequestFlow
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.packed import PackedColumns, pack
from ibidem_ingest.signatures.schema import FULL_SET, Signatures
from servers.indices import remove_indices
from support.windows import signatures, value

BASE = signatures(0)
ROWS, LEADS, BUDGET = 2_000, 100, 5_000
LIMIT = 1_000  # hits of a class of values that a look-up gives at most

Make = Callable[[int], Signatures]


def one_band(position: int) -> Signatures:
    values_at = signatures(position)
    return replace(values_at, slots=BASE.slots[:3] + values_at.slots[3:])


def sixteen_bands(position: int) -> Signatures:
    values_at = signatures(position)
    return replace(values_at, slots=BASE.slots[:48] + values_at.slots[48:])


def one_fingerprint(position: int) -> Signatures:
    return replace(signatures(position), fingerprint=BASE.fingerprint)


def rare_terms(position: int) -> Signatures:
    terms = random.Random(position).sample(range(150), FULL_SET)  # noqa: S311 - made-up data keeps no secret
    return replace(signatures(position), terms=tuple(sorted(terms)))


# How documents are alike, and by how many values each may be brought together with others than those of one value.
SHAPES: Mapping[Make, int] = {one_band: 1, sixteen_bands: 1, one_fingerprint: 1, rare_terms: 2 * 23}


def count_comparisons(values: Sequence[bytes], block: int) -> tuple[Grouping, int]:
    """Group rows, and count the pairs that are compared."""
    compared = []
    verify = pairs.verify

    def counting(columns: PackedColumns, a: pairs.Rows, b: pairs.Rows, policy: Policy) -> pairs.Codes:
        compared.append(len(a))
        return verify(columns, a, b, policy)

    with (
        patch.object(pairs, "verify", counting),
        patch.object(pairs, "BUDGET", BUDGET),
        patch.object(leader_clustering, "BUDGET", BUDGET),
        patch.object(leader_clustering, "MAX_LEADS", LEADS),
        patch.object(leader_clustering, "BLOCK", block),
    ):
        return group(PackedColumns.decode(values), Policy()), sum(compared)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "keys"), SHAPES.items())
@pytest.mark.parametrize("block", [10_000, 500], ids=["a window", "a whole index"])
def test_each_of_many_rows_is_compared_with_so_many_leads_under_a_value_and_those_that_were_cut_are_counted(
    make: Make, keys: int, block: int
) -> None:
    values = [value(make(at + 1), f"{at}") for at in range(ROWS)]
    leads, compared = count_comparisons(values, block)
    assert 0 < compared <= ROWS * keys * (LEADS + BUDGET**0.5 * 2)
    assert leads.lead.tolist() == list(range(ROWS))
    assert leads.crowded[-1]
    assert not leads.crowded[:LEADS].any()
    assert LEADS < leads.crowded.sum() <= ROWS - LEADS


def test_a_copy_is_found_by_what_else_it_shares_however_crowded_one_of_its_values_is() -> None:
    values = [value(one_band(at + 1), f"{at}") for at in range(ROWS)]
    leads, _ = count_comparisons([*values, value(one_band(ROWS), "copy")], 10_000)
    assert leads.lead[-1] == ROWS - 1
    assert not leads.crowded[-1]


@pytest.fixture(params=ENGINES)
def absent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    index = f"adversary-{os.getpid()}"
    served = request.param != "sqlite"
    address = request.getfixturevalue(request.param) if served else f"sqlite:///{tmp_path}/index.sqlite"
    opened = open_engine(address, index)
    yield opened
    opened.close()
    if served:
        remove_indices(address, index)


def make_record(victim_signatures: Signatures, name: str) -> Record:
    document = Document(name, "hidden" if name.startswith("x") else "verdict", version=1)
    return Record(document, victim_signatures, 1, f"{name:>032}", pack(document, victim_signatures))


@pytest.mark.slow
def test_a_look_up_gives_so_many_hits_and_no_more_and_the_answer_says_which_leads_were_cut(engine: Engine) -> None:
    lead = signatures(1)
    crowd = [one_band(at) for at in range(10, 10 + LIMIT + 200)]
    hot = replace(lead, slots=BASE.slots[:3] + lead.slots[3:])
    engine.write([make_record(each, f"x{at}") for at, each in enumerate(crowd)])
    engine.write([make_record(hot, "lead"), make_record(signatures(2), "other"), make_record(hot, "xcopy")])
    engine.refresh()
    looked_up: list[LookupResult] = []
    searching = engine.searching

    def counting(query: Query | None = None) -> EngineSearch:
        found = searching(query)
        find = found.find

        def count(searches: Sequence[SignatureLookup]) -> RequestFlow[list[LookupResult]]:
            looked_up.extend((yield from find(searches)))
            return looked_up[-len(searches) :]

        return Mock(wraps=found, find=count)

    request = parse_request({"dedupe": "indent", "dedupe_scope": "index"})
    with patch.object(engine, "searching", counting):
        answer = search_index(engine, parse_query("verdict"), request, 1, 50)
    ranks = [(hit["_id"], hit["_dedupe"]["indent"]) for hit in answer["hits"]["hits"]]
    account = answer["dedupe"]
    assert max(len(each.hits) for each in looked_up) <= 2 * LIMIT
    assert sorted(ranks) == [("lead", 0), ("other", 0), ("xcopy", 1)]
    assert [each["by"] for each in account["capped"]] == [["bands"]]
    assert account["documents"]["in_window"] == account["groups"]["in_window"] + account["duplicates"] == 2
    assert account["found_by_scope"] == 1
