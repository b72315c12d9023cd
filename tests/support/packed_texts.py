"""Packed values of texts, as any way of signing gives them."""

from ibidem_ingest.document import Document
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures.packed import Packed, pack, unpack
from ibidem_ingest.signatures.sign import sign_batch, sign_one
from support.some import some


def packed(text: str, title: str = "", table: Table | None = None) -> Packed:
    document = Document("a", text, title=title)
    (signatures,) = sign_batch([document], table)
    assert signatures == sign_one(document, table)
    return some(unpack(pack(document, signatures)))
