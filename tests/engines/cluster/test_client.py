"""A request is asked again where that may help, by each process over connections of its own."""

import os
from collections.abc import Mapping

import pytest

from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.errors import UNREACHABLE, Failure
from ibidem_engines.errors import Permanent, Unavailable


class Script:
    """A wire that answers what it was told to, and remembers what it was asked."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, bytes | None]] = []

    def send(self, method: str, path: str, params: Mapping[str, str], content_type: str, body: bytes | None) -> object:
        self.asked.append((method, path, body))
        answer = self.answers.pop(0)
        if isinstance(answer, Failure):
            raise answer
        return answer

    def close(self) -> None:
        self.answers = []


AWAY = Failure(0, UNREACHABLE, "refused")


def test_a_server_that_is_away_for_a_moment_is_asked_again() -> None:
    script = Script(AWAY, AWAY, {"ok": True})
    assert ClusterClient("here", lambda: script, (0.0, 0.0)).ask("GET", "/") == {"ok": True}
    assert len(script.asked) == 3


def test_a_server_that_stays_away_is_unavailable() -> None:
    script = Script(AWAY, AWAY, AWAY)
    with pytest.raises(Unavailable, match="here: it does not answer"):
        ClusterClient("here", lambda: script, (0.0, 0.0)).ask("GET", "/")


def test_what_will_fail_again_is_asked_once() -> None:
    script = Script(Failure(400, "parsing_exception", "unknown query"))
    with pytest.raises(Permanent, match="unknown query"):
        ClusterClient("here", lambda: script, (0.0, 0.0)).ask("POST", "/", {"query": {}})
    assert len(script.asked) == 1


def test_lines_are_sent_each_with_its_end() -> None:
    script = Script({"items": []})
    ClusterClient("here", lambda: script).ask_lines("/_bulk", [b"{}", b"[]"])
    assert script.asked == [("POST", "/_bulk", b"{}\n[]\n")]


def test_a_forked_process_makes_connections_of_its_own() -> None:
    made: list[Script] = []

    def connect() -> Script:
        made.append(Script({}, {}))
        return made[-1]

    cluster = ClusterClient("here", connect)
    cluster.ask("GET", "/")
    cluster._pid = os.getpid() + 1  # as the child of a fork finds it
    cluster.ask("GET", "/")
    assert len(made) == 2
