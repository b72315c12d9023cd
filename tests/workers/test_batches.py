"""How large a message may be: as long as the largest document needs, and unpacked no further than that.

What a submitter's message looks like: those of ours pass, and no header or argument of another kind does.

Cutting documents into batches.

The account of a batch.
"""

import bz2
import lzma
import subprocess
import sys
import zlib
from collections import Counter
from typing import Any

import orjson
import pytest
from celery import Celery
from hypothesis import given
from hypothesis import strategies as st
from kombu.message import Message
from kombu.utils import json

from ibidem_core.errors import DamagedRecord
from ibidem_core.settings import Settings
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_workers.batches import (
    COMPRESSION,
    MOST_DOCUMENTS,
    MOST_STRUCTURE,
    TRIES,
    TRIES_BEFORE,
    Batch,
    BatchResult,
    SerializedDocument,
    check,
    compress,
    cut,
    decompress,
    most_of_message,
    most_of_record,
    serialize,
    too_dense,
)
from ibidem_workers.celery_app import TASK

DECODES = """
import sys
from kombu import compression
from ibidem_workers.batches import restrict_serializers
restrict_serializers(1_000)
try:
    print(len(compression.decompress(sys.stdin.buffer.read(), sys.argv[1])))
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize("character", ["a", "\x01", '"', "\\", "\u00e9", "\u4e2d", "\U0001f600"])
def test_the_longest_text_fits_whatever_its_characters_take(character: str) -> None:
    settings = Settings(max_text=10_000)
    record = Document("a", character * settings.max_text).as_record()
    assert len(orjson.dumps(record)) <= most_of_record(settings)
    body = json.dumps([["20260101-000000-aaaa", 0, [record], None], {}, {}])
    assert len(body) <= most_of_message(settings)
    assert len(orjson.dumps(body)) <= 2 * len(body) + 2


def test_what_is_packed_comes_out_whole_or_not_at_all() -> None:
    data = b"We the People" * 100
    packed = compress(data)
    assert decompress(packed, len(data)) == data
    for wrong, most in ((packed, len(data) - 1), (packed[:-1], 10_000), (packed + b"x", 10_000), (packed * 2, 10_000)):
        with pytest.raises(ValueError, match=r"unpacks into more|cut off"):
            decompress(wrong, most)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "packed", "reason"),
    [
        ("zstd", compress(b"x" * 999), "999"),
        ("application/zstd", compress(b"x" * 1_001), "it unpacks into more than 1,000 bytes"),
        ("application/x-gzip", zlib.compress(b"x"), "no submitter packs messages in this way"),
        ("application/x-bz2", bz2.compress(b"x"), "no submitter packs messages in this way"),
        ("lzma", lzma.compress(b"x"), "no submitter packs messages in this way"),
    ],
)
def test_a_worker_unpacks_what_submitters_pack_up_to_a_size_and_nothing_else(
    name: str, packed: bytes, reason: str
) -> None:
    command = [sys.executable, "-c", DECODES, name]
    process = subprocess.run(command, input=packed, capture_output=True, timeout=60, check=True)
    assert process.stdout.decode().strip() == reason


@pytest.mark.slow
def test_what_is_in_strings_is_not_dense() -> None:
    assert too_dense(b"[]," * (MOST_STRUCTURE // 3 + 1))
    assert not too_dense(orjson.dumps(["[]," * (MOST_STRUCTURE // 3 + 1), '"\\']))


MOST = 1 << 20
RUN = "20260101-000000-aaaa"
EMBEDDED = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}


def message(*arguments: object, headers: dict[str, Any] | None = None, **embedded: object) -> Message:
    """Make a message as a submitter does, with some changes."""
    return Message(
        body=orjson.dumps([arguments, {}, EMBEDDED | embedded]).decode(),
        content_type="application/json",
        content_encoding="utf-8",
        accept={"application/json"},
        headers=Celery("any", set_as_current=False).amqp.as_task_v2("an id", TASK).headers | (headers or {}),
    )


@pytest.mark.parametrize("headers", [{}, {TRIES_BEFORE: 2}, {TRIES: 7, "x-acquired-count": 1}, {"ignore_result": True}])
@pytest.mark.parametrize("arguments", [(RUN, 0, []), (RUN, 3, [{"id": "a"}], None), (RUN, 3, [{}], 7)])
def test_a_submitter_s_message_passes(headers: dict[str, Any], arguments: tuple[object, ...]) -> None:
    check(message(*arguments, headers=headers), MOST)


@pytest.mark.parametrize(
    "headers",
    [
        {"eta": "2099-01-01T00:00:00"},
        {"expires": "2001-01-01T00:00:00"},
        {"timelimit": [1, 1]},
        {"retries": 3},
        {"shadow": "another"},
        {"group": "a"},
        {"chain": [{"task": TASK}]},
        {"errbacks": [{"task": TASK}]},
        {"stamps": {"a": 1}},
        {"anything": "else"},
        {"id": ["a"]},
        {"compression": "application/x-bz2"},
        {TRIES_BEFORE: -1},
        {TRIES_BEFORE: 1 << 40},
        {TRIES_BEFORE: True},
        {TRIES: -5},
    ],
    ids=str,
)
def test_no_header_asks_for_anything(headers: dict[str, Any]) -> None:
    result = message(RUN, 0, [])
    result.headers |= headers
    with pytest.raises(ValueError, match="header"):
        check(result, MOST)


@pytest.mark.parametrize("run", [None, 1, "", "run", "a/b", "\u00e4", "a" * 101, "a\nb", ["a"]])
def test_a_run_has_a_name_that_no_other_record_has(run: object) -> None:
    with pytest.raises(ValueError, match="names no run"):
        check(message(run, 0, []), MOST)


@pytest.mark.parametrize(("number", "part"), [(-1, None), (1.5, None), (True, None), (10**15, None), (0, -1), (0, "x")])
def test_a_batch_has_a_number_that_its_key_can_show(number: object, part: object) -> None:
    with pytest.raises(ValueError, match="no number"):
        check(message(RUN, number, [], part), MOST)


def test_a_message_may_ask_for_its_task_alone() -> None:
    with pytest.raises(ValueError, match="more than its task"):
        check(message(RUN, 0, [], chain=[{"task": TASK}]), MOST)


def test_a_message_is_no_larger_than_the_largest_of_a_submitter_s() -> None:
    check(message(RUN, 0, [{"text": "x" * 900}]), 1_200)
    with pytest.raises(ValueError, match="at most 1,200"):
        check(message(RUN, 0, [{"text": "x" * 2_000}]), 1_200)


def test_a_message_does_not_hold_lists_that_take_many_times_its_size() -> None:
    result = message(RUN, 0, [])
    result.body = "[" + "[]," * (MOST_STRUCTURE // 3 + 10) + "[]]"
    with pytest.raises(ValueError, match="lists or numbers"):
        check(result, MOST_STRUCTURE * 2)


def test_a_submitter_s_message_names_its_compression_as_workers_know_it() -> None:
    check(message(RUN, 0, [], headers=None), MOST)
    result = message(RUN, 0, [])
    result.headers["compression"] = COMPRESSION
    check(result, MOST)


SIZES = st.lists(st.integers(0, 300), max_size=60)


def serialized(sizes: list[int]) -> list[SerializedDocument]:
    return [serialize(Document(str(number), "x" * size), 1, "a") for number, size in enumerate(sizes)]


@given(SIZES, st.integers(50, 400))
def test_every_document_travels_once_and_in_order(sizes: list[int], characters: int) -> None:
    batches = list(cut(serialized(sizes), characters))
    records = [json.loads(orjson.dumps(body)) for batch in batches for body in batch.body]
    assert [record["id"] for record in records] == [str(at) for at in range(len(sizes))]
    assert [batch.number for batch in batches] == list(range(len(batches)))


@given(SIZES, st.integers(50, 400))
def test_a_batch_holds_no_more_than_it_may_unless_it_is_one_document(sizes: list[int], characters: int) -> None:
    for batch in cut(serialized(sizes), characters):
        assert len(batch.documents) == 1 or sum(each.characters for each in batch.documents) <= characters


def test_fields_next_to_the_text_fill_a_batch_too() -> None:
    long = (serialize(Document(str(number), "x", meta={"note": "n" * 300}), 1, "a") for number in range(4))
    assert [len(batch.documents) for batch in cut(long, 100)] == [1, 1, 1, 1]


def test_documents_without_words_fill_a_batch_by_their_number() -> None:
    batches = list(cut((serialize(Document(str(at), ""), 1, "a") for at in range(MOST_DOCUMENTS + 1)), 5_000_000))
    assert [len(batch.documents) for batch in batches] == [MOST_DOCUMENTS, 1]


def test_a_batch_is_read_no_further_than_it_needs() -> None:
    endless = (serialize(Document("a", "x" * 60), 1, "a") for _ in iter(int, 1))
    assert len(next(cut(endless, 100)).documents) == 1


@given(st.integers(1, 9))
def test_a_document_keeps_its_own_version(version: int) -> None:
    named, unnamed = (serialize(Document("a", "x", version=each), 9, "a") for each in (version, None))
    assert [json.loads(each.json)["version"] for each in (named, unnamed)] == [version, 9]


def test_single_documents_keep_the_number_of_their_batch() -> None:
    singles = Batch(3, [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]).singles()
    assert [(each.number, each.part, each.records[0]["id"]) for each in singles] == [(3, 0, "a"), (3, 1, "b")]


NUMBERS = st.integers(0, 1_000)
ACCOUNTS = st.builds(
    BatchResult,
    indexed=NUMBERS,
    unchanged=NUMBERS,
    stale=NUMBERS,
    unsigned=NUMBERS,
    refusals=st.lists(st.builds(Refusal, *[st.text(max_size=5)] * 4), max_size=3),
    at=st.floats(0, 1e9),
    languages=st.dictionaries(st.sampled_from(["en", "de", "fr"]), st.integers(1, 1_000)),
)


@given(ACCOUNTS)
def test_an_account_is_read_as_it_was_noted(account: BatchResult) -> None:
    assert BatchResult.from_json(account.as_json()) == account


@given(ACCOUNTS, ACCOUNTS)
def test_the_documents_of_two_accounts_add_up(result: BatchResult, other: BatchResult) -> None:
    total = result + other
    assert total.documents == result.documents + other.documents
    assert total.at == max(result.at, other.at)
    assert total.languages == Counter(result.languages) + Counter(other.languages)


@pytest.mark.parametrize("damage", [{"indexed": "2"}, {"refusals": [["where"]]}, {"parts": None}])
def test_a_damaged_account_is_named(damage: dict[str, object]) -> None:
    with pytest.raises(DamagedRecord, match="next to the index is damaged"):
        BatchResult.from_json(BatchResult().as_json() | damage)
