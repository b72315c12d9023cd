"""What is signed of a mail: what its author wrote."""

from pathlib import Path

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.mail.parts import signed_part
from ibidem_ingest.signatures.sign import sign

QUOTED = "\n> ".join(
    ["On 3 May 2004, Ann wrote:", *(f"the roof of house {number} lets in the rain" for number in range(40))]
)


@pytest.mark.slow
def test_two_answers_that_quote_one_mail_are_signed_by_their_own_words(tmp_path: Path) -> None:
    meta = {"message-id": "<1@example.org>"}
    answers = [
        Document("a", f"I shall see to it.\n\n{QUOTED}", meta=meta),
        Document("b", f"Not ours.\n\n{QUOTED}", meta=meta),
    ]
    first, second = sign(answers, Tables(tmp_path))
    assert (first.length, second.length) == (5, 2)
    assert first.content != second.content


def test_a_document_that_is_no_mail_is_signed_whole() -> None:
    document = Document("a", f"I shall see to it.\n\n{QUOTED}")
    assert signed_part(document) is document
