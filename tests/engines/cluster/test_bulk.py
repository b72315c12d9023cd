"""Actions are sent in requests of a bearable size, and none is forgotten."""

from collections.abc import Mapping

import orjson
import pytest

from ibidem_core.errors import Permanent
from ibidem_engines.cluster import bulk
from ibidem_engines.cluster.bulk import Action, ActionOutcome, run
from ibidem_engines.cluster.client import ClusterClient


class Taking:
    """A transport that accepts every action, or gives the answers that a test set."""

    def __init__(self, item: Mapping[str, object] | None = None) -> None:
        self.item = item or {"status": 201, "_seq_no": 4}
        self.sizes: list[int] = []

    def send(self, method: str, path: str, params: Mapping[str, str], content_type: str, body: bytes | None) -> object:
        count = sum(b'"_id"' in line for line in (body or b"").splitlines())
        self.sizes.append(count)
        return {"items": [{"create": self.item}] * count}

    def close(self) -> None:
        pass


def actions(count: int, size: int = 10) -> list[Action]:
    return [Action("create", "news", f"d{number}", b'{"text":"' + b"x" * size + b'"}') for number in range(count)]


def test_each_action_has_its_answer() -> None:
    assert run(ClusterClient("here", Taking), actions(3)) == [ActionOutcome(201, 4)] * 3


def test_many_actions_are_several_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MAX_ACTIONS", 4)
    wire = Taking()
    assert len(run(ClusterClient("here", lambda: wire), actions(10))) == 10
    assert wire.sizes == [4, 4, 2]


def test_large_documents_are_several_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MAX_BYTES", 250)
    wire = Taking()
    run(ClusterClient("here", lambda: wire), actions(5, 100))
    assert wire.sizes == [2, 2, 1]


def test_no_actions_are_no_request() -> None:
    wire = Taking()
    assert run(ClusterClient("here", lambda: wire), []) == []
    assert wire.sizes == []


def test_an_action_on_a_state_names_it() -> None:
    (head,) = Action("delete", "news", "a", state=(7, 1)).lines
    assert orjson.loads(head) == {"delete": {"_index": "news", "_id": "a", "if_seq_no": 7, "if_primary_term": 1}}


def test_a_refused_document_is_reported_with_its_cause() -> None:
    error = {"type": "mapper_parsing_exception", "reason": "failed", "caused_by": {"type": "x", "reason": "not a date"}}
    (outcome,) = run(ClusterClient("here", lambda: Taking({"status": 400, "error": error})), actions(1))
    assert outcome == ActionOutcome(400, reason="failed: not a date")


def test_a_missing_right_is_no_refusal_of_a_document() -> None:
    error = {"type": "security_exception", "reason": "no permissions"}
    with pytest.raises(Permanent, match="is not permitted to do that"):
        run(ClusterClient("here", lambda: Taking({"status": 403, "error": error})), actions(1))
