"""The threads of the mails of an index, counted."""

from pathlib import Path

from ibidem_engines.connect import open_engine
from ibidem_engines.signing import records
from ibidem_ingest.document import Document
from ibidem_mail.command import index_threads
from support.general_tables import general_tables

QUESTION = "Is the roof of the barn tight, or does the rain come in where the slates were taken off in spring?"
ANSWER = f"It is tight since the slaters came on Monday.\n\nAnn wrote:\n> {QUESTION}\n"


def test_each_mail_counts_once_and_other_documents_do_not(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "mail")
    engine.create()
    heads = {"message-id": "<1@x>"}, {"message-id": "<2@x>", "in-reply-to": "<1@x>"}
    mails = [
        Document(str(at), text, meta=meta)
        for at, (text, meta) in enumerate(zip((QUESTION, ANSWER), heads, strict=True))
    ]
    engine.write(list(records([*mails, Document("note", QUESTION)], general_tables())))
    engine.refresh()
    seen: list[int] = []
    report = index_threads(engine, seen.append).as_json()
    assert (report["mails"], report["threads"], report["roots"], report["by"]) == (2, 1, 1, {"headers": 1})
    assert (report["inclusive"], report["contained"]) == (1, 1)
    assert seen == [3]
