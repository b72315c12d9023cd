"""History of a cluster in trouble: what was acknowledged is never asked for twice, so that a loss shows."""

import json
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from traceback import extract_tb

from faults.environment import wait_for
from faults.submissions import Shelf
from ibidem.index.deletion import delete
from ibidem.index.documents import add_override
from ibidem_core.errors import EngineError
from ibidem_dedupe.overrides import VERDICTS, Verdict
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import load_overrides
from ibidem_ingest.errors import MissingDocument
from ibidem_workers.groups.follower import SettlingLease, is_settled, regroup, settle_all
from workers.groups.test_service import check, groups, plain

VOCABULARY = [
    f"{first}{second}" for first in ("bar", "kel", "mon", "tir", "vas") for second in ("dim", "gon", "lup", "ret")
]
EDITED = 0.6  # share of texts that are another's with one word changed, so that there are groups to be settled

Pair = tuple[str, str]


class History(Shelf):
    """Documents that stand, documents that are deleted, and decisions that hold."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng, 60)
        self.deleted: dict[str, tuple[int, str]] = {}
        self.decisions: dict[Pair, Verdict] = {}
        self._in_hand: set[str] = set()

    def write(self, path: Path, count: int) -> int:
        """Write a file of so many documents and one that nobody can take; returns the lines."""
        before = dict(self.standing)
        lines = super().write(path, count)
        self._in_hand = {name for name, value in self.standing.items() if before.get(name) != value}
        return lines

    def finish_file(self) -> None:
        """Take the last file as ingested, so that people may delete its documents."""
        self._in_hand.clear()

    def draw(self, count: int) -> list[str]:
        """Draw documents that nothing was said of and the last file does not hold, unless it is finished."""
        decided = {name for pair in self.decisions for name in pair}
        names = sorted(self.standing.keys() - self._in_hand - decided)
        return self._rng.sample(names, min(count, len(names)))

    def _text(self) -> str:
        if self.standing and self._rng.random() < EDITED:
            words = self._rng.choice(list(self.standing.values()))[1].split()
            words[self._rng.randrange(len(words))] = self._rng.choice(VOCABULARY)
            return " ".join(words)
        return " ".join(f"{word}{self._rng.randrange(40)}" for word in self._rng.choices(VOCABULARY, k=self._length))

    def wrong(self, engine: Engine) -> list[str]:
        """Compare with the index: documents, deletions, decisions, stored groups and counts."""
        unsettled = [] if settle_wholly(engine) else ["groups are not settled, or do not follow all decisions"]
        return [*unsettled, *super().wrong(engine), *self._lost_decisions(engine), *wrong_groups(engine)]

    def deleted_lines(self) -> str:
        """Return the deleted documents as lines of a file."""
        named = ({"id": name, "version": version, "text": text} for name, (version, text) in self.deleted.items())
        return "\n".join(map(json.dumps, named))

    def brought_back(self, engine: Engine) -> list[str]:
        engine.refresh()
        places = [(engine.index, name) for name in self.deleted]
        return [f"{each.document.id} was deleted and is back" for each in engine.fetch(places)]

    def _lost_decisions(self, engine: Engine) -> Iterator[str]:
        words = {frozenset((word.a[1], word.b[1])): word.verdict for word in load_overrides(engine)}
        for pair, verdict in self.decisions.items():
            if words.get(frozenset(pair)) != verdict:
                yield f"{' and '.join(pair)} were decided to be {verdict!r}, and are {words.get(frozenset(pair))!r}"


def settle_wholly(engine: Engine, seconds: float = 120.0) -> bool:
    """Wait until documents are settled, deletions and decisions followed, and no worker is about to write a group."""

    def has_settled() -> bool:
        settle_all(engine)  # returns where another process settles, which may be at a decision
        return is_settled(engine) and not SettlingLease(engine).is_taken()

    return wait_for(has_settled, seconds)


def wrong_groups(engine: Engine) -> Iterator[str]:
    """Compare stored groups with their laws, with one plain pass once all are settled again, and with their counts."""
    try:
        check(engine)
    except (AssertionError, KeyError) as error:  # a group without a lead has none to be looked up
        (*_, place) = extract_tb(error.__traceback__)
        yield f"groups break their laws: {place.line} {str(error)[:300]}"
    expected = plain(engine)  # before all are settled again, which writes each document whose group changes anew
    regroup(engine, everything=True)
    settled = groups(engine)
    yield from (
        f"{name} is in the group of {settled.get(name)} and not of {lead}"
        for name, lead in expected.items()
        if settled.get(name) != lead
    )
    counts = engine.groups().counts()
    if (counts.documents, counts.groups) != (len(expected), len(set(expected.values()))):
        yield f"{counts} are counted, and {len(expected)} documents lead {len(set(expected.values()))} groups"


@dataclass
class Act:
    """Something that a person asks for until it is acknowledged: a deletion or a decision."""

    run: Callable[[], object]  # asks for it once
    note: Callable[[], object]  # notes that it was acknowledged

    def tried(self) -> bool:
        """Ask for it; returns whether it was acknowledged."""
        try:
            self.run()
        except EngineError:
            return False
        self.note()
        return True


@dataclass
class People:
    """A thread that deletes and decides while the cluster is in trouble."""

    acts: list[Act]  # what it asks for, one after the other
    faults: list[str] = field(default_factory=list)  # what it was told that cannot be true
    acknowledged: int = 0  # how much of it was acknowledged while there was trouble
    _stop: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._work, name="people", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Ask once more for what was not acknowledged, now that all is well."""
        self._stop.set()
        self._thread.join()
        for act in self.acts:
            if not self._tried(act):
                self.faults.append("a deletion or decision is refused though all is well")

    def _work(self) -> None:
        remaining: list[Act] = []
        for at, act in enumerate(self.acts):
            if self._stop.wait(0.3):
                remaining += self.acts[at:]
                break
            if self._tried(act):
                self.acknowledged += 1
            else:
                remaining.append(act)
        self.acts = remaining

    def _tried(self, act: Act) -> bool:
        try:
            return act.tried()
        except MissingDocument as error:  # it was acknowledged long before
            self.faults.append(str(error))
            return True


def deletion(history: History, engine: Engine, name: str) -> Act:
    def note() -> None:
        history.deleted[name] = history.standing.pop(name)

    return Act(lambda: delete(engine, [name]), note)


def decision(history: History, engine: Engine, pair: Pair, verdict: Verdict) -> Act:
    """Decide on two documents."""
    return Act(
        lambda: add_override(engine, pair, verdict, author="a reader"),
        lambda: history.decisions.__setitem__(pair, verdict),
    )


def people(history: History, engine: Engine, rng: random.Random, count: int) -> People:
    """Draw deletions and as many decisions."""
    names = history.draw(3 * count)
    third = len(names) // 3
    acts = [deletion(history, engine, name) for name in names[:third]]
    pairs = zip(names[third : 2 * third], names[2 * third : 3 * third], strict=True)
    acts += [decision(history, engine, pair, rng.choice(VERDICTS)) for pair in pairs]
    rng.shuffle(acts)
    return People(acts)
