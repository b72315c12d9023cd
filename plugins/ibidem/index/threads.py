"""Threads of the mails of an index, as `ibidem groups --threads` counts them.

Mails are read whole, since what they quote is looked at; of each only hashes of its words are kept.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ibidem.index.documents import stored_documents
from ibidem_dedupe.threads.containment import Alteration
from ibidem_dedupe.threads.forest import Forest, ThreadedMail
from ibidem_dedupe.threads.parents import Parents
from ibidem_dedupe.threads.thread_mail import thread_mails
from ibidem_engines.engine import Engine

MAX_LISTED = 10


@dataclass(frozen=True, slots=True)
class IndexThreads:
    """The threads of the mails of an index."""

    rows: Sequence[ThreadedMail]  # each mail in its thread, thread by thread
    # Each answer that alters what it quotes: id of the mail that is quoted, its own, and where.
    altered: Sequence[tuple[str, str, Sequence[Alteration]]]

    def as_json(self) -> dict[str, object]:
        """Return the report as `ibidem groups --threads --json` prints it."""
        sizes = Counter(row.thread for row in self.rows)
        reasons = Counter(row.by for row in self.rows if row.by is not None)
        largest = sorted(sizes.items(), key=lambda each: (-each[1], each[0]))[:MAX_LISTED]
        inclusive = sum(row.inclusive for row in self.rows)
        return {
            "mails": len(self.rows),
            "threads": len(sizes),
            "inclusive": inclusive,
            "contained": len(self.rows) - inclusive,
            "roots": sum(row.parent is None for row in self.rows),
            "by": dict(sorted(reasons.items())),
            "altered": [
                {"id": answer, "quotes": mail, "words": [list(change.words) for change in changes]}
                for mail, answer, changes in self.altered
            ],
            "sizes": {str(size): count for size, count in sorted(Counter(sizes.values()).items())},
            "largest": [{"thread": thread, "size": size} for thread, size in largest if size > 1],
        }


def index_threads(engine: Engine, progress: Callable[[int], None] = lambda _: None) -> IndexThreads:
    """Find the threads of all mails of an index."""
    forest = Forest.grow(Parents.find(thread_mails(stored_documents(engine, progress))))
    return IndexThreads(list(forest.rows()), list(forest.altered()))
