"""Write requests are held back where a server is busy, and are again as many as before once it is not."""

from contextlib import ExitStack

from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.cluster.client import MAX_REQUESTS, Throttle


@given(st.integers(1, 12), st.lists(st.booleans(), max_size=40))
def test_whatever_is_rejected_one_request_may_be_sent_and_never_more_than_the_most(
    together: int, answers: list[bool]
) -> None:
    throttle = Throttle()
    for busy in answers:
        with ExitStack() as under_way:
            for _ in range(int(min(together, throttle.limit))):
                under_way.enter_context(throttle())
            if busy:
                throttle.reject()
        assert 1 <= throttle.limit <= MAX_REQUESTS
    assert throttle.rejections == sum(answers)
