"""A document that ends its workers is set aside on every broker, and its batch's others go on."""

import sys
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from faults.table import small_table
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.document import Document
from ibidem_workers import tasks
from ibidem_workers.executors import Supervisor
from ibidem_workers.ingest import ingest_documents, summary
from servers.kinds import BROKERS

# A worker that one document ends, as a fault in a library would.
ENDED_BY_POISON = """
import os, sys
from ibidem_workers import batches, worker

sign = batches.sign_and_pack

def ends_here(documents, *others):
    if any("poison" in document.text for document in documents):
        os._exit(139)
    return sign(documents, *others)

batches.sign_and_pack = ends_here
sys.exit(worker.main(sys.argv[1]))
"""


@pytest.fixture(params=BROKERS)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    return Settings(
        engine=f"sqlite:////{tmp_path}/index.sqlite",
        broker=request.getfixturevalue(request.param),
        index=f"poison-{uuid4().hex}",
        tables=small_table(tmp_path),
        concurrency=1,
        lease=2,
    )


@pytest.mark.slow
def test_a_document_that_ends_its_workers_too_often_is_a_dead_letter_and_no_other_of_its_batch_is(
    settings: Settings,
) -> None:
    good = [Document(f"good-{number}", f"form a more perfect union {number}") for number in range(5)]
    source = [*good, Document("bad", "poison"), Document("last", "the last words")]
    with closing(open_engine(settings.engine, settings.index)) as engine:
        engine.create()
        with Supervisor(settings, [sys.executable, "-c", ENDED_BY_POISON]):
            run = ingest_documents(source, settings)
        counts = summary(engine, run)
        (letter,) = tasks.letters(engine)
    assert (counts["read"], counts["indexed"], counts["refused"], counts["pending"]) == (7, 6, 1, 0)
    assert (letter.refusal.id, letter.record["text"]) == ("bad", "poison")
    assert f"crashed its worker {settings.tries} times" in letter.refusal.why
