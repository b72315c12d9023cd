"""The page on which pairs of documents are judged."""

import pytest
from starlette.testclient import TestClient

from ibidem.evaluation.interview import Key, Question
from ibidem.gateway.page.interview import make_interview
from ibidem_ingest.document import Document

PAIRS = [
    (Document("a", "the lease begins in May", title="Lease <A>"), Document("b", "the lease begins in June")),
    (Document("a", "the lease begins in May"), Document("c", "the lease begins in May")),
]


class Judge:
    """Asks about the pairs in their order."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Key]] = []

    def question(self) -> Question | None:
        number = len(self.answers)
        return Question(number, number, 2, PAIRS[number]) if number < len(PAIRS) else None

    def answer(self, number: int, key: Key) -> None:
        self.answers.append((number, key))


@pytest.fixture
def judge() -> Judge:
    return Judge()


@pytest.fixture
def ended() -> list[bool]:
    return []


@pytest.fixture
def browser(judge: Judge, ended: list[bool]) -> TestClient:
    return TestClient(make_interview(judge, "secret", lambda: ended.append(True)))


def test_a_page_shows_both_titles_and_the_words_that_differ(browser: TestClient) -> None:
    page = browser.get("/secret/").text
    assert "Lease &lt;A&gt;" in page
    assert "May</del>" in page
    assert "June</ins>" in page
    assert "Pair 1 of at most 2" in page


def test_the_page_after_the_last_pair_says_so_and_ends_the_interview(
    browser: TestClient, judge: Judge, ended: list[bool]
) -> None:
    assert "No word differs" in browser.post("/secret/", data={"number": "0", "key": "n"}).text
    assert not ended
    assert "nothing left to ask" in browser.post("/secret/", data={"number": "1", "key": "y"}).text
    assert (judge.answers, ended) == ([(0, "n"), (1, "y")], [True])


def test_an_answer_that_is_sent_twice_counts_once(browser: TestClient, judge: Judge) -> None:
    for _ in range(2):
        browser.post("/secret/", data={"number": "0", "key": "s"})
    assert judge.answers == [(0, "s")]


@pytest.mark.parametrize(("path", "key", "status"), [("/", "y", 404), ("/other/", "y", 404), ("/secret/", "x", 422)])
def test_another_path_or_key_is_refused(browser: TestClient, judge: Judge, path: str, key: str, status: int) -> None:
    assert browser.post(path, data={"number": "0", "key": key}).status_code == status
    assert judge.answers == []
