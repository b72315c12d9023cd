"""The engines of callers."""

from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_gateway.upstream import MAX_CALLERS, Caller, Engines

ADA, BOB = (Caller((("authorization", f"Basic {name}"),)) for name in ("ada", "bob"))


@pytest.fixture
def engines() -> Engines:
    return Engines(Settings(engine="opensearch+http://clerk:pw@127.0.0.1:9"))


def test_two_callers_never_share_an_engine_and_one_keeps_his(engines: Engines) -> None:
    assert engines.get(ADA) is engines.get(ADA)
    assert engines.get(ADA) is not engines.get(BOB)
    engines.close()


def test_those_who_come_no_more_are_let_go(engines: Engines) -> None:
    first = engines.get(ADA)
    for number in range(MAX_CALLERS):
        engines.get(Caller((("authorization", f"Basic {number}"),)))
    assert engines.get(ADA) is not first
    engines.close()


def test_a_file_is_the_same_for_all(tmp_path: Path) -> None:
    engines = Engines(Settings(engine=f"sqlite:///{tmp_path}/index.sqlite"))
    assert engines.get(ADA) is engines.get(BOB)
    engines.close()
