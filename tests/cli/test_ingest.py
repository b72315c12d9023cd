"""`ibidem ingest`: files into the index, through the queue."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from faults.kill import processes_with
from ibidem_core.settings import load
from support.command_line import Answer, Run
from support.rabbitmq_queues import delete_queues


def two_cases() -> None:
    """Two folders with a file of one name."""
    for folder, text in (("case-a", "We the People of the United States"), ("case-b", "in Order to form a Union")):
        Path(folder).mkdir()
        Path(folder, "contract.txt").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_file_of_another_folder_replaces_none_of_the_same_name(answer: Answer, run: Run) -> None:
    two_cases()
    assert answer("ingest", "case-a")["indexed"] == 1
    code, out, _ = run("ingest", "case-b", "--json")
    (refusal,) = json.loads(out)["refusals"]
    assert (code, json.loads(out)["indexed"]) == (3, 0)
    assert "the index has this id from" in refusal["why"]
    summary = answer("ingest", "case-b", "--id-prefix", "b/")
    assert (summary["indexed"], summary["replaced"]) == (1, 0)
    assert [answer("search", word)["hits"]["total"]["value"] for word in ("united", "union")] == [1, 1]


@pytest.mark.slow
def test_a_named_pipe_is_named_before_it_is_waited_for(run: Run) -> None:
    os.mkfifo("feed.jsonl")
    writer = threading.Thread(
        target=Path("feed.jsonl").write_text, args=('{"id": "piped", "text": "We the People"}\n',)
    )
    writer.start()
    code, out, err = run("ingest", "feed.jsonl", "--json")
    writer.join()
    assert (code, json.loads(out)["indexed"]) == (0, 1)
    assert "feed.jsonl is a named pipe: waiting for the program that writes to it" in err


ENGLISH = "The tenant shall pay the rent on the first day of each month, in advance and without demand. " * 2
GERMAN = "Der Mieter hat die Miete am ersten Tag jedes Monats im Voraus und ohne Aufforderung zu zahlen. " * 2


@pytest.mark.slow
def test_the_language_of_a_document_that_does_not_say_is_detected_and_the_summary_tells_it(
    answer: Answer, run: Run
) -> None:
    Path("manuals").mkdir()
    for name, text in (
        ("en.txt", ENGLISH),
        ("de.txt", GERMAN),
        ("short.txt", "Kurz."),
        ("de.md", f"# Miete\n\n{GERMAN}"),
    ):
        Path("manuals", name).write_text(text, encoding="utf-8")
    lines = [{"id": "said", "text": GERMAN, "language": "en"}, {"id": "unsaid", "text": GERMAN}]
    Path("manuals", "a.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    summary = answer("ingest", "manuals")
    assert summary["languages"] == {"en": 3, "de": 3}
    assert answer("search", "Miete", "--filter", "language=de")["hits"]["total"]["value"] == 3
    assert "Languages: en 3, de 3." in run("ingest", "manuals")[1]


@pytest.mark.server("rabbitmq")
def test_what_is_not_waited_for_stays_in_the_queue(run: Run, rabbitmq: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("new.jsonl").write_text('{"id": "new", "text": "A new text."}', encoding="utf-8")
    monkeypatch.setenv("IBIDEM_BROKER", rabbitmq)
    monkeypatch.setenv("IBIDEM_INDEX", f"waits-{uuid4().hex}")
    code, out, err = run("ingest", "new.jsonl", "--no-wait")
    assert code == 0
    assert "1  still in the queue" in out
    assert "ibidem worker" in err
    delete_queues(load())


@pytest.mark.parametrize(
    ("broker", "words"), [("", "no broker keeps it"), ("redis://127.0.0.1:1", "Redis may lose one")]
)
def test_not_to_wait_is_refused_where_a_batch_could_be_lost(
    run: Run, monkeypatch: pytest.MonkeyPatch, broker: str, words: str
) -> None:
    monkeypatch.setenv("IBIDEM_BROKER", broker)
    code, _, err = run("ingest", "docs.jsonl", "--no-wait")
    assert code == 2
    assert words in " ".join(err.split())
    assert "RabbitMQ" in err


@pytest.mark.slow
def test_a_run_whose_command_was_killed_says_so_and_which_run_was_given_the_same_files(
    run: Run, answer: Answer
) -> None:
    run_before = answer("status")["run"]
    os.mkfifo("slow.jsonl")
    command = [Path(sys.executable).with_name("ibidem"), "ingest", "slow.jsonl"]
    with subprocess.Popen(command) as ingest, Path("slow.jsonl").open("w", encoding="utf-8"):  # never at its end
        while (status := answer("status"))["run"] == run_before:
            time.sleep(0.05)
        assert (status["state"], status["again"]) == ("reading", "")
        ingest.kill()
    assert (answer("status")["state"], answer("status")["again"]) == ("interrupted", "")
    assert "Run the same command again" in run("status")[1]
    Path("slow.jsonl").unlink()
    Path("slow.jsonl").write_text('{"id": "late", "text": "some words"}', encoding="utf-8")
    repeat = answer("ingest", "slow.jsonl")["run"]
    assert answer("status", status["run"])["again"] == repeat
    assert f"ingested again in run {repeat}" in run("status", status["run"])[1]


def indexed_count(status: dict[str, Any]) -> int:
    """Return how many documents of a run were read and handed to the queue."""
    return int(status["indexed"] + status["pending"])


@pytest.mark.slow
def test_sigterm_ends_it_with_its_processes(run: Run, answer: Answer) -> None:
    line = json.dumps({"id": "a", "text": "Some words that fill a batch. " * 50})
    run_before = answer("status")["run"]
    command = [Path(sys.executable).with_name("ibidem"), "ingest", "-", "--json"]
    environment = os.environ | {"IBIDEM_BATCH_CHARACTERS": "1001"}  # no other test's processes have it
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as ingest:
        assert ingest.stdin is not None
        ingest.stdin.write("".join(line.replace('"a"', f'"{number}"') + "\n" for number in range(20)))
        ingest.stdin.flush()  # and never closed: it reads on
        while (status := answer("status"))["run"] == run_before or not status["indexed"] or indexed_count(status) < 10:
            time.sleep(0.05)
        ingest.terminate()
        err = "" if ingest.stderr is None else ingest.stderr.read()
    assert ingest.returncode == 143, err
    status = answer("status")
    assert f"ibidem status {status['run']}" in err
    assert status["state"] == "interrupted"
    while processes_with("IBIDEM_BATCH_CHARACTERS", "1001"):  # a killed one may take a moment
        time.sleep(0.05)
    assert 10 <= indexed_count(status) <= 20  # the rest was not read yet


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
def test_an_engine_that_is_away_is_one_message_without_a_stack(
    run: Run, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("IBIDEM_ENGINE", f"{kind}+http://127.0.0.1:1")
    code, out, err = run("ingest", "docs.jsonl")
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith(f"ibidem: {kind}+http://127.0.0.1:1: it does not answer")


@pytest.mark.slow
def test_documents_whose_files_are_gone_are_named_and_deleted_on_demand(answer: Answer, run: Run) -> None:
    two_cases()
    assert answer("ingest", "case-a")["indexed"] == 1
    Path("case-a", "contract.txt").rename("case-a/agreement.txt")
    preview = "".join(run("ingest", "case-a", "--sync")[1].split())
    assert f"{Path('case-a', 'contract.txt').absolute()};todeletethedocuments,add--yes" in preview
    assert answer("ingest", "case-a", "--sync", "--yes")["deleted"] == 1
    assert answer("ingest", "case-a", "--sync")["gone"] == []
    assert run("ingest", "case-a", "--yes")[0] == run("ingest", "case-a/agreement.txt", "--sync")[0] == 2


@pytest.mark.slow
def test_a_document_whose_text_another_file_still_has_is_not_gone(answer: Answer) -> None:
    two_cases()
    shutil.copy("case-a/contract.txt", "case-a/again.txt")
    Path("case-a", "other.txt").write_text("establish Justice", encoding="utf-8")
    assert answer("ingest", "case-a", "--id-from", "hash")["repeated"] == 1
    for name in ("contract.txt", "again.txt"):
        Path("case-a", name).rename("kept.txt")
        assert answer("ingest", "case-a", "--id-from", "hash", "--sync", "--yes")["gone"] == []
        Path("kept.txt").rename(f"case-a/{name}")


@pytest.mark.slow
def test_a_whole_folder_that_is_gone_is_asked_about_and_comes_back(answer: Answer, run: Run, monkeypatch) -> None:
    shelf = Path("shelf")
    for case in ("case-a", "case-b"):
        (shelf / case).mkdir(parents=True)
        (shelf / case / "contract.txt").write_text(f"the contract of {case}", encoding="utf-8")
    assert answer("ingest", "shelf")["indexed"] == 2
    (shelf / "case-b" / "contract.txt").unlink()  # as a disk that is not mounted leaves the folder
    for reply, code in (("n\n", 0), ("", 2)):
        monkeypatch.setattr("sys.stdin", StringIO(reply))
        assert run("ingest", "shelf", "--sync", "--yes")[0] == code
    assert answer("ingest", "shelf", "--sync")["gone"] == ["case-b/contract.txt"]
    result = answer("ingest", "shelf", "--sync", "--yes", "--sync-all")
    assert result["files"] == {"case-b/contract.txt": str((shelf / "case-b/contract.txt").absolute())}
    assert result["deleted"] == 1
    assert answer("delete", "--undo", "case-b/contract.txt")["restored"] == 1
    assert run("ingest", "shelf", "--sync", "--sync-all")[0] == 2
