"""How large a message may be: as long as the largest document needs, and unpacked no further than that."""

import bz2
import lzma
import subprocess
import sys
import zlib

import orjson
import pytest
from kombu.utils import json

from ibidem_ingest.document import Document
from ibidem_workers.message_size import MOST_STRUCTURE, compress, most_of_message, most_of_record, too_dense, unpacked
from ibidem_workers.settings import Settings

DECODES = """
import sys
from kombu import compression
from ibidem_workers.message_size import bound
bound(1_000)
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
    assert unpacked(packed, len(data)) == data
    for wrong, most in ((packed, len(data) - 1), (packed[:-1], 10_000), (packed + b"x", 10_000), (packed * 2, 10_000)):
        with pytest.raises(ValueError, match=r"unpacks into more|cut off"):
            unpacked(wrong, most)


@pytest.mark.parametrize(
    ("name", "packed", "said"),
    [
        ("zstd", compress(b"x" * 999), "999"),
        ("application/zstd", compress(b"x" * 1_001), "it unpacks into more than 1,000 bytes"),
        ("application/x-gzip", zlib.compress(b"x"), "no submitter packs messages in this way"),
        ("application/x-bz2", bz2.compress(b"x"), "no submitter packs messages in this way"),
        ("lzma", lzma.compress(b"x"), "no submitter packs messages in this way"),
    ],
)
def test_a_worker_unpacks_what_submitters_pack_up_to_a_size_and_nothing_else(
    name: str, packed: bytes, said: str
) -> None:
    command = [sys.executable, "-c", DECODES, name]
    ended = subprocess.run(command, input=packed, capture_output=True, timeout=60, check=True)
    assert ended.stdout.decode().strip() == said


def test_what_stands_in_strings_is_not_dense() -> None:
    assert too_dense(b"[]," * (MOST_STRUCTURE // 3 + 1))
    assert not too_dense(orjson.dumps(["[]," * (MOST_STRUCTURE // 3 + 1), '"\\']))
