"""`ibidem search`: a grouped list for people, the response for programs."""

import json
import shutil
from pathlib import Path

import pytest

from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from support.command_line import Answer, Run
from support.leases import LEASE


def test_a_search_shows_the_duplicates_indented_under_their_lead(run: Run) -> None:
    code, out, _ = run("search", "drains")
    assert code == 0
    assert " 1  Lease: rent, roof, *drains*" in out
    assert (
        "    └ Lease (copy)\n      2001-05-02 · Registry · copy\n      identical: the same words in the same order"
        in out
    )
    assert "    └ Lease (draft)" in out
    assert "differs: … courts of [London → York] have sole …" in out
    assert out.endswith("1 group in 3 results; showing 1–1\n")  # noqa: RUF001 - a range


def test_of_a_large_group_three_duplicates_are_printed_and_a_program_gets_all(
    run: Run, answer: Answer, tmp_path: Path
) -> None:
    copies = [json.dumps({"id": f"copy-{number}", "text": LEASE}) for number in range(9)]
    (tmp_path / "copies.jsonl").write_text("\n".join(copies), encoding="utf-8")
    run("ingest", "copies.jsonl")
    _, out, _ = run("search", "London")
    assert out.count("└") == 3
    assert "+ 7 more duplicates, shown with --max-per-group\n" in out
    assert run("search", "London", "--max-per-group", "10")[1].count("└") == 10
    assert run("search", "London", "--window", "2")[1].count("└") == 2
    assert len(answer("search", "London")["hits"]["hits"]) == 11


def test_a_collapsed_search_counts_the_duplicates(run: Run) -> None:
    _, out, _ = run("search", "drains", "--dedupe", "collapse")
    assert "+ 2 duplicates" in out
    assert "Lease (copy)" not in out


def test_a_search_without_dedupe_is_the_plain_list(run: Run) -> None:
    _, out, _ = run("search", "drains", "--dedupe", "off")
    assert [number in out for number in (" 1  ", " 2  ", " 3  ")] == [True] * 3
    assert "└" not in out


def test_keep_chooses_the_lead(answer: Answer) -> None:
    found = answer("search", "drains", "--keep", "source:Registry")
    assert found["hits"]["hits"][0]["_id"] == "copy"


def test_the_response_for_programs_explains_only_when_asked(answer: Answer) -> None:
    plain = answer("search", "drains")["hits"]["hits"][1]["_dedupe"]
    told = answer("search", "drains", "--explain")["hits"]["hits"][1]["_dedupe"]
    assert plain["why"] is None
    assert told["why"]["signature"] == "content"


def test_a_typing_error_is_answered_with_a_spelling_of_the_index(run: Run, answer: Answer) -> None:
    _, out, _ = run("search", "title:reminderr", "AND", "Sir")
    assert "did you mean: title:reminder AND Sir\n" in out
    assert answer("search", "title:reminderr")["dedupe"]["did_you_mean"] == "title:reminder"
    assert answer("search", "title:reminder")["dedupe"]["did_you_mean"] == ""


def test_a_spelling_that_finds_nothing_is_not_offered(answer: Answer) -> None:
    assert answer("search", "reminderr drains")["dedupe"]["did_you_mean"] == ""


def test_what_is_not_understood_in_a_query_is_named(run: Run, answer: Answer) -> None:
    _, out, _ = run("search", "drains", "author:smith")
    assert "author:smith: there is no field 'author'; searched as words" in out
    (note,) = answer("search", "drains~2")["dedupe"]["not_understood"]
    assert note.startswith("drains~2")


def test_only_what_an_older_table_signed_is_counted_as_such(
    run: Run, answer: Answer, tmp_path: Path, tables_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own tables"
    shutil.copytree(tables_folder, own)
    monkeypatch.setenv("IBIDEM_TABLES", str(own))
    words = ["mietvertrag", "wohnung", "vermieter", "drains"]
    Tables(own).use(Table.of("de", 10_000, dict.fromkeys(words, 10.0), "a test"))
    german = [{"id": f"de-{number}", "text": f"{' '.join(words)} {number}", "language": "de"} for number in (1, 2)]
    (tmp_path / "german.jsonl").write_text("\n".join(map(json.dumps, german)), encoding="utf-8")
    run("ingest", "german.jsonl")
    assert answer("search", "drains")["dedupe"]["mixed_tables"] == 0
    Tables(own).use(Table.of("de", 20_000, dict.fromkeys(words, 20.0), "a newer test"))
    assert answer("search", "drains")["dedupe"]["mixed_tables"] == 2
    assert "2 signed with another idf table" in run("search", "drains")[1]


def test_a_filter_keeps_what_it_names(answer: Answer) -> None:
    assert answer("search", "rent", "--filter", "source=Registry")["hits"]["total"]["value"] == 1


def test_a_search_in_an_index_that_is_not_there_names_the_command_that_makes_it(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("IBIDEM_INDEX", "nothing")
    code, out, err = run("search", "drains")
    assert (code, out) == (1, "")
    assert "ibidem ingest" in err


def test_a_setting_that_is_not_known_is_a_wrong_use(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("IBIDEM_ENGIN", "sqlite:///x")
    code, _, err = run("search", "drains")
    assert code == 2
    assert "IBIDEM_ENGINE" in err
