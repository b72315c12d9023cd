"""Versions of the documents of an index, as `ibidem groups --versions` counts and exports them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ibidem.comparison.word_diff import Piece, word_diff
from ibidem.index.documents import TEXTS_AT_ONCE, stored_documents
from ibidem_dedupe.versions.version_order import Version, versions
from ibidem_dedupe.versions.versioned_document import versioned_documents
from ibidem_dedupe.versions.works import Works
from ibidem_engines.engine import Engine

MAX_LISTED = 10

Difference = tuple[Version, Sequence[Piece]]  # a version, and where it differs from its predecessor


@dataclass(frozen=True, slots=True)
class IndexVersions:
    """The versions of the documents of an index."""

    rows: Sequence[Version]  # each document in its work, work by work, in order; mails are left out

    def as_json(self) -> dict[str, object]:
        """Return the report as `ibidem groups --versions --json` prints it."""
        sizes = Counter(row.work for row in self.rows)
        largest = sorted(sizes.items(), key=lambda each: (-each[1], each[0]))[:MAX_LISTED]
        current = {row.work: row.id for row in self.rows if row.current}
        return {
            "documents": len(self.rows),
            "works": len(sizes),
            "current": len(current),
            "replaced": sum(not row.current for row in self.rows),
            "by": dict(sorted(Counter(row.by for row in self.rows if row.by is not None).items())),
            "sizes": {str(size): count for size, count in sorted(Counter(sizes.values()).items())},
            "largest": [{"work": work, "current": current[work], "size": size} for work, size in largest if size > 1],
        }


def index_versions(engine: Engine, progress: Callable[[int], None] = lambda _: None) -> IndexVersions:
    """Find the works and versions of all documents of an index."""
    return IndexVersions(list(versions(Works.find(versioned_documents(stored_documents(engine, progress))))))


def differences(engine: Engine, rows: Sequence[Version]) -> Iterator[Difference]:
    """Yield each version with its differences from its predecessor; the first version has none.

    An id that several indexes behind an alias hold names none of them, and so no difference.
    """
    for start in range(0, len(rows), TEXTS_AT_ONCE):
        some = rows[start : start + TEXTS_AT_ONCE]
        ids = {row.id for row in some if row.replaces} | {row.replaces for row in some if row.replaces}
        stored = engine.fetch([(engine.index, each) for each in sorted(ids)]) if ids else ()
        times = Counter(each.document.id for each in stored)
        texts = {each.document.id: each.document.text for each in stored if times[each.document.id] == 1}
        for row in some:
            lead, text = texts.get(row.replaces or ""), texts.get(row.id)
            yield row, word_diff(lead, text) if lead is not None and text is not None else ()
