"""Words that were built to have one hash: what they can do, and what they cannot."""

import pytest

from adversary.words import another_word_for, pairs, words_of_one_hash
from ibidem.grouped_search.api import search_index
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.parameters import parse_request
from ibidem_dedupe.policy import Policy
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_ingest.document import Document
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures.packed import pack, unpack
from ibidem_ingest.signatures.sign import sign_batch, sign_one
from ibidem_ingest.text.word_hash import wh1
from ibidem_workers.batches import records
from support.general_tables import general_tables
from support.windows import counts

PAIRS = [(first.decode(), second.decode()) for first, second in pairs(120)]
WORDS, TWINS = zip(*PAIRS, strict=True)
VICTIM = Document("victim", " ".join(WORDS), title="verdict", source="court", version=1)
FORGED = Document("forged", " ".join(TWINS), title="verdict verdict", source="stranger", version=1)
OTHERS = [
    Document(f"other{at}", "verdict " + " ".join(f"w{at}x{word}" for word in range(300)), version=1) for at in range(5)
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("index")
    engine = open_engine(f"sqlite:///{folder}/index.sqlite", "news")
    engine.create()
    engine.write(list(records([VICTIM, FORGED, *OTHERS], general_tables())))
    engine.refresh()
    return engine


@pytest.fixture
def table() -> Table:
    return Table.build("en", 10_000, dict(counts([VICTIM, FORGED])), "a test")


@pytest.mark.slow
def test_words_of_one_hash_are_found_in_a_moment_so_none_of_this_relies_on_there_being_none() -> None:
    assert len(PAIRS) == 120
    assert all(word_a != word_b and wh1(word_a) == wh1(word_b) for word_a, word_b in PAIRS)
    assert wh1(another_word_for("consideration")) == wh1("consideration")


def test_a_forged_text_has_all_hashes_of_words_and_yet_is_never_identical() -> None:
    victim, forged = (unpack(pack(each, sign_one(each, None))) for each in (VICTIM, FORGED))
    assert victim is not None
    assert forged is not None
    evidence = decide(victim, forged, Policy())
    assert not set(VICTIM.text.split()) & set(FORGED.text.split())
    assert victim.slots == forged.slots
    assert evidence is not None
    assert evidence.level == "near"


@pytest.mark.slow
def test_a_document_is_signed_as_if_alone_whatever_words_are_next_to_it_in_the_batch(table: Table) -> None:
    word = another_word_for("consideration")
    victim = Document("victim", f"{VICTIM.text} consideration {VICTIM.text} 1987 12")
    forged = Document("forged", f"{FORGED.text} {word} {FORGED.text} 7")
    long = words_of_one_hash(5)
    same_start = [Document("a", f"{long[0]} {VICTIM.text}"), Document("b", f"{long[1]} {VICTIM.text}")]
    for documents in ([forged, victim, forged], same_start, same_start[::-1]):
        together = sign_batch(documents, table)
        assert together == [sign_batch([each], table)[0] for each in documents]
        assert together == [sign_one(each, table) for each in documents]


@pytest.mark.slow
@pytest.mark.parametrize("doublings", [6, 9])
def test_a_document_of_nothing_but_words_of_one_hash_is_signed(doublings: int, table: Table) -> None:
    words = words_of_one_hash(doublings)
    assert len({wh1(word) for word in words}) == 1
    for signatures in sign_batch([Document("a", " ".join(words) + "\f" + " ".join(words[::-1]))] * 2, table):
        assert (signatures.length, signatures.shingles) == (2 * len(words), 1)
    assert sign_one(Document("a", " ".join(words)), table).length == len(words)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["indent", "collapse"])
def test_a_forged_text_that_ranks_first_takes_nothing_out_of_the_list_and_a_trusted_source_leads(
    index: Engine, mode: str
) -> None:
    options = {"dedupe": mode, "dedupe_keep": "source:court"}
    answer = search_index(index, parse_query("verdict"), parse_request(options), 1, 50)
    ids = [hit["_id"] for hit in answer["hits"]["hits"]]
    inner = [hit["inner_hits"]["duplicates"]["hits"]["hits"] for hit in answer["hits"]["hits"] if "inner_hits" in hit]
    duplicate_ids = [hit["_id"] for duplicates in inner for hit in duplicates]
    assert sorted(ids + duplicate_ids) == sorted(each.id for each in (VICTIM, FORGED, *OTHERS))
    assert ids[0] == "victim"
    assert (ids[1] if mode == "indent" else duplicate_ids[0]) == "forged"
    account = answer["dedupe"]
    assert account["documents"]["in_window"] == account["groups"]["in_window"] + account["duplicates"]
    plainly = search_index(index, parse_query("verdict"), parse_request(options | {"dedupe_keep": "rank"}), 1, 50)
    assert plainly["hits"]["hits"][0]["_id"] == "forged"
