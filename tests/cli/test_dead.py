"""`ibidem status --dead`: what could not be ingested."""

import pytest

from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import Refusal
from ibidem_workers.dead_letters import DeadLetter, add_dead_letters
from support.command_line import Answer, Run


def test_dead_letters_are_none_at_first_and_named_ones_have_to_be_there(run: Run, answer: Answer) -> None:
    assert answer("status", "--dead") == {"dead": []}
    assert "No failed documents" in run("status", "--dead")[1]
    assert run("status", "--dead", "nosuch")[0] == 2
    assert run("status", "--dead", "--drop")[0] == 2
    assert run("status", "--dead", "--retry", "nosuch")[0] == 2


@pytest.fixture
def buried(run: Run) -> None:
    """One dead letter: a document whose worker ended three times."""
    engine = open_engine("sqlite:///.ibidem/index.sqlite", "ibidem")
    record = {"id": "deed", "text": "A deed of gift.", "title": "A deed"}
    refusal = Refusal("message r/00000000", "deed", "", "it crashed its worker 3 times")
    add_dead_letters(engine, [DeadLetter("r", refusal, 3, 0.0, record)])
    engine.close()


@pytest.mark.usefixtures("buried")
def test_a_dead_letter_is_listed_with_its_reason_and_shown_as_it_came(run: Run, answer: Answer) -> None:
    (letter,) = answer("status", "--dead")["dead"]
    assert (letter["id"], letter["why"], letter["tries"]) == ("deed", "it crashed its worker 3 times", 3)
    assert "it crashed its worker 3 times" in run("status", "--dead")[1]
    assert "A deed of gift." in run("status", "--dead", "deed")[1]
    assert answer("status", "--dead", "deed")["dead"][0]["record"]["title"] == "A deed"


@pytest.mark.slow
@pytest.mark.usefixtures("buried")
def test_a_dead_letter_that_is_tried_again_with_success_is_gone(answer: Answer) -> None:
    assert answer("status", "--dead", "--retry", "deed")["indexed"] == 1
    assert answer("status", "--dead") == {"dead": []}
    assert answer("search", "deed")["hits"]["total"]["value"] == 1


@pytest.mark.usefixtures("buried")
def test_dead_letters_are_dropped_by_id_or_all_at_once_and_never_by_mistake(run: Run, answer: Answer) -> None:
    assert run("status", "--dead", "--drop")[0] == 2
    assert answer("status", "--dead", "--drop", "*") == {"dropped": 1}
    assert answer("status", "--dead") == {"dead": []}
