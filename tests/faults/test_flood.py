"""A search engine whose disk is full, and one that is away for long: documents wait, and no letter is dead."""

import random
import time
from pathlib import Path

import pytest

from faults.environment import Own, of_our_own, wait_for
from faults.round import PATIENCE, find_faults, warm_up
from ibidem_workers import tasks
from ibidem_workers.ingest import summary
from servers.command_line import DONE
from servers.flood import Flood

DOCUMENTS = 24
# Seconds in which a worker that waits for one second hands a message back more often than RabbitMQ would allow.
AWAY = 15.0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_documents_wait_until_a_full_disk_has_room_again(resources: Own, tmp_path: Path) -> None:
    rng = random.Random(1987)  # noqa: S311 - a lot that can be drawn again
    with of_our_own(resources, tmp_path, "none", "opensearch", rng) as setting:
        assert warm_up(setting, DOCUMENTS).wrong == []
        path = tmp_path / "submitted.jsonl"
        lines = setting.shelf.write(path, DOCUMENTS)
        disk = Flood(setting.settings.engine, setting.settings.index)
        disk.kill()
        command = setting.ingest(path)
        assert wait_for(lambda: "flood stage" in setting.way.log.read_text(), 60), "nobody said why it waits"
        disk.start_again()
        assert command.process.wait(PATIENCE) in DONE
        assert find_faults(setting, command.account(), lines) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_engine_that_is_away_for_longer_than_a_broker_hands_a_message_out_costs_no_document(
    resources: Own, tmp_path: Path
) -> None:
    rng = random.Random(1987)  # noqa: S311 - no secret
    setting = of_our_own(resources, tmp_path, "rabbitmq", "opensearch", rng)
    setting.way.environment |= {"IBIDEM_PATIENCE": "1", "IBIDEM_TRIES": "1"}
    with setting:
        assert warm_up(setting, 5).wrong == []
        path = tmp_path / "submitted.jsonl"
        setting.shelf.write(path, DOCUMENTS)
        run = setting.way.json("ingest", str(path), "--no-wait", exit_code=3)["run"]
        server = resources.server("opensearch")
        server.kill()
        time.sleep(AWAY)
        server.start_again()
        assert setting.settle(PATIENCE) == []
        assert setting.shelf.wrong(setting.engine) == []
        assert tasks.letters(setting.engine) == []
        assert summary(setting.engine, run)["read"] == DOCUMENTS + 1
