"""Keep an index as this version writes it, for the tests of later ones: `python -m upgrade.keep` in the folder `tests`.

It is run once for each schema, before the schema is changed; its files are never made again. OpenSearch is the one
in IBIDEM_TEST_OPENSEARCH.
"""

import json
import os
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

from ibidem_engines.cluster.index import VERSION
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_mappings import load
from ibidem_workers.batches import records
from servers.indices import ask, remove_indices
from support.archives import extract

FOLDER = Path(__file__).parent
FIRST = FOLDER / "schema-3.tar.xz"  # holds the documents and the table that every schema is kept with


def unpacked(archive: Path, folder: Path) -> None:
    """Unpack what was kept of a schema."""
    with tarfile.open(archive) as archive_file:
        extract(archive_file, folder)


def keep(folder: Path, opensearch: str) -> None:
    """Write the index into a server, and keep it next to the documents and the table."""
    documents = [document for document in read([folder / "documents.jsonl"]) if isinstance(document, Document)]
    (folder / "index.sqlite").unlink(missing_ok=True)
    signed_records = list(records(documents, Tables(folder / "tables")))
    layout = json.loads(load(f"cluster.v{VERSION}.json").replace("{schema}", SCHEMA))
    del layout["mappings"]["_source"]  # what it leaves out is to be kept, too
    ask(opensearch, "PUT", f"/keep-{os.getpid()}", layout)
    write(opensearch, f"keep-{os.getpid()}", signed_records)
    hits = ask(opensearch, "GET", f"/keep-{os.getpid()}/_search?size=100")["hits"]["hits"]
    remove_indices(opensearch, f"keep-{os.getpid()}")
    lines = [json.dumps(each) for hit in hits for each in ({"index": {"_id": hit["_id"]}}, hit["_source"])]
    (folder / "bulk.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write(address: str, index: str, signed_records: list[Record]) -> None:
    with closing(open_engine(address, index)) as engine:
        engine.create()
        engine.write(signed_records)
        engine.refresh()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        unpacked(FIRST, Path(folder))
        keep(Path(folder), os.environ["IBIDEM_TEST_OPENSEARCH"])
        with tarfile.open(FOLDER / f"schema-{SCHEMA}.tar.xz", "x:xz") as archive:
            archive.add(folder, arcname=".")


if __name__ == "__main__":
    main()
