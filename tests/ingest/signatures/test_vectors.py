"""The published test vectors are what the code gives."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures import feature_set, minhash, noise, numbers, text_profile
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.sign import sign_batch, sign_one
from ibidem_ingest.text.layout import remove_layout
from ibidem_ingest.text.tokens import tokens, tokens_and_signs
from ibidem_ingest.text.word_hash import shingles, texts, wh1

PAGE = (Path(__file__).parents[3] / "docs" / "signatures.md").read_text().partition("\n## Test vectors\n")[2]
SECTIONS = dict(re.findall(r"^### [^\n]*\(`(\w+)`\)\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL))
VECTORS = [
    (scheme, json.loads(line))
    for scheme, section in SECTIONS.items()
    for line in re.findall(r"^\{.*\}$", section, re.MULTILINE)
]
COUNTS = {term: float(count) for term, count in re.findall(r"`(\w+)`\s+is\s+in\s+(\d+)", SECTIONS["fp1"])}
TABLE = Table.build("en", 100, COUNTS, "test vectors")


def packed(text: str) -> str:
    document = Document("us-const", text, date="1787-09-17", source="Philadelphia", meta={"docket": "1"})
    assert sign_batch([document], TABLE) == [sign_one(document, TABLE)]
    return pack(document, sign_one(document, TABLE), ["docket"]).hex()


def hashed(text: str, title: str = "", meta: dict[str, object] | None = None) -> str:
    return sign_one(Document("a", text, title=title, meta=meta or {}), TABLE).content


MAKERS: dict[str, Callable[..., object]] = {
    "tok3": tokens,
    "layout": lambda text: list(tokens_and_signs(remove_layout(text))),
    "wh1": lambda text: f"{wh1(text):016x}",
    "sh1": lambda text: [f"{each:016x}" for each in shingles([wh1(token) for token in tokens(text)])],
    "mh1": lambda text, k: "".join(f"{slot:04x}" for slot in minhash.sign(tokens(text), k)),
    "bands": lambda text: texts("b", minhash.band_values(np.array([minhash.sign(tokens(text))])))[:3],
    "ch4": hashed,
    "numbers": lambda text: [numbers.sign(tokens(text)).distinct, list(numbers.sign(tokens(text)).sketch)],
    "tp1": lambda text: text_profile.sign(tokens(text)),
    "fp1": lambda text: feature_set.fingerprint(feature_set.candidates(tokens(text), TABLE)[0]),
    "termvector": lambda text: list(feature_set.sign(*feature_set.candidates(tokens(text), TABLE), TABLE.size)),
    "noise": lambda text: noise.sign(tokens(text), TABLE).hex(),
    "packed": packed,
}


@pytest.mark.parametrize(("scheme", "vector"), VECTORS)
def test_a_published_vector_is_still_true(scheme: str, vector: dict[str, object]) -> None:
    vector = dict(vector)
    expected = vector.pop("is")
    text = vector.pop("of")
    assert MAKERS[scheme](text, **vector) == expected


def test_every_scheme_has_vectors() -> None:
    assert {scheme for scheme, _ in VECTORS} == set(MAKERS)
    assert len(COUNTS) == 22
