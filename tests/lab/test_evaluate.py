"""`ibidem evaluate` and `tune`: figures as the books count them, the worst mistakes, and rules chosen on labels."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.test_delete import ingest
from dedupe.test_collection import prose
from ibidem_dedupe.collection import choose_policy
from ibidem_dedupe.policy import CLEAN
from ibidem_engines.connect import open_engine
from ibidem_engines.stored_groups import SeqNoRange, ShardRef
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_lab.evaluate import PairFigures, adjusted_rand, evaluate, found_evidence, sign_collection
from ibidem_lab.labels import Labels, Pair, parse_condition
from ibidem_lab.tune import MIN_SETS, Tuning, choose_figures
from ibidem_lab.tune_command import outcome
from ibidem_workers.batches import records
from ibidem_workers.groups.follower import settle_all
from support.books import misread_text
from support.command_line import Answer, Run
from support.general_tables import general_tables

TEXT = "the quick brown fox jumps over the lazy dog and runs far away into the dark wood"
DOCS = [
    Document("a", TEXT, source="AP", meta={"kind": "story", "topics": ["fox", "dog"]}),
    Document("b", TEXT.upper(), source="AP", meta={"kind": "story"}),
    Document("c", f"{TEXT} again", meta={"kind": "brief"}),
    Document("d", "something quite different was said by nobody at all on that long day", source="AP"),
]


@pytest.fixture
def clusters(tmp_path: Path) -> Labels:
    path = tmp_path / "clusters.tsv"
    path.write_text("id\tcluster\na\t1\nb\t1\nc\t1\nd\t2\nz\t2\n")
    return Labels.read(path)


def test_the_same_id_twice_and_no_documents_at_all_are_refused(clusters: Labels, tables: Tables) -> None:
    with pytest.raises(UsageError, match="'a' occurs twice"):
        evaluate([DOCS[0], DOCS[0]], clusters, tables)
    with pytest.raises(UsageError, match="no documents"):
        evaluate([], clusters, tables)


PARTITIONS = st.lists(st.integers(0, 4), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("true", "pairs", "figures"),
    [
        ({"ab", "ac", "cd", "ef"}, {"ab", "xy"}, (0.5, 0.25, 0.3333)),
        (set(), set(), (1.0, 1.0, 0.0)),
        ({"ab"}, set(), (1.0, 0.0, 0.0)),
        (set(), {"ab"}, (0.0, 1.0, 0.0)),
    ],
)
def test_precision_recall_and_f1_are_those_of_the_books_and_nothing_found_is_never_wrong(
    true: set[str], pairs: set[str], figures: tuple[float, float, float]
) -> None:
    measured = PairFigures.measure({(a, b) for a, b in true}, {(a, b) for a, b in pairs})
    assert measured == PairFigures(len(true), len(pairs), *figures)


def pairs_together(parts: list[int]) -> set[tuple[int, int]]:
    return {(a, b) for a in range(len(parts)) for b in range(a) if parts[a] == parts[b]}


@given(PARTITIONS, st.data())
def test_the_adjusted_rand_index_is_that_of_counting_all_pairs(a: list[int], data: st.DataObject) -> None:
    b = data.draw(st.lists(st.integers(0, 4), min_size=len(a), max_size=len(a)))
    left, right, every = pairs_together(a), pairs_together(b), len(a) * (len(a) - 1) / 2
    expected = len(left) * len(right) / every if every else 0.0
    highest = (len(left) + len(right)) / 2
    index = 1.0 if highest == expected else (len(left & right) - expected) / (highest - expected)
    assert adjusted_rand(a, b) == pytest.approx(index, abs=1e-4)


PAIRS = "a\tb\tjac5\twords\n1\t2\t0.5\t60\n2\t1\t0.9\t60\n1\t3\t0.49\t80\n1\t9\t1.0\t80\n2\t2\t1.0\t9\n"


def labels(folder: Path, text: str) -> Path:
    path = folder / "labels.tsv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("condition", "pairs"),
    [
        ("", {("1", "2"), ("1", "3")}),
        ("jac5>=0.5", {("1", "2")}),
        ("jac5 < 0.5 and words >= 80", {("1", "3")}),
        ("words>80", set()),
    ],
)
def test_a_listed_pair_of_known_documents_counts_when_it_fulfils_the_condition(
    tmp_path: Path, condition: str, pairs: set[tuple[str, str]]
) -> None:
    assert Labels.read(labels(tmp_path, PAIRS), condition).pairs(["1", "2", "3"]) == pairs


@pytest.mark.parametrize(
    ("text", "condition", "why"),
    [
        ("", "", "is empty"),
        ("name\tgroup\n", "", "are not those of labels"),
        ("a\tb\tjac5\n1\t2\n", "", r"labels.tsv:2: 2 columns"),
        ("a\tb\tjac5\n1\t2\thigh\n", "jac5>=0.5", "jac5 is 'high'"),
        (PAIRS, "jaccard>=0.5", "no column 'jaccard'; its columns are a, b, jac5, words"),
        ("id\tcluster\n1\tx\n", "jac5>=0.5", "leave --positive out"),
        ("a\tb\n7\t8\n", "", "none of these 2 documents"),
    ],
)
def test_labels_that_cannot_be_read_are_refused_with_what_is_wrong(
    tmp_path: Path, text: str, condition: str, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        Labels.read(labels(tmp_path, text), condition).pairs(["1", "2"])


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        Labels.read(tmp_path / "none.tsv")


@pytest.mark.parametrize("typed", ["jac5", "jac5 ~ 1", "jac5>=high", "jac5>=0.5 or words>1", "and"])
def test_a_condition_that_is_not_understood_is_refused(typed: str) -> None:
    with pytest.raises(UsageError, match="not valid"):
        parse_condition(typed)


@pytest.mark.parametrize("table", ["a,b,duplicate\nx,y,1\ny,x,0\nx,z,1\n", "id,cluster\nx,1\ny,1\nx,2\nz,2\n"])
def test_labels_that_contradict_each_other_are_named(tmp_path: Path, table: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(table, encoding="utf-8")
    condition = "duplicate>=1" if "duplicate" in table else ""
    with pytest.raises(UsageError, match=r"contradict each other about 'x'.*labels\.csv:2 and .*labels\.csv:[34]"):
        Labels.read(path, condition).pairs(["x", "y", "z"])


@pytest.mark.slow
@pytest.mark.parametrize("misread", [0.0, 0.3])
def test_evaluate_finds_the_pairs_that_are_stored(tmp_path: Path, misread: float) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "news")
    engine.create()
    texts = [misread_text(prose(seed), misread) for seed in range(250)]
    texts += [f"{misread_text(prose(seed), misread)} more" for seed in range(40)]
    documents = [Document(f"{at:03}", text, language="en") for at, text in enumerate(texts)]
    engine.write(list(records(documents, general_tables())))
    settle_all(engine)
    collection = sign_collection(documents, general_tables())
    expected = set(found_evidence(collection, choose_policy(collection.columns)))
    store = engine.groups()
    names: dict[str, list[str]] = {}
    for each in store.documents(SeqNoRange(ShardRef("news"), 0, 10_000), 1_000):
        names.setdefault(each.group, []).append(each.name.id)
    engine.close()
    assert {pair for members in names.values() for pair in combinations(sorted(members), 2)} == expected
    assert len(expected) >= 40


SETS = 40


def text(rng: random.Random, words: int) -> list[str]:
    return ["".join(rng.choices("abcdefghiklmnoprstuv", k=7)) for _ in range(words)]


def pairs_with(common: float, name: str, count: int = SETS) -> list[Document]:
    """Pairs of texts of 200 words that have a share of them in common."""
    rng = random.Random(name)  # noqa: S311 - made-up data keeps no secret
    documents = []
    for at in range(count):
        first = text(rng, 200)
        second = [*first[: int(200 * common)], *text(rng, 200 - int(200 * common))]
        documents += [Document(f"{name}{at}a", " ".join(first)), Document(f"{name}{at}b", " ".join(second))]
    return documents


def labelled(documents: Sequence[Document]) -> set[Pair]:
    return {(document.id, other.id) for document, other in zip(documents[::2], documents[1::2], strict=True)}


def said(tuning: Tuning, save: str = "") -> str:
    return "\n".join(line.plain for line in outcome(tuning, save))


def test_pairs_that_are_no_duplicates_though_much_alike_raise_the_similarity(tables: Tables) -> None:
    copies, forms = pairs_with(0.97, "copy"), pairs_with(0.78, "notice")
    choice = choose_figures(sign_collection([*copies, *forms], tables), labelled(copies), set())
    assert choice.choice != "default"
    assert choice.chosen.similarity > 66
    assert choice.curve[66].precision < 0.8 < choice.curve[choice.chosen.similarity].precision


@pytest.mark.slow
def test_the_default_is_the_rule_of_the_collection_and_stays_where_others_are_worse_in_a_fold() -> None:
    texts = [prose(seed) for seed in range(200)]
    documents = [Document(f"{at}{side}", text, language="en") for at, text in enumerate(texts) for side in "ab"]
    choice = choose_figures(sign_collection(documents, general_tables()), labelled(documents), set())
    assert (choice.rule, choice.choice, choice.policy) == (CLEAN, "default", CLEAN)
    better = replace(choice, expected=replace(choice.expected, f1=2.0))
    assert (better.choice, replace(better, is_steady=False).choice) == ("thresholds", "default")


def test_too_few_sets_are_refused(tables: Tables) -> None:
    few = pairs_with(0.9, "copy", MIN_SETS - 1)
    with pytest.raises(UsageError, match="too few"):
        choose_figures(sign_collection(few, tables), labelled(few), set())


def test_a_sample_chooses_more_strictly_where_the_whole_has_more_pairs_that_are_no_duplicates(tables: Tables) -> None:
    rewritten, forms = pairs_with(0.66, "law"), pairs_with(0.55, "form", 12)
    collection = sign_collection([*rewritten, *forms], tables)
    alone = choose_figures(collection, labelled(rewritten), set())
    sample = choose_figures(collection, labelled(rewritten), set(), collection_size=100 * len(collection.ids))
    assert sample.chosen.similarity >= alone.chosen.similarity
    assert sample.default.precision <= alone.default.precision


def test_a_rule_is_learned_and_recommended_only_where_it_wins(tables: Tables) -> None:
    rewritten = pairs_with(0.6, "law")
    forms = pairs_with(0.45, "form")
    choice = choose_figures(sign_collection([*rewritten, *forms], tables), labelled(rewritten), set(), learn=True)
    assert choice.learned
    assert choice.learned.expected.f1 > 0.9
    known = max(choice.default.f1, choice.expected.f1)
    assert (choice.choice == "learned") == (choice.learned.expected.f1 > known)
    assert (choice.policy.learned is not None) == (choice.choice == "learned")


def test_labels_of_unknown_documents_are_listed_and_the_rest_is_measured(run: Run) -> None:
    ingest(run, {"a": "a deed of gift", "b": "a deed of gift"})
    Path("labels.csv").write_text("id,cluster\na,1\nb,1\nlost,1\n", encoding="utf-8")
    code, out, _ = run("evaluate", "texts.jsonl", "labels.csv")
    assert code == 3
    assert "1 id in the labels that no document has: 'lost'" in out
    assert "F1 1.000" in out


def test_each_kind_of_evidence_tells_how_many_pairs_it_joins_and_how_many_rightly(run: Run, answer: Answer) -> None:
    words = " ".join(f"clause{chr(97 + at)}" for at in range(20))
    ingest(run, {"a": words, "b": words.upper(), "c": f"{words} more"})
    Path("labels.csv").write_text("id,cluster\na,1\nb,1\nc,2\n", encoding="utf-8")
    output = answer("evaluate", "texts.jsonl", "labels.csv")["evidence"]
    assert output == {"minhash": {"found": 2, "right": 0}, "content": {"found": 1, "right": 1}}
    assert "five-word runs): 2 pairs, 0 right" in run("evaluate", "texts.jsonl", "labels.csv")[1]


def test_the_worst_mistakes_are_shown(run: Run) -> None:
    ingest(run, {"a": "a deed of gift", "b": "another letter"})
    Path("labels.csv").write_text("id,cluster\na,1\nb,1\n", encoding="utf-8")
    assert "missed  a and b" in run("evaluate", "texts.jsonl", "labels.csv")[1]


@pytest.mark.slow
@pytest.mark.parametrize("says", [{"language": "en"}, {}])
def test_documents_in_another_language_than_they_say_are_warned_about_and_a_missing_one_is_detected(
    run: Run, says: dict[str, str]
) -> None:
    words = "das gericht sagte dass die miete fällig war und der mieter sie seit einem jahr nicht bezahlt hatte"
    lines = [json.dumps({"id": f"d{at}", "text": f"{words} " * 9} | says) for at in range(6)]
    Path("german.jsonl").write_text("\n".join(lines), encoding="utf-8")
    Path("labels.csv").write_text("id,cluster\nd0,1\nd1,1\nd2,2\n", encoding="utf-8")
    code, out, message = run("evaluate", "german.jsonl", "labels.csv", "--json")
    foreign = [{"language": "en", "documents": 6, "sampled": 6}] if says else []
    warning = "6 of 6 sampled documents of language 'en' are in another language: give each document its `language`"
    assert (code, json.loads(out)["foreign"]) == (0, foreign)
    assert (warning in " ".join(message.split())) == bool(says)


@pytest.fixture
def rewritten(run: Run) -> None:
    """Thirty pairs of texts that have six tenths in common, with labels; the first pair is in the index."""
    documents = pairs_with(0.65, "law", 30)
    ingest(run, {each.id: each.text for each in documents})
    Path("labels.csv").write_text("\n".join(["id,cluster", *(f"{each.id},{each.id[:-1]}" for each in documents)]))


@pytest.mark.slow
@pytest.mark.usefixtures("rewritten")
def test_the_curve_is_printed_and_the_choice_next_to_the_default(run: Run) -> None:
    code, out, _ = run("tune", "texts.jsonl", "labels.csv")
    assert code == 0
    assert "60 documents, 60 with labels, 30 pairs of duplicates in 30 sets" in out
    assert len([line for line in out.splitlines() if line.strip()[:2].isdigit()]) > 10
    assert "Better than the default: --similarity" in out


@pytest.mark.slow
@pytest.mark.usefixtures("rewritten")
def test_the_choice_is_kept_with_the_index_and_asked_for_by_its_name(run: Run, answer: Answer) -> None:
    output = answer("tune", "texts.jsonl", "labels.csv", "--save", "leases")
    assert (output["improves"], output["saved"]) == (True, "leases")
    assert output["expected"]["f1"] > output["default"]["f1"] + 0.2
    similarity = output["chosen"]["similarity"]
    for command in (["groups"], ["evaluate", "texts.jsonl", "labels.csv"]):
        default_evidence, preset_evidence = (answer(*command, *options) for options in ([], ["--preset", "leases"]))
        noun = "pairs" if "pairs" in preset_evidence else "duplicates"
        assert preset_evidence[noun] != default_evidence[noun]
        if command == ["groups"]:
            assert preset_evidence[noun] == answer("groups", "--similarity", str(similarity))[noun]
    assert answer("search", "x OR " + "a" * 7, "--preset", "leases")["dedupe"]["level"] == "near"
