"""Misread copies in an index: found by look-up and in one stored group, whichever was written first."""

from pathlib import Path

import pytest

from engines.conftest import absent, address, alone, tidy
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ingest.signatures.test_misread import STORY, TABLE, WORDS, read_again
from workers.groups.test_service import Follower, groups, plain, regroup

__all__ = ["absent", "address", "alone", "tidy"]

CLEAN, FIRST, SECOND = STORY, read_again(STORY, 0.05, 1), read_again(STORY, 0.05, 2)
# Runs of characters alone: made-up stories share their rarest words too.
BY_RUNS = Policy(slots=None, terms=None, fingerprint=None)

OTHERS = [[WORDS[at * step % len(WORDS)] for at in range(300)] for step in (7, 11, 13, 17)]


def write(engine: Engine, folder: Path, texts: dict[str, list[str]]) -> None:
    tables = Tables(folder)
    tables.use(TABLE)
    engine.write(list(records([Document(name, " ".join(words)) for name, words in texts.items()], tables)))
    engine.refresh()


@pytest.mark.parametrize("order", [("clean", "first", "second"), ("second", "first", "clean")])
def test_a_story_and_two_misread_copies_are_one_stored_group(
    engine: Engine, tmp_path: Path, order: tuple[str, ...]
) -> None:
    texts = {"clean": CLEAN, "first": FIRST, "second": SECOND}
    others = {f"other {at}": words for at, words in enumerate(OTHERS)}
    regroup(engine, everything=True, policy=BY_RUNS)
    write(engine, tmp_path, others)
    for name in order:
        write(engine, tmp_path, {name: texts[name]})
        Follower(engine).catch_up()
    expected = dict.fromkeys(texts, order[0]) | {name: name for name in others}
    assert groups(engine) == plain(engine, BY_RUNS) == expected
    regroup(engine, everything=True)
    assert groups(engine) == expected
