"""The worker's task: it writes a batch and accounts for every document, also after errors."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest
from celery.worker import consumer

from ibidem_core.errors import Permanent, Unavailable
from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine, Outcome, Record
from ibidem_ingest.document import ORIGIN, WHERE
from ibidem_ingest.idf.store import Tables
from ibidem_workers import tasks
from ibidem_workers.batches import BatchResult
from ibidem_workers.groups.follower import settle_all
from ibidem_workers.tasks import Delivery, WorkerContext, sign_and_write
from ibidem_workers.worker import DELAYED_DELIVERY, Consumer

# Long enough that a word more makes a near duplicate.
SPEECH = (
    "four score and seven years ago our fathers brought forth on this continent a new nation conceived in liberty and "
    "dedicated to the proposition that all men are created equal now we are engaged in a great civil war testing "
    "whether that nation or any nation so conceived and so dedicated can long endure"
)


@dataclass
class Worker:
    """A worker in this very process."""

    context: WorkerContext

    def take(self, *records: dict[str, object], number: int = 0, died: bool = False) -> BatchResult:
        delivery = Delivery("run", number, [{"version": 1} | record for record in records], died=died)
        return sign_and_write(self.context, delivery)


@pytest.fixture
def worker(engine: Engine, settings: Settings) -> Worker:
    return Worker(WorkerContext(engine, Tables(settings.tables), settings))


def counts(account: BatchResult) -> tuple[int, int, int, int]:
    return account.indexed, account.unchanged, account.stale, len(account.refusals)


def test_the_account_is_noted_before_the_message_may_be_acknowledged(worker: Worker) -> None:
    account = worker.take({"id": "a", "text": SPEECH}, number=7)
    assert dict(worker.context.engine.get_records("runs", "run/00000007")) == {"run/00000007": account.as_json()}


def test_a_batch_that_is_accounted_for_is_left_alone(worker: Worker) -> None:
    first = worker.take({"id": "a", "text": SPEECH})
    assert worker.take({"id": "a", "text": "other text"}, {"id": "b", "text": "b"}) == first
    assert worker.context.engine.info().documents == 1


def test_what_an_earlier_try_of_the_message_wrote_counts_as_indexed(worker: Worker) -> None:
    records = [{"id": "a", "text": SPEECH, "version": 5}, {"id": "b", "text": f"{SPEECH} indeed", "version": 6}]
    worker.take(*records, number=1)
    account = worker.take(*records, number=2, died=True)
    assert counts(account) == (2, 0, 0, 0)


def test_a_document_that_cannot_be_read_goes_to_the_dead_letters_and_the_others_go_on(worker: Worker) -> None:
    account = worker.take({"id": "a", "text": SPEECH}, {"id": "b", "text": SPEECH, "language": "yesterday"})
    assert counts(account) == (1, 0, 0, 1)
    (letter,) = tasks.letters(worker.context.engine)
    assert (letter.refusal.id, letter.refusal.field, letter.record["language"]) == ("b", "language", "yesterday")
    assert "yesterday" in letter.refusal.why


def test_a_refusal_names_the_place_that_the_document_was_read_from_and_keeps_the_document(worker: Worker) -> None:
    worker.take({"id": "x", "text": SPEECH, ORIGIN: "/c/x"})
    account = worker.take(
        {"id": "a", "text": SPEECH, "language": "yesterday", WHERE: "news.jsonl:17"},
        {"id": "x", "text": "one", ORIGIN: "/a/x", WHERE: "a/x"},
        {"id": "x", "text": "two", ORIGIN: "/b/x", WHERE: "b/x"},
        {"id": "b", "text": SPEECH, "language": "tomorrow", WHERE: 17},
        number=1,
    )
    assert {each.where for each in account.refusals} == {"news.jsonl:17", "a/x", "b/x", "message run/00000001"}
    (of_b,) = [each for each in account.refusals if each.where == "b/x"]
    assert "the index has this id from /c/x, and this document is from /b/x" in of_b.why
    letters = tasks.letters(worker.context.engine, ["x"])
    assert sorted(str(letter.record["text"]) for letter in letters) == ["one", "two"]


class Flawed:
    """An engine in which writing fails now and then; all else is the engine's own."""

    def __init__(self, engine: Engine, fails: Callable[[Sequence[Record]], Exception | None]) -> None:
        self._engine, self._fails = engine, fails

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def write(self, records: Sequence[Record]) -> list[Outcome]:
        if error := self._fails(records):
            raise error
        return self._engine.write(records)


def with_flaw(worker: Worker, fails: Callable[[Sequence[Record]], Exception | None]) -> Worker:
    flawed: object = Flawed(worker.context.engine, fails)
    return Worker(replace(worker.context, engine=flawed))  # type: ignore[arg-type] # an engine with a flaw


def test_one_document_that_no_one_foresaw_takes_no_other_with_it(worker: Worker) -> None:
    def fails(records: Sequence[Record]) -> Exception | None:
        return RuntimeError("what is this") if any(record.document.id == "b" for record in records) else None

    account = with_flaw(worker, fails).take(*({"id": id_, "text": SPEECH} for id_ in "abc"))
    assert counts(account) == (2, 0, 0, 1)
    (letter,) = tasks.letters(worker.context.engine)
    assert (letter.refusal.id, "RuntimeError: what is this" in letter.refusal.why) == ("b", True)


@pytest.mark.parametrize("error", [Unavailable("down"), Permanent("the disk is full")])
def test_an_engine_that_takes_nothing_burns_no_document(worker: Worker, error: Exception) -> None:
    impatient = with_flaw(worker, lambda _: error)
    impatient.context = replace(impatient.context, has_ended=lambda: True)
    with pytest.raises(type(error)):
        impatient.take({"id": "a", "text": SPEECH})
    assert tasks.letters(worker.context.engine) == []
    assert counts(worker.take({"id": "a", "text": SPEECH})) == (1, 0, 0, 0)


class Death(BaseException):
    """The end of a worker."""


def take_until_done(worker: Worker, *records: dict[str, object]) -> tuple[BatchResult, list[str]]:
    """Give a batch to a worker that ends when it is to write the document `bad`; gives what it died of, too."""
    deaths: list[str] = []

    def fails(records: Sequence[Record]) -> Exception | None:
        if any(record.document.id == "bad" for record in records):
            deaths.append(",".join(record.document.id for record in records))
            raise Death
        return None

    dying = with_flaw(worker, fails)
    while len(deaths) < 10:
        with suppress(Death):
            return dying.take(*records, number=4, died=bool(deaths)), deaths
    pytest.fail("it is never done")


def test_a_batch_that_ends_its_worker_too_often_is_done_document_by_document(worker: Worker) -> None:
    records = [{"id": name, "text": f"{SPEECH} {name}"} for name in ("a", "bad", "b")]
    account, deaths = take_until_done(worker, *records)
    assert deaths == 3 * ["a,bad,b"] + 3 * ["bad"]
    assert counts(account) == (2, 0, 0, 1)
    (letter,) = tasks.letters(worker.context.engine)
    assert (letter.refusal.id, letter.tries) == ("bad", 4)
    assert "crashed its worker 3 times" in letter.refusal.why
    assert worker.take(*records, number=4, died=True) == account


def test_a_message_that_is_only_sent_again_counts_no_try(worker: Worker) -> None:
    failing = with_flaw(worker, lambda _: Permanent("the disk is full"))
    for _ in range(5):
        with pytest.raises(Permanent):
            failing.take({"id": "a", "text": SPEECH}, {"id": "b", "text": "b"})
    assert dict(worker.context.engine.get_records("runs", "run/")) == {}
    assert counts(worker.take({"id": "a", "text": SPEECH}, {"id": "b", "text": "b"})) == (2, 0, 0, 0)


def test_fields_that_must_not_differ_take_duplicates_apart(worker: Worker, engine: Engine) -> None:
    strict = Worker(replace(worker.context, settings=worker.context.settings.changed(distinct=("meta.docket",))))
    strict.take(
        {"id": "a", "text": SPEECH, "meta": {"docket": "12-1"}},
        {"id": "b", "text": SPEECH, "meta": {"docket": "12-2"}},
        {"id": "c", "text": SPEECH},
    )
    settle_all(engine)
    groups = engine.groups().read([("ibidem", name) for name in "abc"])
    assert [each.lead for each in groups] == [True, True, False]


def test_a_version_far_in_the_future_is_refused(worker: Worker) -> None:
    a_year = 365 * 24 * 3600 * 10**6
    for number, version in enumerate((time.time_ns() // 1_000 + a_year, (1 << 63) - 1)):
        account = worker.take({"id": "a", "text": SPEECH, "version": version}, number=number)
        (refusal,) = account.refusals
        assert (refusal.id, refusal.field) == ("a", "version")
        assert "not later than tomorrow" in refusal.why
    version = time.time_ns() // 1_000 + 3600 * 10**6  # of a clock that is somewhat fast
    assert counts(worker.take({"id": "a", "text": SPEECH, "version": version}, number=2)) == (1, 0, 0, 0)


def test_what_cannot_be_noted_is_a_dead_letter_with_a_form_that_can(worker: Worker) -> None:
    account = worker.take(
        {"id": "bad", "text": 1 << 80}, {"id": "b\ud800", "text": "x"}, {"id": "good", "text": SPEECH}
    )
    assert counts(account) == (1, 0, 0, 2)
    letters = {letter.refusal.id: letter.record for letter in tasks.letters(worker.context.engine)}
    assert letters.keys() == {"bad", "b\\ud800"}
    assert all("unwritable" in record for record in letters.values())


def test_nothing_but_delayed_delivery_is_left_out() -> None:
    steps = list(consumer.Consumer.Blueprint.default_steps)
    steps.remove(DELAYED_DELIVERY)
    assert list(Consumer.Blueprint.default_steps) == steps


def test_a_document_alone_that_ends_its_worker_too_often_is_a_dead_letter(worker: Worker) -> None:
    account, deaths = take_until_done(worker, {"id": "bad", "text": SPEECH})
    assert (len(deaths), counts(account)) == (3, (0, 0, 0, 1))
