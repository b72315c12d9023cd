"""Messages as they lie in the queues of ours."""

import orjson
import pytest

from ibidem_workers.brokers.transport import read_message

PROPERTIES = {"delivery_tag": "a", "delivery_info": {"exchange": "", "routing_key": "news"}, "priority": 0}
MESSAGE = {
    "body": "[[], {}, {}]",
    "content-type": "application/json",
    "content-encoding": "utf-8",
    "headers": {"task": "a", "id": "b"},
    "properties": PROPERTIES,
}


def test_a_message_is_read_with_all_that_it_holds() -> None:
    assert read_message(orjson.dumps(MESSAGE)) == MESSAGE


@pytest.mark.parametrize("part", MESSAGE)
@pytest.mark.parametrize("value", [None, 1, ["a"]])
def test_a_message_with_a_part_of_another_kind_is_none(part: str, value: object) -> None:
    assert read_message(orjson.dumps(MESSAGE | {part: value})) is None


@pytest.mark.parametrize("properties", [{}, PROPERTIES | {"delivery_tag": 1}, PROPERTIES | {"delivery_info": []}])
def test_a_message_that_nobody_could_acknowledge_is_none(properties: dict[str, object]) -> None:
    assert read_message(orjson.dumps(MESSAGE | {"properties": properties})) is None
