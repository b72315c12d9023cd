"""A task message is as long as the largest document needs and as a submitter makes it; no other is taken."""

import bz2
import lzma
import subprocess
import sys
import zlib
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import orjson
import pytest
from celery import Celery
from hypothesis import given
from hypothesis import strategies as st
from kombu.message import Message
from kombu.utils import json

from ibidem_core.settings import Settings
from ibidem_ingest.document import Document
from ibidem_workers.batches import (
    COMPRESSION,
    MAX_STRUCTURE,
    REDELIVERY,
    SerializedDocument,
    check,
    compress,
    cut,
    decompress,
    most_of_message,
    most_of_record,
    too_dense,
)
from ibidem_workers.celery_app import TASK
from ibidem_workers.worker import FOREIGN_ERRORS

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
    body = json.dumps([["20260101-000000-aaaa", 0, [record]], {}, {}])
    assert len(body) <= most_of_message(settings)
    assert len(orjson.dumps(body)) <= 2 * len(body) + 2


def test_what_is_packed_comes_out_whole_or_not_at_all() -> None:
    data = b"We the People" * 100
    packed = compress(data)
    assert decompress(packed, len(data)) == data
    for wrong, most in ((packed, len(data) - 1), (packed[:-1], 10_000), (packed + b"x", 10_000), (packed * 2, 10_000)):
        with pytest.raises(ValueError, match=r"decompresses to more|cut off"):
            decompress(wrong, most)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "packed", "reason"),
    [
        ("zstd", compress(b"x" * 999), "999"),
        ("application/zstd", compress(b"x" * 1_001), "it decompresses to more than 1,000 bytes"),
        ("application/x-gzip", zlib.compress(b"x"), "no submitter compresses messages in this way"),
        ("application/x-bz2", bz2.compress(b"x"), "no submitter compresses messages in this way"),
        ("lzma", lzma.compress(b"x"), "no submitter compresses messages in this way"),
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
    assert too_dense(b"[]," * (MAX_STRUCTURE // 3 + 1))
    assert not too_dense(orjson.dumps(["[]," * (MAX_STRUCTURE // 3 + 1), '"\\']))


MAX_BYTES = 1 << 20
RUN = "20260101-000000-aaaa"
RECORDS = [{"id": "strange", "text": "x"}]
EMBEDDED = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
ANOTHER_TASK = [{"task": TASK, "args": ["a"], "kwargs": {}}]

# Headers that are refused though the body is right.
HEADERS: Sequence[dict[str, Any]] = (
    {"task": [TASK]},
    {"id": ["a"]},
    {"eta": "2999-01-01T00:00:00+00:00"},
    {"eta": "tomorrow"},
    {"expires": "2001-01-01T00:00:00+00:00"},
    {"expires": [1]},
    {"timelimit": [1, 1]},
    {"timelimit": "soon"},
    {"retries": 3},
    {"shadow": "another"},
    {"group": "a"},
    {"chain": ANOTHER_TASK},
    {"errbacks": ANOTHER_TASK},
    {"stamps": {"a": 1}},
    {"anything": "else"},
    {"compression": "application/x-bz2"},
    {"compression": "zlib"},
    {"compression": "os.system"},
    {REDELIVERY: 2},
    {REDELIVERY: "often"},
    {"redelivered": "often"},
)


def body(*arguments: object, **embedded: object) -> str:
    """Write arguments as Celery's messages hold them."""
    return orjson.dumps([arguments, {}, EMBEDDED | embedded]).decode()


GOOD = body(RUN, 0, RECORDS)
STRANGE_RUNS = (None, 1, "", "run", "a/b", "\u00e4", "a" * 101, "a\nb", ["a"], {"run": 1})

# Bodies that are refused though the headers are right, and why.
BODIES: Sequence[tuple[str, str]] = (
    *((body(run, 0, RECORDS), "does not name its run") for run in STRANGE_RUNS),
    (GOOD.replace(RUN, "\\ud800"), "does not name its run"),
    *((body(RUN, number, RECORDS), "not have a number") for number in ("no number", -1, 1.5, True, 10**15)),
    *((body(RUN, 0, records), "no documents") for records in ("no list", ["no record"])),
    (body(RUN, 0, RECORDS, chain=ANOTHER_TASK), "arguments that its task does not take"),
    (body(RUN, 0, RECORDS, errbacks=ANOTHER_TASK), "arguments that its task does not take"),
    (GOOD.replace("{}", '{"part": 7}', 1), "arguments that its task does not take"),
    ('{"task": "os.system", "id": "a", "args": ["true"]}', "arguments that its task does not take"),
    (body(), "3 required positional arguments"),
    (body(RUN, 0, RECORDS, "/etc/passwd"), "takes 3 positional arguments"),
    ("[]", "unpack"),
    ("5", "unpack"),
    ("not JSON", "Expecting value"),
    ("[" * 100_000 + "]" * 100_000, "recursion"),
)


def headers_with(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the headers that a submitter's messages have, with some changes."""
    headers: dict[str, Any] = Celery("any", set_as_current=False).amqp.as_task_v2(uuid4().hex, TASK).headers
    return headers | changes


def message(content: str, headers: Mapping[str, Any]) -> Message:
    """Make a message as a submitter does, with some changes."""
    return Message(
        body=content,
        content_type="application/json",
        content_encoding="utf-8",
        accept={"application/json"},
        headers=headers_with(headers),
    )


@pytest.mark.parametrize(
    "headers",
    [
        *({}, {REDELIVERY: True}, {"x-delivery-count": 7}, {"redelivered": True}, {"ignore_result": True}),
        {"compression": COMPRESSION},
    ],
)
@pytest.mark.parametrize("arguments", [(RUN, 0, []), (RUN, 3, [{"id": "a"}])])
def test_a_submitter_s_message_passes(headers: dict[str, Any], arguments: tuple[object, ...]) -> None:
    check(message(body(*arguments), headers), MAX_BYTES)


@pytest.mark.parametrize("headers", HEADERS, ids=str)
def test_no_header_asks_for_anything(headers: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="header"):
        check(message(GOOD, headers), MAX_BYTES)


@pytest.mark.parametrize(("content", "reason"), BODIES, ids=range(len(BODIES)))
def test_a_message_names_a_run_of_its_own_a_number_that_keys_can_show_and_its_task_alone(
    content: str, reason: str
) -> None:
    with pytest.raises(FOREIGN_ERRORS, match=reason):
        check(message(content, {}), MAX_BYTES)


def test_a_message_is_no_larger_than_the_largest_of_a_submitter_s() -> None:
    check(message(body(RUN, 0, [{"text": "x" * 900}]), {}), 1_200)
    with pytest.raises(ValueError, match="at most 1,200"):
        check(message(body(RUN, 0, [{"text": "x" * 2_000}]), {}), 1_200)


def test_a_message_does_not_hold_lists_that_take_many_times_its_size() -> None:
    content = "[" + "[]," * (MAX_STRUCTURE // 3 + 10) + "[]]"
    with pytest.raises(ValueError, match="lists or numbers"):
        check(message(content, {}), MAX_STRUCTURE * 2)


SIZES = st.lists(st.integers(0, 300), max_size=60)


def serialized(sizes: list[int]) -> list[SerializedDocument]:
    return [SerializedDocument(str(id_), size, orjson.dumps({"id": str(id_)})) for id_, size in enumerate(sizes)]


@given(SIZES, st.integers(50, 400))
def test_every_document_travels_once_and_in_order_in_batches_of_a_size(sizes: list[int], characters: int) -> None:
    batches = list(cut(serialized(sizes), characters))
    records = [orjson.loads(each.json) for batch in batches for each in batch.documents]
    assert [record["id"] for record in records] == [str(at) for at in range(len(sizes))]
    assert [batch.number for batch in batches] == list(range(len(batches)))
    for batch in batches:
        assert len(batch.documents) == 1 or sum(each.characters for each in batch.documents) <= characters


def test_a_batch_is_read_no_further_than_it_needs() -> None:
    endless = (SerializedDocument("a", 60, b"{}") for _ in iter(int, 1))
    assert len(next(cut(endless, 100)).documents) == 1
