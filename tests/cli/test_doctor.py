"""`ibidem doctor`: every setting with its origin, and what answers."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from ibidem_workers.queue_folder import Folder

from .conftest import Answer, Run


def test_doctor_shows_every_setting_with_its_origin_and_what_answers(run: Run, answer: Answer) -> None:
    code, out, _ = run("doctor")
    assert code == 0
    assert "NOT OK" not in out
    found = answer("doctor")
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


def test_doctor_names_an_index_of_another_schema_and_what_mends_it(run: Run, answer: Answer) -> None:
    with closing(sqlite3.connect(".ibidem/index.sqlite")) as database, database:
        database.execute("""update "ibidem.ibidem.state" set value = '0' where name = 'schema'""")
    (check,) = (check for check in answer("doctor")["checks"] if check["name"] == "schema")
    assert not check["ok"]
    assert "ibidem backfill" in check["remedy"]
    assert run("search", "drains")[0] == 1
    assert "schema 0" in run("search", "drains")[2]


def test_doctor_says_that_documents_are_in_another_language_than_they_say(run: Run, answer: Answer) -> None:
    words = "das gericht sagte dass die miete fällig war und der mieter sie seit einem jahr nicht bezahlt hatte"
    lines = [json.dumps({"id": f"d{at}", "text": f"{words} " * 9}) for at in range(6)]
    Path("german.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert [check["ok"] for check in answer("doctor")["checks"] if check["name"] == "languages"] == [True]
    run("ingest", "german.jsonl")
    (check,) = (check for check in answer("doctor")["checks"] if check["name"] == "languages")
    assert not check["ok"]
    assert "6 of 6 sampled documents of language 'en'" in check["what"]
    assert "`language`" in check["remedy"]


def test_doctor_counts_what_others_laid_into_the_queue(run: Run, answer: Answer) -> None:
    folder = Folder(Path(".ibidem/queue/ibidem-ibidem-ingest"), 30)
    assert "messages" not in {check["name"] for check in answer("doctor")["checks"]}
    folder.put(b"not ours")
    (name,) = folder.names()
    taken = folder.take(name, "me")
    assert taken is not None
    folder.give_up(taken)
    (check,) = (check for check in answer("doctor")["checks"] if check["name"] == "messages")
    assert not check["ok"]
    assert "1 message that no submitter has sent" in check["what"]
