"""What readers said of pairs, as far as groups follow it; a word about a text that has changed since is passed over."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ibidem_engines.engine import Engine
from ibidem_ingest.pairs.decision import Policy, decide
from ibidem_ingest.signatures.lookup_keys import content_key
from ibidem_ingest.signatures.packed import Packed
from ibidem_workers.groups.portion import Judge, Name, Row


@dataclass(frozen=True, slots=True)
class Override:
    """What a reader said of a pair.

    Args:
        a: One document.
        b: The other.
        verdict: `same` or `not`.
        contents: Content hashes of both when it was said; empty where none was noted.
    """

    a: Name
    b: Name
    verdict: str
    contents: tuple[str, str]

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> "Override":
        """Read a record of the ledger."""
        (index_a, a), (index_b, b) = entry["a"], entry["b"]
        contents = str(entry.get("content_a", "")), str(entry.get("content_b", ""))
        return cls((index_a, a), (index_b, b), str(entry["verdict"]), contents)

    def holds(self, row: Row, other: Row) -> bool:
        """Return whether it is about these two, and neither text has changed since."""
        contents = dict(zip((self.a, self.b), self.contents, strict=True))
        return all(each.packed is not None and said_of(each.packed, contents[each.name]) for each in (row, other))


@dataclass(frozen=True, slots=True)
class Overrides:
    """All that was said.

    Args:
        by_pair: What was said of a pair.
    """

    by_pair: Mapping[frozenset[Name], Override]

    @classmethod
    def of(cls, engine: Engine) -> "Overrides":
        """Read what is kept next to an index."""
        read = [Override.read(entry) for _, entry in engine.get_records("overrides")]
        return cls({frozenset((each.a, each.b)): each for each in read})

    @property
    def names(self) -> frozenset[Name]:
        """The documents about which something was said."""
        return frozenset(name for pair in self.by_pair for name in pair)

    def verdict(self, row: Row, other: Row) -> str:
        """Return what holds for a pair; empty for nothing."""
        said = self.by_pair.get(frozenset((row.name, other.name)))
        return said.verdict if said and said.holds(row, other) else ""

    def partners(self, row: Row) -> set[Name]:
        """Return the documents that were declared the same as one."""
        return {
            name
            for pair, said in self.by_pair.items()
            if row.name in pair and said.verdict == "same"
            for name in pair - {row.name}
        }

    def judge(self, policy: Policy) -> Judge:
        """Decide on pairs by signatures, where no word speaks against it, and by words where no signature tells."""

        def level(row: Row, lead: Row) -> str:
            verdict = self.verdict(row, lead) if self.by_pair else ""
            if verdict == "not":
                return ""
            if row.packed is None or lead.packed is None:
                return ""
            evidence = decide(row.packed, lead.packed, policy)
            return evidence.level if evidence else policy.level if verdict == "same" else ""

        return level


def said_of(packed: Packed, content: str) -> bool:
    """Return whether a text is the one that a reader saw; a hash that is missing or of another scheme says nothing."""
    return not content.startswith(f"ch{packed.scheme}:") or content == content_key(packed)


def none_said(words: Iterable[Override] = ()) -> Overrides:
    """Return words that need not be read."""
    return Overrides({frozenset((each.a, each.b)): each for each in words})
