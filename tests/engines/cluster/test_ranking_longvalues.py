"""Long signatures are asked for in parts that no request is too large for."""

from base64 import b64encode
from typing import Any

from ibidem_engines.cluster.ranking import AT_ONCE, long_values
from ibidem_engines.requests import ApiRequest, Target, run_sync


def test_many_are_read_in_several_requests_and_each_once() -> None:
    calls: list[int] = []

    def server(request: ApiRequest) -> Any:
        assert request.body is not None
        (clause, _) = request.body["query"]["bool"]["filter"]
        ids = clause["bool"]["filter"][1]["ids"]["values"]
        calls.append(len(ids))
        values = {name: [b64encode(name.encode()).decode()] for name in ids if name != "7"}
        hits = [{"_index": "news", "_id": name, "fields": {"ibidem.long": value}} for name, value in values.items()]
        return {"hits": {"hits": hits}}

    names = [("news", str(number)) for number in range(AT_ONCE + 20)]
    values = run_sync(long_values(Target("news"), [*names, *names]), server)
    assert calls == [AT_ONCE, 20]
    assert values == {name: name[1].encode() for name in names if name[1] != "7"}


def test_nothing_is_asked_for_nobody() -> None:
    assert run_sync(long_values(Target("news"), []), lambda _: 1 / 0) == {}
