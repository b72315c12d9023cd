"""A record that one process writes again and again is as it was written last, whatever the engine carries out late."""

from typing import Any
from unittest.mock import patch

import pytest

from ibidem_core.errors import Unavailable
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import ATTEMPTS, OwnRecord

KEY = "run/a"


def test_each_write_stands_in_place_of_the_last(engine: Engine) -> None:
    record = OwnRecord(engine, "runs", KEY)
    for at in (1, 2, 1):
        record.write({"at": at})
        assert engine.get_record("runs", KEY) == {"at": at}


def test_another_process_goes_on_with_the_record_that_is_there_and_makes_one_that_was_removed_again(
    engine: Engine,
) -> None:
    for at in (1, 2):
        record = OwnRecord(engine, "runs", KEY)
        record.write({"at": at})
    assert engine.get_record("runs", KEY) == {"at": 2}
    engine.delete_records("runs", [KEY])
    record.write({"at": 3})
    assert engine.get_record("runs", KEY) == {"at": 3}


def test_a_request_that_is_carried_out_late_undoes_nothing(engine: Engine) -> None:
    late: list[Any] = []
    replace = type(engine).replace_record

    def lost(*request: Any) -> None:
        late.append(request)
        raise Unavailable("it did not answer in time", "")

    record = OwnRecord(engine, "runs", KEY)
    record.write({"at": 1})
    with patch.object(type(engine), "replace_record", lost), pytest.raises(Unavailable):
        record.write({"at": 2})
    record.write({"at": 2})
    record.write({"at": 3})
    assert replace(*late[0]) is None
    assert engine.get_record("runs", KEY) == {"at": 3}


def test_a_request_that_was_carried_out_though_it_did_not_answer_is_in_the_way_of_none(engine: Engine) -> None:
    replace = type(engine).replace_record

    def unanswered(*request: Any) -> None:
        replace(*request)
        raise Unavailable("it did not answer in time", "")

    record = OwnRecord(engine, "runs", KEY)
    with patch.object(type(engine), "replace_record", unanswered), pytest.raises(Unavailable):
        record.write({"at": 1})
    record.write({"at": 2})
    assert engine.get_record("runs", KEY) == {"at": 2}


def test_a_record_that_others_write_all_the_time_is_given_up(engine: Engine) -> None:
    requests: list[Any] = []
    with (
        patch.object(type(engine), "replace_record", lambda *request: requests.append(request)),
        pytest.raises(Unavailable, match="constantly changed by others"),
    ):
        OwnRecord(engine, "runs", KEY).write({"at": 1})
    assert len(requests) == ATTEMPTS
