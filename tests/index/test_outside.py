"""What a document repeats that is not in the index."""

import pytest

from ibidem.index.documents import inspect, inspect_outside
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine, Record
from ibidem_ingest.idf.store import Tables


@pytest.mark.slow
def test_a_document_from_outside_has_the_duplicates_of_its_copy_in_the_index_and_that_copy(
    library: Engine, records: list[Record], tables: Tables
) -> None:
    for record in records[::10]:
        document = library.fetch([(library.index, record.document.id)])[0].document
        own = {each.id for each in inspect(library, document.id, Policy(level="partial")).duplicates}
        if document.text.strip():
            found = inspect_outside(library, document, tables, Policy(level="partial"))
            assert {each.id for each in found.duplicates} == own | {document.id}
            assert found.duplicates[0].level == "identical"
