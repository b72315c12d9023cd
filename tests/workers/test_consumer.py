"""What a worker listens with."""

import orjson
import pytest
from celery.worker import consumer
from kombu.message import Message

from ibidem_workers.app import TASK, make_app
from ibidem_workers.consumer import DELAYED, NOTHING_ELSE, Consumer, refuse_more
from ibidem_workers.queue_folder import Folder
from ibidem_workers.settings import Settings


def test_nothing_but_delayed_delivery_is_left_out() -> None:
    every = list(consumer.Consumer.Blueprint.default_steps)
    every.remove(DELAYED)
    assert list(Consumer.Blueprint.default_steps) == every


def test_a_submitter_s_message_ends_as_one_that_asks_for_nothing_more(settings: Settings) -> None:
    make_app(settings).send_task(TASK, args=["run", 0, []])
    assert settings.queue_folder is not None
    folder = Folder(settings.queue_folder / settings.queue, 60)
    taken = folder.take(folder.names()[0], "me")
    assert taken is not None
    assert orjson.loads(taken.read_bytes())["body"].endswith(NOTHING_ELSE)


@pytest.mark.parametrize("spaced", [True, False])
def test_a_message_may_ask_for_its_task_alone(spaced: bool) -> None:
    end = NOTHING_ELSE if spaced else NOTHING_ELSE.replace(" ", "")
    refuse_more(message(f"[[1],{end}"))
    with pytest.raises(ValueError, match="more than its task"):
        refuse_more(
            message(f"[[1],{end}".replace('"chain": null', '"chain": [1]').replace('"chain":null', '"chain":[1]'))
        )


def message(body: str) -> Message:
    return Message(body=body, content_type="application/json", content_encoding="utf-8", accept={"application/json"})
