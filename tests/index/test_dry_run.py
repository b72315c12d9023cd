"""A dry run shows what signing would find and writes nothing; texts in another language than they say are noticed."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from ibidem.index.groups import dry_run, index_groups
from ibidem.index.idf_build import MIN_JUDGED, ForeignShare, LanguageSampler, ReservoirSample, find_foreign
from ibidem_core.settings import Settings
from ibidem_dedupe.policy import Policy
from ibidem_engines.connect import open_engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from servers.indices import ask, remove_indices
from workers.conftest import fill

WORDS = [
    f"{first}{second}" for first in ("harvest", "tariff", "freight", "cotton") for second in ("", "s", "ed", "ing")
]


def text(position: int) -> str:
    return " ".join(WORDS[(position * 7 + 3 * place * place) % len(WORDS)] for place in range(80)) + f" {position}"


@pytest.fixture(params=[pytest.param("opensearch", marks=pytest.mark.server("opensearch"))])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    settings = Settings(
        engine=request.getfixturevalue(request.param),
        index=f"tried-{uuid4().hex}",
        tables=tmp_path / "tables",
        concurrency=1,
        patience=1,
    )
    Tables(settings.tables).use(Table.build("en", 10_000, {word: 10.0 + at for at, word in enumerate(WORDS)}, "a test"))
    yield settings
    remove_indices(settings.engine, settings.index)


DOCUMENTS = [
    *(Document(f"d{at}", text(at), f"Title {at}") for at in range(16)),
    *(Document(f"copy{at}", text(at).upper(), f"Copy {at}") for at in range(5)),
    *(Document(f"near{at}", text(at) + " and more", f"Near {at}") for at in range(5)),
]


@pytest.mark.slow
def test_the_groups_are_those_that_signing_gives_and_samples_show_what_differs(settings: Settings) -> None:
    fill(DOCUMENTS, settings)
    answer = dry_run(settings, Policy())
    engine = open_engine(settings.address, settings.index)
    expected = index_groups(engine).as_json({}) | {"largest": 0}
    engine.close()
    assert {name: answer[name] for name in expected} | {"largest": 0} == expected
    assert (answer["of"], answer["hidden"]) == (26, round(answer["duplicates"] / 26, 4))
    by_level = {
        level: [sample for sample in answer["samples"] if sample["level"] == level] for level in ("identical", "near")
    }
    assert [len(samples) for samples in by_level.values()] == [3, 3]
    assert all(not sample["difference"] for sample in by_level["identical"])
    assert all({"kind": "duplicate", "words": ["and", "more"]} in sample["difference"] for sample in by_level["near"])
    assert all(sample["title"] for sample in answer["largest"])


def test_an_index_of_others_stays_as_it_is(settings: Settings, opensearch: str) -> None:
    ask(opensearch, "DELETE", "/untouched?ignore_unavailable=true")
    mapping = {"dynamic": "strict", "properties": {"body": {"type": "text"}}}
    ask(opensearch, "PUT", "/untouched", json.dumps({"settings": {"number_of_shards": 2}, "mappings": mapping}))
    lines = [
        part
        for sample in DOCUMENTS
        for part in ({"index": {"_id": sample.id, "routing": sample.id[:2]}}, {"body": sample.text})
    ]
    lines += [{"index": {"_id": "none"}}, {}]
    ask(opensearch, "POST", "/untouched/_bulk?refresh=true", "".join(f"{json.dumps(line)}\n" for line in lines))
    answer_before = ask(opensearch, "GET", "/untouched")
    foreign_settings = settings.changed(engine=opensearch, index="untouched", fields="text=body,meta=")
    answer = dry_run(foreign_settings, Policy())
    assert (answer["documents"], answer["refused"], answer["sizes"]) == (26, 1, {"3": 5})
    assert len(answer["samples"]) == 6
    assert ask(opensearch, "GET", "/untouched") == answer_before
    ask(opensearch, "DELETE", "/untouched")


SENTENCE = "the court said that the rent was due and that the tenant had not paid it for a year of the lease "
GESAGT = "das gericht sagte dass die miete fällig war und der mieter sie seit einem jahr nicht bezahlt hatte und "
TABLE = Table.build("en", 1_000, dict.fromkeys(("the", "and", "that", "was", "had", "for", "not"), 500.0), "a test")


def texts(english: int, german: int) -> list[str]:
    return [SENTENCE * 9] * english + [GESAGT * 9] * german


@pytest.mark.parametrize(
    ("english", "german", "is_said"),
    [
        *((0, MIN_JUDGED, True), (8, 2, True), (1, 20, True)),
        *((9, 2, False), (20, 0, False), (0, MIN_JUDGED - 1, False), (0, 0, False)),
    ],
)
def test_a_fifth_of_the_documents_is_enough_to_say_so(english: int, german: int, is_said: bool) -> None:
    expected = ForeignShare("en", german, english + german) if is_said else None
    assert find_foreign("en", texts(english, german)) == expected


def test_all_items_are_passed_on_and_each_language_is_judged_by_its_own_table() -> None:
    sampler = LanguageSampler()
    items = [
        *(Document(f"a{at}", text) for at, text in enumerate(texts(0, 6))),
        *(Document(f"b{at}", text, language="de") for at, text in enumerate(texts(0, 6))),
        Refusal("docs.jsonl:13", "c", "text", "it is missing"),
    ]
    assert list(sampler.sample(items)) == items
    calls: list[str] = []

    def find_table(language: str) -> Table | None:
        calls.append(language)
        return TABLE if language == "en" else None

    assert sampler.find_foreign(find_table) == [ForeignShare("en", 6, 6)]
    assert calls == ["de", "en"]


def test_the_same_stream_draws_the_same_texts_and_each_place_has_its_chance() -> None:
    lots = [ReservoirSample(100), ReservoirSample(100)]
    for number in range(1_000):
        for lot in lots:
            lot.add(str(number))
    assert lots[0].texts == lots[1].texts
    tenths = Counter(int(text) // 100 for text in lots[0].texts)
    assert len(lots[0].texts) == 100
    assert len(tenths) == 10
    assert max(tenths.values()) < 30
