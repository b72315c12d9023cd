"""The network to the engine and to the broker is cut, hung and slowed while documents pass: none is lost."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.environment import Setting, Victim
from faults.round import Round, play, warm_up
from servers.network import Network, Trouble, network

SEED = 1987
DOCUMENTS = 24
AWAY = 2.5  # seconds for which the network is in trouble

BROKERS = [pytest.param(name, marks=pytest.mark.server(name, "opensearch"), id=name) for name in ("rabbitmq", "redis")]


@pytest.fixture(params=BROKERS)
def broker(request: pytest.FixtureRequest) -> Iterator[tuple[Network, str]]:
    with network(request.getfixturevalue(request.param)) as server:
        yield server


@pytest.mark.timeout(600)
def test_a_network_in_trouble_loses_no_document(broker: tuple[Network, str], opensearch: str, tmp_path: Path) -> None:
    rng = random.Random(SEED)  # noqa: S311 - a lot that can be drawn again
    to_broker, address = broker
    with network(opensearch) as (to_engine, engine):
        troubles: list[tuple[Victim, Trouble]] = [
            ("network to the broker", Trouble(to_broker, "cut")),
            ("network to the engine", Trouble(to_engine, "cut")),
            ("network to the broker", Trouble(to_broker, "hung")),
            ("network to the engine", Trouble(to_engine, "hung")),
        ]
        # A client that gives up sooner than the network hangs.
        with Setting(tmp_path, address, f"{engine}/?timeout=2", rng, {}) as setting:
            assert warm_up(setting, DOCUMENTS).wrong == []
            for victim, trouble in troubles:
                setting.breakable = {victim: trouble}
                round_ = Round(victim, rng.random(), AWAY, DOCUMENTS)
                assert play(setting, round_).wrong == [], f"seed {SEED}, {round_}"
