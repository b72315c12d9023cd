"""`ibidem groups` and `regroup`: all groups of the index, the figures that they are settled by, and their export."""

import csv
import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.text import Text

from cli.test_delete import ingest
from dedupe.test_collection import prose
from ibidem.cli.groups import report, write_rows
from ibidem.cli.regroup import stored_policy
from ibidem.grouped_search.api import index_policy
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import CLEAN, MISREAD
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import GroupCheckpoint, parse_policy
from ibidem_ingest.document import Document
from ibidem_workers.batches import records
from ibidem_workers.groups.follower import regroup, settle_all
from support.books import misread_text
from support.command_line import Answer, Run
from support.general_tables import general_tables


def test_values_that_too_many_long_texts_carry_are_named(answer: Answer) -> None:
    output = answer("groups")
    assert output["capped"] == {}
    printed = [part.plain for part in report(output | {"capped": {"page_bands": 11}}) if isinstance(part, Text)]
    assert "Values shared by over 100 long texts were skipped as forms: 11 page_bands" in printed


def test_stored_groups_are_exported_group_by_group_with_what_joined_each(run: Run) -> None:
    assert run("groups", "--stored", "--export", "stored.csv")[0] == 0
    head, *lines = Path("stored.csv").read_text(encoding="utf-8").splitlines()
    assert head == "lead,index,id,size,evidence"
    assert [line.split(",")[4] for line in lines] == ["", "content", "minhash"]


@pytest.mark.parametrize("name", ["groups.csv", "groups.jsonl"])
def test_groups_are_exported_a_document_a_line(run: Run, name: str) -> None:
    assert run("groups", "--export", name)[0] == 0
    lines = Path(name).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3 + name.endswith("csv")
    assert "draft" in lines[-1]


@pytest.mark.slow
def test_all_groups_are_settled_by_the_rule_of_the_collection_unless_figures_are_named(engine: Engine) -> None:
    texts = [prose(seed) for seed in range(250)]
    engine.write(
        list(records([Document(str(at), text, language="en") for at, text in enumerate(texts)], general_tables()))
    )
    settle_all(engine)
    clean = GroupCheckpoint.read(engine)
    assert (clean.origin, parse_policy(clean.policy)) == ("collection", CLEAN)
    assert index_policy(engine, {}, PRESETS) == parse_policy(clean.policy)
    read_twice, scan = prose(300), misread_text(texts[0], 0.3)
    new = {"scan": scan, "second scan": misread_text(read_twice, 0.3), "second text": read_twice}
    engine.write(list(records([Document(name, text, language="en") for name, text in new.items()], general_tables())))
    settle_all(engine)
    assert GroupCheckpoint.read(engine).joined == {"near": 2}, "a scan is found in clean text, before and after copies"
    scans = [Document(f"scan {at}", misread_text(text, 0.3), language="en") for at, text in enumerate(texts)]
    engine.write(list(records(scans, general_tables())))
    assert parse_policy(regroup(engine, everything=True).policy) == MISREAD
    named = regroup(engine, everything=True, policy=PRESETS["law"].policy)
    assert parse_policy(regroup(engine, everything=True).policy) == parse_policy(named.policy)
    assert regroup(engine, everything=True, policy=stored_policy({"dedupe_preset": "none"})).origin == "collection"


@pytest.mark.slow
def test_scans_are_found_in_a_language_without_a_list_of_words(
    run: Run, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IBIDEM_INDEX", "basque")
    texts = {f"text {at}": prose(at, 350) for at in range(300)}
    rng = random.Random(1)  # noqa: S311 - made-up data keeps no secret
    for at in range(40):
        words = [each[0] + "".join(rng.choices("qxzjwyvk", k=4)) + each[5:] for each in texts[f"text {at}"].split()]
        pairs = zip(words, texts[f"text {at}"].split(), strict=True)
        texts[f"scan {at}"] = " ".join(misread if rng.random() < 0.25 else word for misread, word in pairs)
    ingest(run, texts, language="eu")
    assert answer("groups", "--stored")["sizes"] == {"2": 40}
    Path("labels.csv").write_text(
        "\n".join(["id,cluster", *(f"{name},{name.split()[1]}" for name in texts)]), encoding="utf-8"
    )
    assert answer("evaluate", "texts.jsonl", "labels.csv")["pairs"]["f1"] == 1.0


def test_the_owner_of_an_index_sets_the_window_for_searches_that_name_no_way(run: Run, answer: Answer) -> None:
    assert answer("search", "deed")["dedupe"]["by"] == "stored"
    assert "no other option" in run("regroup", "--by", "window", "--all")[2]
    assert run("regroup", "--by", "window")[0] == 0
    account = answer("search", "deed")["dedupe"]
    assert (account["by"], account["why"]) == ("window", "the index is set to window")
    assert answer("search", "deed", "--by", "stored")["dedupe"]["by"] == "stored"
    assert answer("regroup", "--by", "auto") == {"by": "auto"}
    assert answer("search", "deed")["dedupe"]["by"] == "stored"


@dataclass(frozen=True)
class Row:
    id: str
    others: list[str]
    score: float


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\n=1", " =1", "\ufeff=1"]
FORMULAS += ["\N{FULLWIDTH EQUALS SIGN}1", "\N{FULLWIDTH PLUS SIGN}1"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_string_that_looks_like_a_formula_begins_with_an_apostrophe(formula: str, tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.csv", [Row(formula, [formula, "a"], -1.5)], Row)
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["id", "others", "score"], [f"'{formula}", f"'{formula} a", "-1.5"]]


def test_other_figures_hold_for_all_groups_and_for_the_searches_that_use_them(run: Run, answer: Answer) -> None:
    code, _, err = run("regroup", "--preset", "law")
    assert (code, "add --all to start over: ibidem regroup --all" in err) == (2, True)
    assert answer("regroup", "--all", "--preset", "law")["groups"] == answer("groups", "--stored")["groups"]
    assert answer("search", "deed", "--by", "stored", "--preset", "law")["dedupe"]["by"] == "stored"
    code, _, err = run("search", "deed", "--by", "stored", "--preset", "news")
    assert (code, "groups are stored with different figures" in " ".join(err.split())) == (2, True)
