"""What a submitter's message looks like: those of ours pass, and no header or argument of another kind does."""

from typing import Any

import orjson
import pytest
from celery import Celery
from kombu.message import Message

from ibidem_workers.celery_app import TASK
from ibidem_workers.message_size import COMPRESSION, MOST_STRUCTURE
from ibidem_workers.task_message import TRIES, TRIES_BEFORE, check

MOST = 1 << 20
RUN = "20260101-000000-aaaa"
EMBEDDED = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}


def message(*arguments: object, headers: dict[str, Any] | None = None, **embedded: object) -> Message:
    """Make a message as a submitter does, but for what is said otherwise."""
    return Message(
        body=orjson.dumps([arguments, {}, EMBEDDED | embedded]).decode(),
        content_type="application/json",
        content_encoding="utf-8",
        accept={"application/json"},
        headers=Celery("any", set_as_current=False).amqp.as_task_v2("an id", TASK).headers | (headers or {}),
    )


@pytest.mark.parametrize("headers", [{}, {TRIES_BEFORE: 2}, {TRIES: 7, "x-acquired-count": 1}, {"ignore_result": True}])
@pytest.mark.parametrize("arguments", [(RUN, 0, []), (RUN, 3, [{"id": "a"}], None), (RUN, 3, [{}], 7)])
def test_a_submitter_s_message_passes(headers: dict[str, Any], arguments: tuple[object, ...]) -> None:
    check(message(*arguments, headers=headers), MOST)


@pytest.mark.parametrize(
    "headers",
    [
        {"eta": "2099-01-01T00:00:00"},
        {"expires": "2001-01-01T00:00:00"},
        {"timelimit": [1, 1]},
        {"retries": 3},
        {"shadow": "another"},
        {"group": "a"},
        {"chain": [{"task": TASK}]},
        {"errbacks": [{"task": TASK}]},
        {"stamps": {"a": 1}},
        {"anything": "else"},
        {"id": ["a"]},
        {"compression": "application/x-bz2"},
        {TRIES_BEFORE: -1},
        {TRIES_BEFORE: 1 << 40},
        {TRIES_BEFORE: True},
        {TRIES: -5},
    ],
    ids=str,
)
def test_no_header_asks_for_anything(headers: dict[str, Any]) -> None:
    one = message(RUN, 0, [])
    one.headers |= headers
    with pytest.raises(ValueError, match="header"):
        check(one, MOST)


@pytest.mark.parametrize("run", [None, 1, "", "run", "a/b", "\u00e4", "a" * 101, "a\nb", ["a"]])
def test_a_run_has_a_name_that_no_other_record_has(run: object) -> None:
    with pytest.raises(ValueError, match="names no run"):
        check(message(run, 0, []), MOST)


@pytest.mark.parametrize(("number", "part"), [(-1, None), (1.5, None), (True, None), (10**15, None), (0, -1), (0, "x")])
def test_a_batch_has_a_number_that_its_key_can_show(number: object, part: object) -> None:
    with pytest.raises(ValueError, match="no number"):
        check(message(RUN, number, [], part), MOST)


def test_a_message_may_ask_for_its_task_alone() -> None:
    with pytest.raises(ValueError, match="more than its task"):
        check(message(RUN, 0, [], chain=[{"task": TASK}]), MOST)


def test_a_message_is_no_larger_than_the_largest_of_a_submitter_s() -> None:
    check(message(RUN, 0, [{"text": "x" * 900}]), 1_200)
    with pytest.raises(ValueError, match="at most 1,200"):
        check(message(RUN, 0, [{"text": "x" * 2_000}]), 1_200)


def test_a_message_does_not_hold_lists_that_take_many_times_its_size() -> None:
    one = message(RUN, 0, [])
    one.body = "[" + "[]," * (MOST_STRUCTURE // 3 + 10) + "[]]"
    with pytest.raises(ValueError, match="lists or numbers"):
        check(one, MOST_STRUCTURE * 2)


def test_a_submitter_s_message_names_its_compression_as_workers_know_it() -> None:
    check(message(RUN, 0, [], headers=None), MOST)
    one = message(RUN, 0, [])
    one.headers["compression"] = COMPRESSION
    check(one, MOST)
