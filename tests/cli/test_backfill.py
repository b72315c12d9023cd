"""`ibidem backfill`: what each way of it prints, and how it leaves."""

import json
import secrets
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from servers.indices import ask, remove_indices
from support.command_line import Answer, Run


@pytest.fixture
def own_tables(tmp_path: Path, run: Run, tables_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Tables:
    """A folder of tables that a test may change."""
    table = Tables(tables_folder).of("en")
    assert table is not None
    tables = Tables(tmp_path / "own-tables")
    tables.use(table)
    monkeypatch.setenv("IBIDEM_TABLES", str(tables.folder))
    return tables


OTHER = Table.build("en", 9_000, {"tenant": 10.0, "landlord": 9.0}, "another")


def test_what_is_signed_already_is_unchanged(answer: Answer) -> None:
    output = answer("backfill")
    assert {name: output[name] for name in ("read", "indexed", "unchanged", "refused", "unsigned", "state")} == {
        "read": 5,
        "indexed": 0,
        "unchanged": 5,
        "refused": 0,
        "unsigned": 1,
        "state": "done",
    }


def test_people_read_what_became_of_the_documents(run: Run, own_tables: Tables) -> None:
    own_tables.use(OTHER)
    code, out, _ = run("backfill")
    assert code == 0
    assert "5  documents read" in out
    assert "5  signed" in out
    assert "identical with an earlier document" in out


def test_a_text_that_is_too_long_is_refused_and_the_command_leaves_with_3(
    run: Run, own_tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_tables.use(OTHER)
    monkeypatch.setenv("IBIDEM_MAX_TEXT", "100")
    code, out, _ = run("backfill")
    assert code == 3
    assert "documents: text: " in out
    assert "lease" in out
    assert "IBIDEM_MAX_TEXT" in out


def test_a_copy_says_how_it_is_searched(run: Run, answer: Answer, own_tables: Tables) -> None:
    own_tables.use(OTHER)
    code, out, err = run("backfill", "--into", "second")
    assert code == 0
    assert "5  signed" in out
    assert "IBIDEM_INDEX=second" in err.replace("\n", " ")
    assert answer("backfill", "--into", "third")["indexed"] == 5


def test_a_change_by_others_is_listed_and_the_command_leaves_with_3(run: Run, tmp_path: Path) -> None:
    assert run("backfill", "--check")[0] == 0
    file = sqlite3.connect(tmp_path / ".ibidem" / "index.sqlite")
    file.execute("""update "ibidem.ibidem.texts" set text = 'another text' where rowid =
        (select place from "ibidem.ibidem.documents" where id = 'letter')""")
    file.commit()
    file.close()
    code, out, _ = run("backfill", "--check")
    assert code == 3
    assert {"1  changed since they were signed", "1  will be signed by: ibidem backfill"} <= set(out.splitlines())
    assert "letter in ibidem" in out
    assert run("backfill")[0] == 0
    assert run("backfill", "--check")[0] == 0


def test_a_dry_run_shows_groups_samples_and_what_would_be_hidden(run: Run, answer: Answer) -> None:
    code, out, _ = run("backfill", "--dry-run")
    assert code == 0
    for part in (
        "5 documents: 2 duplicates, 3 groups (level near)",
        "Collapse mode would hide 40 % of all hits",
        "near: draft repeats lease",
        "[London → York]",
        "identical: copy repeats lease",
        "no word differs",
    ):
        assert part in out, part
    assert "Keep" in out
    assert "twice until they are merged" in " ".join(out.split())
    output = answer("backfill", "--dry-run", "--level", "identical")
    assert (output["level"], output["documents"], output["of"], output["hidden"]) == ("identical", 5, 5, 0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--check", "--dry-run"], "--dry-run and --check do not go together"),
        (["--into", "x", "--follow"], "--into and --follow do not go together"),
        (["--alias", "x"], "--alias needs --into"),
        (["--level", "near"], "--level is for --dry-run alone"),
        (["--into", "X Y"], "index name 'X Y' is not allowed"),
        (["--into", "ibidem"], "'ibidem' is the index to be copied"),
        (["--into", "second", "--alias", "x"], "SQLite has no aliases"),
    ],
)
def test_options_that_mean_nothing_are_wrong_use(run: Run, options: list[str], message: str) -> None:
    code, _, err = run("backfill", *options)
    assert code == 2
    assert message in err


def test_names_of_fields_are_for_clusters(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IBIDEM_FIELDS", "text=body")
    code, _, err = run("backfill")
    assert code == 2
    assert "IBIDEM_FIELDS" in err
    assert "SQLite" in err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_following_ends_when_it_is_asked_to_and_says_what_was_signed(run: Run, number: signal.Signals) -> None:
    code = "from ibidem.cli import main; main()"
    command = [sys.executable, "-c", code, "backfill", "--follow", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline() == "5 documents checked; following changes by others\n"
    process.send_signal(number)
    out, _ = process.communicate()
    assert process.returncode == 0
    output = json.loads(out)
    assert (output["read"], output["unchanged"], output["state"]) == (5, 5, "done")


@pytest.mark.server("opensearch")
def test_following_waits_for_an_index_that_is_made_later_or_again(
    opensearch: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = f"followed-{secrets.token_hex(4)}"
    monkeypatch.setenv("IBIDEM_ENGINE", opensearch)
    monkeypatch.setenv("IBIDEM_INDEX", index)
    process = subprocess.Popen([sys.executable, "-c", "from ibidem.cli import main; main()", "backfill", "--follow"])
    try:
        for turn in range(2):
            if turn:
                ask(opensearch, "DELETE", f"/{index}")
            ask(opensearch, "PUT", f"/{index}/_doc/a", '{"text": "The tenant pays the rent."}')
            for _ in range(600):
                if "ibidem" in ask(opensearch, "GET", f"/{index}/_doc/a").get("_source", {}):
                    break
                time.sleep(0.1)
            else:
                raise TimeoutError("the document was not signed")
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        remove_indices(opensearch, index)


def test_an_index_that_is_not_there_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IBIDEM_INDEX", "nothing")
    for options in ([], ["--check"], ["--dry-run"], ["--into", "second"]):
        code, _, err = run("backfill", *options)
        assert (code, "no index 'nothing'" in err) == (1, True), options
