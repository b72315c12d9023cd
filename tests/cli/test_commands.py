"""Each command on a small index: what it prints for people, what for programs, and how it leaves."""

import json
from io import StringIO
from pathlib import Path

import pytest

from .conftest import Run


def answer(run: Run, *arguments: str) -> dict:
    """Run a command with --json; its standard output is one JSON document and nothing else."""
    _, out, _ = run(*arguments, "--json")
    return json.loads(out)


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
    assert out.endswith("3 documents match; 3 examined; 1 group; showing 1–1\n")  # noqa: RUF001 - a range


def test_a_collapsed_search_counts_the_duplicates(run: Run) -> None:
    _, out, _ = run("search", "drains", "--dedupe", "collapse")
    assert "+ 2 duplicates" in out
    assert "Lease (copy)" not in out


def test_a_search_without_dedupe_is_the_plain_list(run: Run) -> None:
    _, out, _ = run("search", "drains", "--dedupe", "off")
    assert [number in out for number in (" 1  ", " 2  ", " 3  ")] == [True] * 3
    assert "└" not in out


def test_keep_chooses_the_lead(run: Run) -> None:
    found = answer(run, "search", "drains", "--keep", "source:Registry")
    assert found["hits"]["hits"][0]["_id"] == "copy"


def test_the_response_for_programs_explains_only_when_asked(run: Run) -> None:
    plain = answer(run, "search", "drains")["hits"]["hits"][1]["_dedupe"]
    told = answer(run, "search", "drains", "--explain")["hits"]["hits"][1]["_dedupe"]
    assert plain["why"] is None
    assert told["why"]["signature"] == "content"


def test_a_filter_keeps_what_it_names(run: Run) -> None:
    assert answer(run, "search", "rent", "--filter", "source=Registry")["hits"]["total"]["value"] == 1


def test_status_tells_how_the_last_run_stands_and_leaves_with_three_when_some_were_refused(run: Run) -> None:
    code, out, _ = run("status")
    assert code == 3
    assert "5  indexed" in out
    assert "docs.jsonl:6" in out
    found = answer(run, "status")
    assert found["read"] == found["indexed"] + found["unchanged"] + found["stale"] + found["refused"]
    assert found["duplicates"] == {"identical": 1, "near": 1}


def test_status_of_an_unknown_run_is_a_wrong_use(run: Run) -> None:
    assert run("status", "nosuch")[0] == 2


def test_compare_of_two_ids_shows_every_signal_and_the_text_they_share(run: Run) -> None:
    code, out, _ = run("compare", "lease", "draft")
    assert code == 0
    assert "[London → York]" in out
    found = answer(run, "compare", "lease", "draft")
    assert found["level"] == "near"
    assert found["signals"]["content"] == {"equal": False}
    assert [region["words"] for region in found["shared"]] == sorted(
        (region["words"] for region in found["shared"]), reverse=True
    )


def test_compare_takes_two_files_too(run: Run) -> None:
    Path("a.txt").write_text("The appeal is dismissed with costs.", encoding="utf-8")
    Path("b.txt").write_text("the appeal IS dismissed,\nwith costs", encoding="utf-8")
    assert answer(run, "compare", "a.txt", "b.txt")["level"] == "identical"


@pytest.mark.parametrize(("a", "b"), [("lease", "nosuch"), ("docs.jsonl", "docs.jsonl")])
def test_compare_of_what_is_not_two_documents_is_a_wrong_use(run: Run, a: str, b: str) -> None:
    assert run("compare", a, b)[0] == 2


def test_delete_asks_and_leaves_all_as_it_is_without_an_answer(run: Run, monkeypatch) -> None:
    for said, left in (("n\n", 0), ("", 2)):
        monkeypatch.setattr("sys.stdin", StringIO(said))
        code, _, err = run("delete", "letter")
        assert code == left
        assert "A reminder" in err
    assert answer(run, "search", "reminder")["hits"]["total"]["value"] == 1


def test_a_takedown_deletes_the_identical_copies_too(run: Run) -> None:
    assert sorted(answer(run, "delete", "lease", "--identical", "--yes")["ids"]) == ["copy", "lease"]
    assert answer(run, "search", "drains")["hits"]["total"]["value"] == 1


def test_a_takedown_of_an_unknown_document_deletes_nothing(run: Run) -> None:
    assert run("delete", "lease", "nosuch", "--identical", "--yes")[0] == 2
    assert answer(run, "search", "drains")["hits"]["total"]["value"] == 3


def test_a_readers_word_keeps_a_pair_apart_until_it_is_taken_back(run: Run) -> None:
    said = answer(run, "overrides", "add", "lease", "draft", "--reason", "other courts", "--author", "J. Doe")
    assert said["overrides"][0]["verdict"] == "not"
    assert answer(run, "search", "drains")["dedupe"]["groups"]["in_window"] == 2
    assert "other courts" in run("overrides", "list")[1]
    run("overrides", "remove", "draft", "lease")
    assert answer(run, "search", "drains")["dedupe"]["groups"]["in_window"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("overrides", "add", "lease", "nosuch"),
        ("overrides", "add", "lease", "lease"),
        ("overrides", "add", "lease", "draft", "--as", "perhaps"),
        ("overrides", "remove", "lease", "letter"),
    ],
)
def test_a_word_on_what_is_no_pair_is_a_wrong_use(run: Run, arguments: tuple[str, ...]) -> None:
    assert run(*arguments)[0] == 2


def test_dead_letters_are_none_at_first_and_named_ones_have_to_be_there(run: Run) -> None:
    assert answer(run, "dead", "list") == {"dead": []}
    assert "No dead letters" in run("dead", "list")[1]
    assert run("dead", "show", "nosuch")[0] == 2
    assert run("dead", "drop")[0] == 2
    assert run("dead", "retry", "nosuch")[0] == 2


def test_doctor_shows_every_setting_with_its_origin_and_what_answers(run: Run) -> None:
    code, out, _ = run("doctor")
    assert code == 0
    assert "NOT OK" not in out
    found = answer(run, "doctor")
    origins = {one["name"]: one["origin"] for one in found["settings"]}
    assert origins["IBIDEM_TABLES"] == "environment"
    assert origins["IBIDEM_INDEX"] == "default"
    assert {check["name"] for check in found["checks"]} >= {
        "engine",
        "index",
        "broker",
        "workers",
        "tables",
        "unsigned",
    }


def test_doctor_says_what_to_do_about_an_engine_that_cannot_be_used(run: Run, monkeypatch) -> None:
    Path("not-a-database").write_text(
        "something else, long enough to be read as a header of a file" * 20, encoding="utf-8"
    )
    monkeypatch.setenv("IBIDEM_ENGINE", "sqlite:///not-a-database")
    code, out, _ = run("doctor")
    assert code == 1
    assert "NOT OK" in out
    assert "name another file in IBIDEM_ENGINE" in " ".join(out.split())


def test_evaluate_measures_against_labels(run: Run) -> None:
    Path("good.jsonl").write_text(
        "".join(line for line in Path("docs.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[:5]),
        encoding="utf-8",
    )
    Path("labels.csv").write_text("id,cluster\nlease,1\ncopy,1\ndraft,1\nletter,2\n", encoding="utf-8")
    found = answer(run, "evaluate", "good.jsonl", "labels.csv")
    assert found["pairs"] == {"true": 3, "found": 3, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert "F1 1.000" in run("evaluate", "good.jsonl", "labels.csv")[1]
    assert answer(run, "evaluate", "good.jsonl", "labels.csv", "--level", "identical")["pairs"]["found"] == 1


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


def test_ingesting_the_same_file_again_changes_nothing(run: Run) -> None:
    found = answer(run, "ingest", "docs.jsonl")
    assert (found["indexed"], found["unchanged"], found["refused"]) == (0, 5, 1)


def test_what_is_not_waited_for_stays_in_the_queue(run: Run) -> None:
    Path("new.jsonl").write_text('{"id": "new", "text": "A new text."}', encoding="utf-8")
    code, out, err = run("ingest", "new.jsonl", "--no-wait")
    assert code == 0
    assert "1  still in the queue" in out
    assert "ibidem worker" in err


def test_inspect_shows_the_duplicates_of_one_document_in_the_whole_index(run: Run) -> None:
    code, out, _ = run("inspect", "copy")
    assert code == 0
    assert "└ Lease: rent, roof, drains\n  lease\n  identical: the same words in the same order, 1 day apart" in out
    assert out.endswith("2 duplicates\n")
    found = answer(run, "inspect", "copy")
    assert [one["level"] for one in found["duplicates"]] == ["identical", "near"]
    assert [one["id"] for one in answer(run, "inspect", "copy", "--level", "identical")["duplicates"]] == ["lease"]


def test_inspect_of_what_is_not_there_is_a_wrong_use(run: Run) -> None:
    assert run("inspect", "nosuch")[0] == 2


def test_groups_count_the_whole_index_and_say_what_joined_the_duplicates(run: Run) -> None:
    code, out, _ = run("groups")
    assert code == 0
    assert "5 documents in 3 groups at level near; 2 duplicates; 1 without words or signatures" in out
    assert "3  Lease: rent, roof, drains · lease" in out
    found = answer(run, "groups")
    assert found["sizes"] == {"3": 1}
    assert found["kinds"] == {"content": 1, "minhash": 1}


@pytest.mark.parametrize("name", ["groups.csv", "groups.jsonl"])
def test_groups_are_exported_a_document_a_line(run: Run, name: str) -> None:
    assert run("groups", "--export", name)[0] == 0
    lines = Path(name).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3 + name.endswith("csv")
    assert "draft" in lines[-1]


def test_an_export_whose_name_tells_no_format_is_a_wrong_use(run: Run) -> None:
    code, _, err = run("groups", "--export", "groups.xls")
    assert code == 2
    assert ".csv" in err
