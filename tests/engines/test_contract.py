"""Contract of every engine: each sentence of the protocol, over every engine that `conftest.ENGINES` names."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from ibidem_core.errors import Permanent
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, LookupResult, Outcome, Ranking, Record, SignatureLookup, WriteStatus
from ibidem_engines.ledger import MAX_VERSION
from ibidem_engines.query import HIGHLIGHT, Filter, Place, Query, parse_query
from ibidem_engines.stored_groups import Collapsing, Order
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.lookup_keys import LONG_FIELDS, LookupField, stored_keys
from ibidem_ingest.signatures.schema import SCHEMA
from support.signed_records import make_record as record

STORY = "grain prices rose in chicago"
LONG = " ".join(f"word{number}" for number in range(80))


def store(engine: Engine, *records: Record) -> list[Outcome]:
    outcomes = engine.write(records)
    engine.refresh()
    return outcomes


def statuses(outcomes: Sequence[Outcome]) -> list[tuple[WriteStatus, int | None]]:
    return [(each.status, each.previous_version) for each in outcomes]


def ids(ranking: Ranking | LookupResult) -> list[str]:
    return [hit.id for hit in ranking.hits]


def matching(engine: Engine, typed: str, *filters: str) -> list[str]:
    return sorted(ids(engine.search(parse_query(typed, filters), 100)))


def read_values(record: Record) -> dict[LookupField, list[str]]:
    return stored_keys([(record.packed, record.long)])[0]


def page(number: int) -> str:
    """One page of a book, unlike every other: sixty words that occur once, ten that occur thrice."""
    order = [at * 37 % 70 for at in range(70)]
    words = [f"w{chr(97 + at // 10)}{chr(97 + at % 10)}{chr(97 + number // 10)}{chr(97 + number % 10)}" for at in order]
    return " ".join(words + 2 * words[60:])


def book(*pages: int) -> str:
    return "\f".join(map(page, pages))


def mark_words(text: str) -> str:
    return text.replace(HIGHLIGHT[0], "[").replace(HIGHLIGHT[1], "]")


UNSEEN = "ver\u00adkehrs\u200bgesell\u2060schaft \u200funterlag\u200f"


class TestUnseenCharacters:
    def test_words_are_found_whatever_nobody_sees_in_them(self, engine: Engine) -> None:
        plain = "Verkehrsgesellschaft unterlag"
        store(engine, record("unseen", f"Die {UNSEEN}"), record("plain", f"Die {plain}"), record("other", STORY))
        names = [(engine.index, name) for name in ("unseen", "plain")]
        for typed in ("verkehrsgesellschaft", "ver\u00adkehrsgesell\u200dschaft", "verkehrsges*"):
            assert matching(engine, typed) == matching(engine, f'"{plain}"') == ["plain", "unseen"]
            found = {each.document.id: each for each in engine.fetch(names, parse_query(typed))}
            assert found["unseen"].document.text == f"Die {UNSEEN}"
            marked = f"Die [{UNSEEN}".replace(" ", "] ", 2).replace("] ", " ", 1)
            assert mark_words(found["unseen"].snippets[0]) == marked
            assert mark_words(found["plain"].snippets[0]) == "Die [Verkehrsgesellschaft] unterlag"

    def test_a_document_deleted_and_written_again_has_its_new_text(self, engine: Engine) -> None:
        store(engine, record("a", f"Die {UNSEEN}", version=1))
        store(engine, record("a", "Die Bahn", version=2))
        assert not matching(engine, "verkehrsgesellschaft")
        assert [each.document.text for each in engine.fetch([(engine.index, "a")])] == ["Die Bahn"]


class TestCreate:
    def test_what_is_there_stays(self, engine: Engine) -> None:
        store(engine, record("a"))
        engine.put_records("presets", {"run": {"read": 1}})
        engine.create()
        assert engine.info().documents == 1
        assert list(engine.get_records("presets")) == [("run", {"read": 1})]

    @pytest.mark.parametrize(
        "use",
        [
            lambda engine: engine.search(parse_query("grain"), 10),
            lambda engine: engine.fetch([(engine.index, "a")]),
            lambda engine: engine.find([SignatureLookup({"content": ["ch4:00"]})]),
            lambda engine: list(engine.scan()),
            lambda engine: list(engine.get_records("runs")),
        ],
        ids=["window", "fetch", "find", "scan", "noted"],
    )
    def test_reading_an_index_that_was_never_made_names_the_command_that_makes_it(
        self, absent: Engine, use: Callable[[Engine], object]
    ) -> None:
        with pytest.raises(Permanent, match=r"'news'.*ibidem ingest"):
            use(absent)

    def test_info_of_an_index_that_was_never_made_says_so(self, absent: Engine) -> None:
        info = absent.info()
        assert (info.exists, info.documents, info.unsigned, [*info.schema], {*info.tables}) == (False, 0, 0, [], set())
        assert info.version


class TestWrite:
    def test_each_record_has_an_outcome_in_the_same_order(self, engine: Engine) -> None:
        outcomes = store(engine, record("b"), record("a"), record("c"))
        assert [each.id for each in outcomes] == ["b", "a", "c"]
        assert statuses(outcomes) == [(WriteStatus.INDEXED, None)] * 3
        assert engine.write([]) == []

    def test_order_grows_with_each_write_and_each_rewrite_and_is_never_given_out_twice(self, engine: Engine) -> None:
        first = [each.order for each in store(engine, record("a"), record("b"))]
        (second,) = store(engine, record("a", "something else", version=2))
        assert 0 < first[0] < first[1] < second.order
        assert {hit.id: hit.order for part in engine.scan() for hit in part} == {"b": first[1], "a": second.order}
        engine.delete(["a"], 2)
        (third,) = store(engine, record("c"))
        assert third.order > second.order

    def test_the_same_digest_is_unchanged_and_nothing_is_written(self, engine: Engine) -> None:
        (first,) = store(engine, record("a", version=3))
        (again,) = store(engine, record("a", version=3))
        assert (again.status, again.previous_version, again.order) == (WriteStatus.UNCHANGED, 3, 0)
        assert [hit.order for part in engine.scan() for hit in part] == [first.order]

    def test_the_version_of_an_unchanged_document_is_raised(self, engine: Engine) -> None:
        store(engine, record("a", version=1))
        assert store(engine, record("a", version=5))[0].status is WriteStatus.UNCHANGED
        (late,) = store(engine, record("a", "something else", version=4))
        assert (late.status, late.previous_version) == (WriteStatus.STALE, 5)
        assert engine.fetch([(engine.index, "a")])[0].version == 5

    def test_an_older_version_never_overwrites_a_newer(self, engine: Engine) -> None:
        store(engine, record("a", version=2))
        (late,) = store(engine, record("a", "something else", version=1))
        assert (late.status, late.previous_version, late.order) == (WriteStatus.STALE, 2, 0)
        assert late.why
        assert matching(engine, "grain") == ["a"]
        assert matching(engine, "something") == []

    @pytest.mark.parametrize("version", [2, 3])
    def test_the_same_or_a_newer_version_with_other_contents_replaces(self, engine: Engine, version: int) -> None:
        store(engine, record("a", version=2))
        (outcome,) = store(engine, record("a", "something else", version=version))
        assert (outcome.status, outcome.previous_version) == (WriteStatus.INDEXED, 2)
        assert matching(engine, "grain") == []
        assert matching(engine, "something") == ["a"]
        assert engine.info().documents == 1

    def test_of_the_same_id_twice_in_a_call_the_newer_version_wins(self, engine: Engine) -> None:
        outcomes = store(engine, record("a", "the newer", version=2), record("b"), record("a", "the older", version=1))
        assert [each.status for each in outcomes] == [WriteStatus.INDEXED, WriteStatus.INDEXED, WriteStatus.STALE]
        assert "version 2" in outcomes[2].why
        assert matching(engine, "newer") == ["a"]

    def test_of_the_same_version_the_later_wins(self, engine: Engine) -> None:
        outcomes = store(engine, record("a", "the first"), record("a", "the second"), record("a", "the third"))
        assert [each.status for each in outcomes] == [WriteStatus.STALE, WriteStatus.STALE, WriteStatus.INDEXED]
        assert matching(engine, "third") == matching(engine, "the") == ["a"]

    @pytest.mark.parametrize(
        ("field", "bad"),
        [
            ("title", {"title": "half a \ud800 character"}),
            ("text", {"text": "half a \ud800 character"}),
            ("meta", {"meta": {"court": "half a \ud800 character"}}),
            ("date", {"date": "the day before"}),
        ],
    )
    def test_a_record_that_cannot_be_stored_harms_no_other(
        self, engine: Engine, field: str, bad: dict[str, object]
    ) -> None:
        good = record("bad")
        broken = replace(good, document=replace(good.document, **bad))  # type: ignore[arg-type]
        outcomes = store(engine, record("a"), broken, record("b"))
        assert [each.status for each in outcomes] == [WriteStatus.INDEXED, WriteStatus.REFUSED, WriteStatus.INDEXED]
        assert outcomes[1].field == field
        assert outcomes[1].why
        assert matching(engine, "grain") == ["a", "b"]

    def test_a_document_without_signatures_is_stored_and_has_no_packed_value(self, engine: Engine) -> None:
        store(engine, replace(record("a"), packed=b""))
        assert [hit.packed for hit in engine.search(parse_query("grain"), 1).hits] == [None]


class TestOrigin:
    """An id that is unique below one folder, and comes from another."""

    def test_a_document_of_another_origin_is_not_replaced(self, engine: Engine) -> None:
        store(engine, read_in(record("a", "first", version=2), "/case-a"))
        for version in (1, 2, 3):  # an older one is refused for its origin, too, and not for its version
            (outcome,) = store(engine, read_in(record("a", "second", version=version), "/case-b"))
            assert (outcome.status, outcome.field, outcome.previous_version) == (WriteStatus.REFUSED, "id", 2)
            assert "this id from /case-a, and this document is from /case-b; give --id-prefix" in outcome.why
        (entry,) = engine.fetch([(engine.index, "a")])
        assert (entry.document.text, entry.document.origin) == ("first", "/case-a")

    def test_one_of_the_same_origin_or_of_one_that_nobody_knows_is(self, engine: Engine) -> None:
        for version, origin in enumerate(("/case-a", "/case-a", "", "/case-b"), 1):
            (outcome,) = store(engine, read_in(record("a", f"text {version}", version=version), origin))
            assert outcome.status is WriteStatus.INDEXED
            assert engine.fetch([(engine.index, "a")])[0].document.origin == origin

    def test_the_same_document_from_elsewhere_is_unchanged(self, engine: Engine) -> None:
        store(engine, read_in(record("a", version=1), "/case-a"))
        assert statuses(store(engine, read_in(record("a", version=2), "/case-b"))) == [(WriteStatus.UNCHANGED, 1)]

    def test_of_two_origins_in_one_call_the_first_is_kept(self, engine: Engine) -> None:
        first, second = read_in(record("a", "one", version=1), "/a"), read_in(record("a", "two", version=2), "/b")
        assert [each.status for each in store(engine, first, second)] == [WriteStatus.INDEXED, WriteStatus.REFUSED]
        assert engine.fetch([(engine.index, "a")])[0].document.text == "one"

    def test_a_document_that_is_refused_for_its_origin_keeps_out_none_of_the_stored_one(self, engine: Engine) -> None:
        store(engine, read_in(record("a", "stored", version=1), "/c/a"))
        texts = enumerate((("one", "/a/a"), ("two", "/b/a"), ("changed", "/c/a")), 2)
        outcomes = store(
            engine, *(read_in(record("a", text, version=version), origin) for version, (text, origin) in texts)
        )
        assert [each.status for each in outcomes] == [WriteStatus.REFUSED, WriteStatus.REFUSED, WriteStatus.INDEXED]
        assert all("the index has this id from /c/a," in each.why for each in outcomes[:2])
        assert engine.fetch([(engine.index, "a")])[0].document.text == "changed"

    def test_a_file_of_a_folder_that_was_noted_as_the_origin_is_of_that_origin(self, engine: Engine) -> None:
        store(engine, read_in(record("a", "first", version=1), "/case-a"))
        (outcome,) = store(engine, read_in(record("a", "second", version=2), "/case-a/a"))
        assert (outcome.status, outcome.previous_version) == (WriteStatus.INDEXED, 1)

    def test_what_was_deleted_keeps_no_origin(self, engine: Engine) -> None:
        store(engine, read_in(record("a", version=1), "/case-a"))
        engine.delete(["a"], 1)
        engine.refresh()
        (outcome,) = store(engine, read_in(record("a", "other", version=2), "/case-b"))
        assert (outcome.status, outcome.previous_version) == (WriteStatus.INDEXED, None)


def read_in(record: Record, origin: str) -> Record:
    return replace(record, document=replace(record.document, origin=origin))


class TestDelete:
    def test_what_is_deleted_is_found_no_more(self, engine: Engine) -> None:
        entry, other = record("a"), record("b")
        store(engine, entry, other)
        (outcome,) = engine.delete(["b"], 1)
        engine.refresh()
        assert (outcome.id, outcome.status, outcome.previous_version) == ("b", WriteStatus.DELETED, 1)
        assert matching(engine, "grain") == ["a"]
        assert ids(engine.find([SignatureLookup(read_values(other))])[0]) == ["a"]
        assert engine.fetch([(engine.index, "b")]) == []
        assert [hit.id for part in engine.scan() for hit in part] == ["a"]

    def test_outcomes_are_in_the_order_asked(self, engine: Engine) -> None:
        store(engine, record("a", version=5), record("b", version=1))
        outcomes = engine.delete(["missing", "b", "a"], 2)
        assert [each.id for each in outcomes] == ["missing", "b", "a"]
        assert [each.status for each in outcomes] == [WriteStatus.MISSING, WriteStatus.DELETED, WriteStatus.STALE]

    def test_a_newer_version_is_not_deleted(self, engine: Engine) -> None:
        store(engine, record("a", version=5))
        (outcome,) = engine.delete(["a"], 4)
        why = "version 4 is older than the one in the index, 5"
        assert (outcome.status, outcome.field, outcome.why) == (WriteStatus.STALE, "version", why)
        engine.refresh()
        assert matching(engine, "grain") == ["a"]
        assert list(engine.get_records("tombstones")) == []

    def test_a_deletion_may_beat_every_version(self, engine: Engine) -> None:
        versions = {"newer": 5, "but one": MAX_VERSION - 1, "last": MAX_VERSION}
        store(engine, *(record(name, version=version) for name, version in versions.items()))
        outcomes = engine.delete(list(versions), 4, any_version=True)
        engine.refresh()
        assert {outcome.status for outcome in outcomes} == {WriteStatus.DELETED}
        assert [outcome.previous_version for outcome in outcomes] == list(versions.values())
        assert matching(engine, "grain") == []
        stones = {int(stone["version"]) for _, stone in engine.get_records("tombstones")}
        assert stones == {6, MAX_VERSION}
        again = store(engine, *(record(name, version=version) for name, version in versions.items()))
        assert {outcome.status for outcome in again} == {WriteStatus.STALE}

    @pytest.mark.parametrize("version_there", [True, False], ids=["deleted", "deleted before it came"])
    def test_a_tombstone_keeps_older_and_equal_versions_out(self, engine: Engine, version_there: bool) -> None:
        if version_there:
            store(engine, record("a", version=1))
        engine.delete(["a"], 3)
        engine.refresh()
        fates = [store(engine, record("a", version=version))[0].status for version in (2, 3, 4)]
        assert fates == [WriteStatus.STALE, WriteStatus.STALE, WriteStatus.INDEXED]

    def test_an_older_deletion_leaves_the_newer_tombstone_which_has_version_and_time(self, engine: Engine) -> None:
        for version in (3, 2):
            engine.delete(["a"], version)
            engine.refresh()
        assert store(engine, record("a", version=3))[0].status is WriteStatus.STALE
        ((key, stone),) = engine.get_records("tombstones")
        assert (key, stone["version"]) == ("a", 3)
        assert str(stone["at"]).startswith("20")


class TestWindow:
    def test_it_counts_all_and_returns_the_first(self, engine: Engine) -> None:
        store(engine, *(record(f"d{number:02}", f"{STORY} {number}") for number in range(30)))
        ranking = engine.search(parse_query("grain"), 7)
        assert (len(ranking.hits), ranking.total) == (7, 30)
        written = {f"d{number:02}": record(f"d{number:02}", f"{STORY} {number}").packed for number in range(30)}
        assert all(hit.index == engine.index and hit.packed == written[hit.id] for hit in ranking.hits)

    def test_the_better_match_is_first(self, engine: Engine) -> None:
        other_records = [record(f"x{number}", "nothing of interest today") for number in range(10)]
        store(engine, record("long", f"grain {LONG}"), record("short", "grain prices"), *other_records)
        hits = engine.search(parse_query("grain"), 10).hits
        assert [hit.id for hit in hits] == ["short", "long"]
        assert hits[0].score > hits[1].score > 0

    def test_the_title_counts_double(self, absent: Engine) -> None:
        absent.create()  # what was deleted from an index that others have used still counts in how rare a word is
        other_records = [record(f"x{number}", "nothing of interest", title="today") for number in range(10)]
        in_text = record("in text", "grain of interest", title="today")
        store(absent, in_text, record("in title", "nothing of interest", title="grain"), *other_records)
        assert ids(absent.search(parse_query("grain"), 10)) == ["in title", "in text"]

    def test_equal_scores_are_in_the_order_of_ids_beyond_the_window_too(self, engine: Engine) -> None:
        names = [f"d{number:03}" for number in range(300)]
        store(engine, *(record(name) for name in reversed(names)))
        for size in (1, 3, 50):
            assert ids(engine.search(parse_query("grain"), size)) == names[:size]

    def test_a_query_means_what_its_words_say(self, engine: Engine) -> None:
        store(
            engine,
            record("a", STORY),
            record("b", "prices of grain"),
            record("c", "we don't grow", title="Grain"),
            record("d", "wheat at the café"),
        )
        expected: dict[str, list[str]] = {
            "grain": ["a", "b", "c"],
            "GRAIN Prices": ["a", "b"],
            '"grain prices"': ["a"],
            '"prices grain"': [],
            "wheat OR chicago": ["a", "d"],
            "grain wheat OR chicago": ["a"],
            "grain -prices": ["c"],
            'grain -"grain prices"': ["b", "c"],
            "grain* AND (": ["a", "b", "c"],
            "grain* & (prices)": ["a", "b"],
            "don't": ["c"],
            "cafe": ["d"],
            "text:grain": ["a", "b"],
            "unheard": [],
        }
        assert {typed: matching(engine, typed) for typed in expected} == expected

    def test_filters_leave_what_fulfils_them(self, engine: Engine) -> None:
        store(
            engine,
            record("day", date="1987-03-17", meta={"court": "9th Cir."}),
            record("month", date="1987-03", source="Reuters", meta={"pages": 12}),
            record("year", date="1987", meta={"sealed": True}),
            record("none", language="de", meta={"topics": ["grain", "wheat"], "a b.c": "x"}),
        )
        for filters, expected in [
            (["source=Reuters"], ["month"]),
            (["source=reuters"], []),
            (["language=de"], ["none"]),
            (["id=day"], ["day"]),
            (["id=day", "id=none"], ["day", "none"]),
            (["id=day", "language=de"], []),
            (["date=1987"], ["day", "month", "year"]),
            (["date=1987-03"], ["day", "month", "year"]),
            (["date=1987-03-02"], ["month", "year"]),
            (["date=1987-05.."], ["year"]),
            (["date=..1987-02"], ["year"]),
            (["date=1987-03-16..1987-03-18"], ["day", "month", "year"]),
            (["date=1986"], []),
            (["meta.court=9th Cir."], ["day"]),
            (["meta.court=9th"], []),
            (["meta.pages=12"], ["month"]),
            (["meta.sealed=true"], ["year"]),
            (["meta.topics=wheat"], ["none"]),
            (["meta.a b.c=x"], ["none"]),
            (["meta.topics=wheat", "meta.topics=rye", "meta.topics=grain"], ["none"]),
            (["meta.court=9th Cir.", "meta.court=2d Cir.", "meta.pages=12"], []),
            (["meta.pages=12", "meta.pages=13"], ["month"]),
            (["meta.sealed=true", "meta.sealed=false"], ["year"]),
            (["meta.unknown=1"], []),
        ]:
            assert matching(engine, "grain", *filters) == expected
            conditions = tuple(map(parse_query("x", filters).filters.__getitem__, range(len(filters))))
            everything = engine.search(Query(filters=conditions), 10)
            assert (ids(everything), everything.total) == (sorted(expected), len(expected))

    def test_without_words_all_match_in_the_order_of_ids_but_what_is_excluded(self, engine: Engine) -> None:
        store(engine, *(record(name) for name in ("c", "a", "b")), record("d", "wheat"))
        ranking = engine.search(Query(), 2)
        assert (ids(ranking), ranking.total) == (["a", "b"], 4)
        assert ids(engine.search(replace(parse_query("x -grain"), all_of=()), 10)) == ["d"]

    def test_a_query_means_the_same_everywhere(self, engine: Engine) -> None:
        store(
            engine,
            record("both", "The coalition lost the vote, electing nobody."),
            record("headline", "Results are out.", title="Coalition elected"),
            record("vote", "They cast a vote.", title="The vote", date="1990", source="AP"),
            record("wheat", "The export of wheat.", date="1987-03"),
        )
        expected: dict[str, list[str]] = {
            "coalition AND vote": ["both"],
            "coalition OR wheat": ["both", "headline", "wheat"],
            "vote NOT coalition": ["vote"],
            "(coalition OR wheat) NOT (vote OR export)": ["headline"],
            "vote OR (wheat export)": ["both", "vote", "wheat"],
            "vote NOT (coalition elects)": ["both", "vote"],
            "title:coalition": ["headline"],
            "text:coalition": ["both"],
            "title:(coalition OR wheat)": ["headline"],
            "vote -title:vote": ["both"],
            "elect*": ["both", "headline"],
            "Élect*": ["both", "headline"],
            "title:elect*": ["headline"],
            "wheat date:1987..1988": ["wheat"],
            "wheat date:[1989 TO *]": [],
            "vote NOT date:1990": ["both"],
            "vote NOT source:AP": ["both"],
            "source:AP": ["vote"],
            "-vote date:1980..": ["wheat"],
            '"coalition vote"~2': ["both"],
            '"vote coalition"~2': ["both"],
            '"coalition vote"~1': [],
            '"lost nobody coalition"~3': ["both"],
            '"lost nobody coalition"~2': [],
            'title:"elected coalition"~0': ["headline"],
            'vote -"coalition vote"~9': ["vote"],
            'wheat date:"March 1987"': ["wheat"],
        }
        assert {typed: matching(engine, typed) for typed in expected} == expected

    def test_a_prefix_finds_however_many_words_begin_with_it(self, engine: Engine) -> None:
        store(engine, *(record(f"{number:03}", f"electx{number}") for number in range(120)))
        assert engine.search(parse_query("elect*"), 10).total == 120

    def test_a_word_that_is_nowhere_is_spelled_as_the_index_spells_it(self, engine: Engine) -> None:
        store(
            engine,
            record("a", "A coalition on grain.", title="Headline"),
            record("b", "The coalition and the gran.", title="x"),
            record("c", "No grain here."),
        )
        terms = {
            "coalitoin": "coalition",
            "colition": "coalition",
            "coalitiion": "coalition",
            "xoalition": "coalition",
            "headlin": "headline",
            "grai": "grain",
        }
        for word, term in terms.items():
            assert engine.suggest([word, "grain", "nothinglikeit", "on", "zz", "z" * 60]) == {word: term}
        assert engine.suggest([]) == {}

    def test_a_window_has_1_to_10000_hits(self, engine: Engine) -> None:
        for size in (0, -1, 10_001):
            with pytest.raises(UsageError, match=f"{size} hits.*10000"):
                engine.search(parse_query("grain"), size)

    def test_the_view_of_a_ranking_leaves_out_what_was_written_later(self, engine: Engine) -> None:
        store(engine, record("a"), record("b"))
        first = engine.search(parse_query("grain"), 10)
        store(engine, record("aa"), record("c"))
        second_outcome = engine.search(parse_query("grain"), 10, first.view)
        assert (ids(second_outcome), second_outcome.total) == (["a", "b"], 2)
        assert ids(engine.search(parse_query("grain"), 10)) == ["a", "aa", "b", "c"]


class TestFetch:
    def test_documents_come_whole_and_in_the_order_asked(self, engine: Engine) -> None:
        full_record = record(
            "b",
            "Première page.\fSecond page, \U0001f33e.",
            title="Grain",
            date="1987-03",
            source="Reuters",
            url="https://example.org/b",
            language="fr",
            meta={"court": "9th Cir.", "pages": [1, 2], "nested": {"deep": None}},
        )
        store(engine, record("a"), full_record)
        entry = engine.fetch([(engine.index, "b"), (engine.index, "a")])
        assert [each.document for each in entry] == [full_record.document, record("a").document]
        assert [each.index for each in entry] == [engine.index] * 2
        assert [each.version for each in entry] == [1, 1]

    def test_a_document_that_names_its_version_names_the_one_seen_last(self, engine: Engine) -> None:
        first = record("a", version=1)
        store(engine, replace(first, document=replace(first.document, version=1)))
        store(engine, replace(first, document=replace(first.document, version=2), version=2))
        (entry,) = engine.fetch([(engine.index, "a")])
        assert (entry.version, entry.document.version) == (2, 2)

    def test_what_is_gone_or_elsewhere_is_left_out(self, engine: Engine) -> None:
        store(engine, record("a"))
        names = [(engine.index, "gone"), (engine.index, "a"), ("elsewhere", "a")]
        assert [each.document.id for each in engine.fetch(names)] == ["a"]

    def test_words_of_the_query_are_marked_in_snippet_and_title(self, engine: Engine) -> None:
        store(engine, record("a", f"{LONG}. The Grain prices rose. {LONG}", title="On grain and wheat"))
        (entry,) = engine.fetch([(engine.index, "a")], parse_query('"grain prices" OR wheat'))
        assert "[Grain prices] rose." in mark_words(" ".join(entry.snippets)).replace("] [", " ")
        assert "[wheat]" in mark_words(entry.title)
        store(engine, record("b", "They were elected in an election.", title="Elected"))
        (entry,) = engine.fetch([(engine.index, "b")], parse_query("text:elect*"))
        assert mark_words(entry.snippets[0]) == "They were [elected] in an [election]."
        assert mark_words(entry.title) == "Elected"

    def test_a_document_without_the_words_shows_its_beginning(self, engine: Engine) -> None:
        store(engine, record("a", f"In the beginning. {LONG}", title="Genesis"))
        for query in (parse_query("id:a"), None):
            (entry,) = engine.fetch([(engine.index, "a")], query)
            assert entry.snippets[0].startswith("In the beginning.")
            assert len(entry.snippets[0]) < 300
            assert entry.title == "Genesis"


class TestFind:
    def test_documents_are_found_by_each_class_of_values(self, engine: Engine) -> None:
        store(engine, record("b"), record("a"), record("other", LONG))
        values = read_values(record("b"))
        keys: list[LookupField] = ["content", "fingerprint", "profile", "bands"]
        for lookup in engine.find([SignatureLookup({field: values[field]}) for field in keys]):
            assert ids(lookup) == ["a", "b"]
            assert lookup.hits[0].packed == record("a").packed
            assert all(hit.order for hit in lookup.hits)

    def test_one_shared_value_is_enough(self, engine: Engine) -> None:
        store(engine, record("a"))
        bands = read_values(record("a"))["bands"]
        (lookup,) = engine.find(
            [SignatureLookup({"bands": ["ff0000000000", bands[7]], "profile": ["tp1:ffffffffffffffff"]})]
        )
        assert ids(lookup) == ["a"]

    def test_so_many_shared_values_are_asked_for(self, engine: Engine) -> None:
        store(engine, record("a", LONG))
        rare = read_values(record("a", LONG))["rare"]
        other_records = [f"0011{number:06x}" for number in range(20)]
        least: dict[LookupField, int] = {"rare": 5}
        for values, expected in ((rare[:5], ["a"]), (rare[:4] * 2, [])):
            assert ids(engine.find([SignatureLookup({"rare": values + other_records}, least)])[0]) == expected

    def test_the_document_that_asks_is_in_unless_it_is_named(self, engine: Engine) -> None:
        store(engine, record("a"), record("b"))
        with_itself, answer_without = engine.find(
            [SignatureLookup(read_values(record("a"))), SignatureLookup(read_values(record("a")), own_id="a")]
        )
        assert (ids(with_itself), ids(answer_without)) == (["a", "b"], ["b"])
        assert (with_itself.copies, answer_without.copies) == (2, 1)

    def test_each_search_has_its_answer(self, engine: Engine) -> None:
        store(engine, record("a", "one two three four five"), record("b", "six seven eight nine ten"))
        texts = ("six seven eight nine ten", "unheard of", "one two three four five")
        answers = engine.find([SignatureLookup(read_values(record("x", text))) for text in texts])
        assert [ids(each) for each in answers] == [["b"], [], ["a"]]
        assert engine.find([]) == []

    def test_what_is_over_the_limit_is_cut_and_named(self, engine: Engine) -> None:
        store(engine, *(record(f"d{number}") for number in range(8)))
        values = read_values(record("x"))
        bands, profile, both_fields = engine.find(
            [
                SignatureLookup({"bands": values["bands"]}, limit=8),
                SignatureLookup({"profile": values["profile"]}, limit=7),
                SignatureLookup({"bands": values["bands"], "profile": values["profile"]}, limit=3),
            ]
        )
        assert (len(bands.hits), list(bands.capped)) == (8, [])
        assert (len(profile.hits), list(profile.capped)) == (7, ["profile"])
        assert (len(both_fields.hits), sorted(both_fields.capped)) == (3, ["bands", "profile"])

        search = SignatureLookup({"profile": values["profile"]}, limit=7, own_id="d7")
        (lookup,) = engine.find([search])  # the document that asks takes no place of the limit
        assert (ids(lookup), list(lookup.capped)) == ([f"d{number}" for number in range(7)], [])
        (lookup,) = engine.find([SignatureLookup({"content": values["content"]}, limit=2)])  # never cut, but counted
        assert (len(lookup.hits), list(lookup.capped), lookup.copies) == (8, [], 8)

    def test_with_a_query_only_what_matches_it_and_its_filters_is_found(self, engine: Engine) -> None:
        store(
            engine, record("a", title="Chicago"), record("b", title="Kansas"), record("c", title="Kansas", source="AP")
        )
        search = SignatureLookup(read_values(record("a")), limit=1)
        assert ids(engine.find([search], parse_query("kansas", ["source=AP"]))[0]) == ["c"]
        (lookup,) = engine.find([search], parse_query("kansas"))
        assert (ids(lookup), lookup.copies, "bands" in lookup.capped) == (["b", "c"], 2, True)

    def test_a_document_that_was_written_again_is_found_by_its_new_values_only(self, engine: Engine) -> None:
        old, new = record("a"), record("a", "quite another text by now", version=2)
        store(engine, old)
        store(engine, new)
        by_old, by_new = engine.find([SignatureLookup(read_values(old)), SignatureLookup(read_values(new))])
        assert (ids(by_old), by_old.copies, ids(by_new)) == ([], 0, ["a"])

    def test_a_text_without_words_is_found_by_its_own_content_hash_alone(self, engine: Engine) -> None:
        empty = record('an "odd" id: 1*', "")
        store(engine, empty, record("other", ""))
        assert ids(engine.find([SignatureLookup(read_values(empty))])[0]) == ['an "odd" id: 1*']

    def test_a_value_that_no_engine_would_store_finds_nothing(self, engine: Engine) -> None:
        store(engine, record("a"))
        assert ids(engine.find([SignatureLookup({"bands": ['" OR *', "", "NEAR(", "fp1:\0"]})])[0]) == []

    def test_what_another_process_has_written_is_found(self, engine: Engine, address: str) -> None:
        other = open_engine(address, engine.index)
        for number in range(5):
            writer, reader = (engine, other) if number % 2 else (other, engine)
            store(writer, record(f"a{number}", f"story {number // 2} of grain prices in chicago"))
            names = [f"a{each}" for each in range(number + 1) if each // 2 == number // 2]
            search = SignatureLookup(
                {"content": read_values(record("x", f"story {number // 2} of grain prices in chicago"))["content"]}
            )
            for _ in range(3):
                assert ids(reader.find([search])[0]) == names
        other.close()


BOOKS = {"whole": book(*range(8)), "part": book(2, 3, 4), "other": book(*range(20, 26)), "note": "a short note"}


class TestLongSignatures:
    @pytest.fixture
    def shelf(self, engine: Engine) -> dict[str, Record]:
        records = {name: record(name, text) for name, text in BOOKS.items()}
        store(engine, *records.values())
        return records

    def test_those_of_named_documents_are_read_as_they_were_written(
        self, engine: Engine, shelf: dict[str, Record]
    ) -> None:
        names = [(engine.index, name) for name in ("part", "note", "gone", "whole", "part")] + [("elsewhere", "other")]
        assert engine.long_signatures(names) == {
            (engine.index, "part"): shelf["part"].long,
            (engine.index, "whole"): shelf["whole"].long,
        }
        assert engine.long_signatures([]) == {}

    @pytest.mark.parametrize("field", LONG_FIELDS)
    def test_a_book_is_found_by_what_a_part_of_it_carries(
        self, engine: Engine, shelf: dict[str, Record], field: LookupField
    ) -> None:
        (lookup,) = engine.find([SignatureLookup({field: read_values(shelf["part"])[field]}, own_id="part")])
        assert (ids(lookup), list(lookup.capped)) == (["whole"], [])

    def test_so_many_sampled_words_are_asked_for(self, engine: Engine, shelf: dict[str, Record]) -> None:
        of_part = read_values(shelf["part"])["sampled"]
        values = [value for value in read_values(shelf["whole"])["sampled"] if value not in of_part]
        for batch, expected in ((values[:1], []), (values[:2], ["whole"])):
            assert ids(engine.find([SignatureLookup({"sampled": batch}, {"sampled": 2})])[0]) == expected

    def test_a_page_that_very_many_carry_hides_nothing_else(self, engine: Engine) -> None:
        store(engine, *(record(name, book(0, number)) for number, name in enumerate("abcdefgh", 1)))
        (lookup,) = engine.find(
            [SignatureLookup({"profiles": read_values(record("x", book(0, 3, 5, 60)))["profiles"]}, limit=4)]
        )
        assert (ids(lookup), list(lookup.capped)) == (["c", "e"], ["profiles"])

    def test_only_what_matches_a_query_is_found(self, engine: Engine, shelf: dict[str, Record]) -> None:
        search = SignatureLookup({"profiles": read_values(shelf["part"])["profiles"]})
        assert ids(engine.find([search], parse_query(page(6).split()[0]))[0]) == ["whole"]

    def test_a_book_that_was_written_again_or_deleted_is_not_found_any_more(
        self, engine: Engine, shelf: dict[str, Record]
    ) -> None:
        search = SignatureLookup({"profiles": read_values(shelf["whole"])["profiles"]})
        store(engine, record("whole", book(*range(40, 48)), version=2))
        assert ids(engine.find([search])[0]) == ["part"]
        engine.delete(["part"], 2)
        engine.refresh()
        assert ids(engine.find([search])[0]) == []
        assert engine.long_signatures([(engine.index, "part")]) == {}

    def test_a_book_whose_version_was_raised_keeps_its_values(self, engine: Engine, shelf: dict[str, Record]) -> None:
        (outcome,) = store(engine, record("whole", BOOKS["whole"], version=5))
        assert outcome.status is WriteStatus.UNCHANGED
        (lookup,) = engine.find([SignatureLookup({"profiles": read_values(shelf["part"])["profiles"]}, own_id="part")])
        assert ids(lookup) == ["whole"]
        name = (engine.index, "whole")
        assert engine.long_signatures([name]) == {name: shelf["whole"].long}


class TestScan:
    def test_it_goes_through_all_in_the_order_of_writing(self, engine: Engine) -> None:
        store(engine, *(record(name) for name in ("c", "a", "b")))
        store(engine, record("a", "written again", version=2))
        store(engine, record("d"))
        for size in (1, 2, 3, 100):
            parts = list(engine.scan(size=size))
            assert [hit.id for part in parts for hit in part] == ["c", "b", "a", "d"]
            assert all(len(part) <= size for part in parts)
            assert parts[0][0].packed == record("c").packed

    def test_it_ends_though_every_document_is_written_again_meanwhile(self, engine: Engine) -> None:
        names = [f"d{number}" for number in range(6)]
        store(engine, *(record(name) for name in names))
        hit_ids = []
        for part in engine.scan(size=2):
            hit_ids += [hit.id for hit in part]
            store(engine, *(record(hit.id, "written again", version=2) for hit in part))
        assert hit_ids == names


class TestInfo:
    def test_it_counts_documents_unsigned_ones_and_tables(self, engine: Engine) -> None:
        german = record("c")
        german = replace(german, signatures=replace(german.signatures, idf="ffffffffffffffff"))
        store(engine, record("a"), record("b"), german, record("wordless", ""), replace(record("bare"), packed=b""))
        info = engine.info()
        assert (info.exists, info.documents, info.unsigned) == (True, 5, 2)
        assert list(info.schema) == [SCHEMA]
        assert info.tables["ffffffffffffffff"] == 1
        assert info.name

    def test_an_empty_index_has_no_schema_yet(self, engine: Engine) -> None:
        info = engine.info()
        assert (info.exists, info.documents, list(info.schema), dict(info.tables)) == (True, 0, [], {})
        assert list(engine.scan()) == []


MORNING, EVENING = "1987-03-17T09:30:00.250Z", "1987-03-17T22:15:00+02:00"


class TestDates:
    def test_dates_are_read_of_signed_and_unsigned_documents(self, engine: Engine) -> None:
        store(engine, record("a", date=MORNING), record("b"), replace(record("c", date="1987-03"), packed=b""))
        names = [(engine.index, name) for name in ("a", "b", "c", "never")]
        assert engine.run(engine.searching().dates(names)) == {names[0]: MORNING, names[2]: "1987-03"}

    def test_a_day_finds_the_times_of_that_day_in_utc(self, engine: Engine) -> None:
        late = record("late", date="1987-03-18T01:00:00+03:00")
        store(engine, record("a", date=MORNING), late, record("c", date="1987-03-18T00:00:00Z"))
        assert matching(engine, "grain", "date=1987-03-17") == ["a", "late"]
        assert matching(engine, "grain", "date=1987-03-18..") == ["c"]

    def test_documents_that_lack_a_field_are_found_by_no_value(self, engine: Engine) -> None:
        store(engine, record("a", date="1987", source="AP"), record("b", language=""))
        for name in ("date", "source", "language"):
            assert ids(engine.search(Query(filters=(Filter(name, ""),)), 10)) == ["b"]

    def test_stored_groups_are_ordered_by_time(self, engine: Engine) -> None:
        dates = {"day": "1987-03-17", "evening": EVENING, "morning": MORNING, "next": "1987-03-18", "none": ""}
        store(engine, *(record(name, f"grain {name}", date=date) for name, date in dates.items()))
        expected: dict[Order, list[str]] = {
            "newest": ["next", "evening", "morning", "day", "none"],
            "oldest": ["day", "morning", "evening", "next", "none"],
        }
        for order, names in expected.items():
            page = engine.run(engine.searching(parse_query("grain")).collapse(Place(0), 10, Collapsing(order=order)))
            assert [head.hit.id for head in page.heads] == names


class TestLedgers:
    def test_records_are_read_as_they_were_noted_last_in_the_order_of_keys(self, engine: Engine) -> None:
        engine.put_records("presets", {"b": {"read": 1}, "a": {"read": [1, {"é": None}], "ok": True}})
        engine.put_records("presets", {"b": {"read": 2}})
        engine.refresh()
        assert list(engine.get_records("presets")) == [
            ("a", {"read": [1, {"é": None}], "ok": True}),
            ("b", {"read": 2}),
        ]

    def test_a_prefix_chooses(self, engine: Engine) -> None:
        keys = ["run 1/a", "run 1/b", "run 10/a", "run_1/a", "RUN 1/a", "run 1"]
        engine.put_records("presets", {key: {} for key in keys})
        engine.refresh()
        assert [key for key, _ in engine.get_records("presets", "run 1/")] == ["run 1/a", "run 1/b"]
        assert engine.get_record("presets", keys[0]) is not None
        assert engine.get_record("presets", "run 1/") is None
        assert [key for key, _ in engine.get_records("presets")] == sorted(keys)

    def test_records_are_read_by_key_as_soon_as_they_are_noted_and_counted_without_being_read(
        self, engine: Engine
    ) -> None:
        assert engine.count("dead") == 0
        engine.put_records("dead", {"a": {"at": 1}, "b": {"at": 2}, "c": {}})
        engine.put_records("dead", {"b": {"at": 3}})
        assert engine.get_records_by_key("dead", ["b", "no", "a"]) == {"a": {"at": 1}, "b": {"at": 3}}
        assert engine.get_records_by_key("dead", []) == {}
        assert len(list(engine.get_records("dead"))) == 3
        assert (engine.count("dead"), engine.count("presets")) == (3, 0)

    def test_ledgers_and_indexes_are_apart(self, engine: Engine, address: str) -> None:
        other = open_engine(address, "other")
        other.create()
        engine.put_records("presets", {"a": {"in": "presets"}})
        engine.put_records("dead", {"a": {"in": "dead"}})
        engine.refresh()
        assert list(engine.get_records("presets")) == [("a", {"in": "presets"})]
        assert list(engine.get_records("overrides")) == []
        assert list(other.get_records("presets")) == []
        other.close()

    def test_striking_removes_and_counts_what_was_there(self, engine: Engine) -> None:
        engine.put_records("dead", {"a": {}, "b": {}, "c": {}})
        engine.refresh()
        assert engine.delete_records("dead", ["a", "c", "never"]) == 2
        engine.refresh()
        assert [key for key, _ in engine.get_records("dead")] == ["b"]

    def test_a_record_takes_the_place_of_the_very_one_that_was_read(self, engine: Engine) -> None:
        assert engine.read_record("runs", "a") == (None, None)
        first = engine.replace_record("runs", "a", {"at": 1}, None)
        assert first is not None
        assert engine.read_record("runs", "a") == ({"at": 1}, first)
        assert engine.replace_record("runs", "a", {"at": 2}, None) is None
        second = engine.replace_record("runs", "a", {"at": 3}, first)
        assert second not in (None, first)
        assert engine.replace_record("runs", "a", {"at": 4}, first) is None
        assert engine.read_record("runs", "a") == ({"at": 3}, second)
        engine.delete_records("runs", ["a"])
        assert engine.replace_record("runs", "a", {"at": 5}, second) is None
        assert engine.read_record("runs", "a") == (None, None)

    def test_records_that_are_still_as_they_were_read_are_removed_and_no_others(self, engine: Engine) -> None:
        keys = [f"{number:05}" for number in range(1_500)]
        engine.put_records("tombstones", {key: {"version": 1} for key in keys})
        engine.refresh()
        read = dict(engine.get_records("tombstones"))
        engine.put_records("tombstones", {keys[0]: {"version": 2}})
        engine.delete_records("tombstones", [keys[1]])
        assert engine.delete_unchanged("tombstones", read) == 1_498
        assert engine.delete_unchanged("tombstones", {}) == 0
        assert engine.get_records_by_key("tombstones", keys[:3]) == {keys[0]: {"version": 2}}

    def test_more_records_than_one_slice_are_all_read_and_others_may_be_noted_meanwhile(self, engine: Engine) -> None:
        engine.put_records("presets", {f"{number:05}": {"at": number} for number in range(2_500)})
        engine.refresh()
        numbers = []
        for key, entry in engine.get_records("presets"):
            numbers.append(entry["at"])
            if entry["at"] % 900 == 0:
                engine.put_records("dead", {key: {}})
        assert numbers == list(range(2_500))
        engine.refresh()
        assert [key for key, _ in engine.get_records("dead")] == ["00000", "00900", "01800"]
