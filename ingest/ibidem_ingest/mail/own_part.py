"""The part of a document that is signed: for a mail the text of its author, for other documents the whole text.

Two answers that quote the same mail are not near for that alone. The whole text stays stored and searchable.
"""

from dataclasses import replace

from ibidem_ingest.document import Document
from ibidem_ingest.mail.head import is_mail
from ibidem_ingest.mail.parts import own_text


def signed_part(document: Document) -> Document:
    r"""Return a document with the text to sign.

    >>> mail = Document("a", "Today.\n> Is it due?", meta={"message-id": "<1@example.org>"})
    >>> signed_part(mail).text, signed_part(Document("b", "> Is it due?")).text
    ('Today.\n', '> Is it due?')
    """
    if not document.meta or not is_mail(document.meta):
        return document
    own = own_text(document.text)
    return document if len(own) == len(document.text) else replace(document, text=own)
