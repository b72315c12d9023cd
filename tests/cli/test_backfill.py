"""`ibidem backfill` and `strip`: what each way of them prints, and how they leave."""

import json
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from faults.environment import wait_for
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from servers.indices import ask, remove_indices
from support.command_line import Answer, Run
from support.some import some

pytestmark = [pytest.mark.server("opensearch"), pytest.mark.usefixtures("on_opensearch")]


@pytest.fixture
def own_tables(tmp_path: Path, run: Run, tables_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Tables:
    """A folder of tables that a test may change."""
    tables = Tables(tmp_path / "own-tables")
    tables.use(some(Tables(tables_folder).of("en")))
    monkeypatch.setenv("IBIDEM_TABLES", str(tables.folder))
    return tables


OTHER = Table.build("en", 9_000, {"tenant": 10.0, "landlord": 9.0}, "another")


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


def test_a_copy_says_how_it_is_searched(run: Run, answer: Answer, own_tables: Tables, on_opensearch: str) -> None:
    own_tables.use(OTHER)
    code, out, err = run("backfill", "--into", f"{on_opensearch}-2")
    assert code == 0
    assert "5  signed" in out
    assert f"IBIDEM_INDEX={on_opensearch}-2" in err.replace("\n", "")
    assert answer("backfill", "--into", f"{on_opensearch}-3")["indexed"] == 5


def test_a_change_by_others_is_listed_and_the_command_leaves_with_3(
    run: Run, opensearch: str, on_opensearch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IBIDEM_INDEX", f"{on_opensearch}-2")
    for name in ("deed", "letter"):
        ask(opensearch, "PUT", f"/{on_opensearch}-2/_doc/{name}", '{"text": "The tenant pays the rent."}')
    assert [run("backfill", *check)[0] for check in ([], ["--check"])] == [0, 0]
    ask(opensearch, "POST", f"/{on_opensearch}-2/_update/letter", '{"doc": {"text": "another text"}}')
    code, out, _ = run("backfill", "--check")
    assert code == 3
    assert {"1  changed since they were signed", "1  will be signed by: ibidem backfill"} <= set(out.splitlines())
    assert f"letter in {on_opensearch}-2" in out
    assert [run("backfill", *check)[0] for check in ([], ["--check"])] == [0, 0]


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
    output = answer("backfill", "--dry-run")
    assert (output["level"], output["documents"], output["of"], output["hidden"]) == ("near", 5, 5, 0.4)


def test_the_index_itself_is_no_copy_nor_one_of_a_wrong_name(run: Run, on_opensearch: str) -> None:
    wrong = {on_opensearch: f"'{on_opensearch}' is the index to be copied", "X Y": "index name 'X Y' is not allowed"}
    for name, message in wrong.items():
        code, _, err = run("backfill", "--into", name)
        assert (code, message in err) == (2, True)


def test_an_index_in_sqlite_is_neither_signed_nor_stripped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IBIDEM_ENGINE")
    monkeypatch.delenv("IBIDEM_INDEX")
    for command in (["backfill"], ["backfill", "--into", "second"], ["backfill", "--dry-run"], ["strip"]):
        code, _, err = run(*command)
        assert (code, "ibidem ingest PATH" in err) == (2, True), command


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
            assert wait_for(lambda: "ibidem" in ask(opensearch, "GET", f"/{index}/_doc/a").get("_source", {}), 60)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        remove_indices(opensearch, index)


def test_signatures_are_counted_removed_and_counted_again(run: Run, answer: Answer) -> None:
    code, out, _ = run("strip", "--dry-run")
    assert code == 0
    assert "5 documents would lose their signatures" in out
    assert answer("strip")["stripped"] == 5
    assert answer("strip")["stripped"] == 0
    assert answer("backfill")["indexed"] == 5


def test_a_new_index_is_named(run: Run) -> None:
    code, out, _ = run("strip", "--into", "plain")
    assert code == 0
    assert "The new index is 'plain'." in out
