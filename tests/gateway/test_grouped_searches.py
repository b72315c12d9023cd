"""Grouped searches in the engine's own language."""

from ibidem.grouped_search.dsl.backend import NO_LAYOUT
from ibidem_core.settings import Settings
from ibidem_gateway.dependencies import CALLERS, INDEXES, CallerCache
from ibidem_gateway.upstream import Caller, Engines

ADA, BOB = (Caller((("authorization", f"Basic {name}"),)) for name in ("ada", "bob"))


def test_what_one_caller_may_know_of_an_index_is_not_told_to_another() -> None:
    remembered = CallerCache()
    remembered.get(ADA).layouts.put("news", NO_LAYOUT)
    assert remembered.get(ADA).layouts.get("news") is NO_LAYOUT
    assert not len(remembered.get(BOB).layouts)


def test_neither_callers_nor_names_of_indexes_are_remembered_without_end() -> None:
    remembered = CallerCache()
    first = remembered.get(ADA)
    for number in range(INDEXES + 1):
        first.layouts.put(str(number), NO_LAYOUT)
    assert not len(remembered.get(ADA).layouts)
    entry = remembered.get(ADA)
    for number in range(CALLERS):
        remembered.get(Caller((("authorization", str(number)),)))
    assert remembered.get(ADA) is not entry


def test_two_callers_never_share_an_engine_and_one_keeps_his() -> None:
    engines = Engines(Settings(engine="opensearch+http://clerk:pw@127.0.0.1:9"))
    assert engines.get(ADA) is engines.get(ADA)
    assert engines.get(ADA) is not engines.get(BOB)
    engines.close()
