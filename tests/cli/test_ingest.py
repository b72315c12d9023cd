"""`ibidem ingest`: files into the index, through the queue."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from support.command_line import Answer, Run


def test_ingesting_the_same_file_again_changes_nothing(answer: Answer) -> None:
    found = answer("ingest", "docs.jsonl")
    assert (found["indexed"], found["unchanged"], found["refused"]) == (0, 5, 1)


def test_what_is_not_waited_for_stays_in_the_queue(run: Run) -> None:
    Path("new.jsonl").write_text('{"id": "new", "text": "A new text."}', encoding="utf-8")
    code, out, err = run("ingest", "new.jsonl", "--no-wait")
    assert code == 0
    assert "1  still in the queue" in out
    assert "ibidem worker" in err


def test_logs_go_to_standard_error_and_leave_the_json_on_standard_output_whole(
    answer: Answer, run: Run, monkeypatch
) -> None:
    monkeypatch.setenv("IBIDEM_LOG", "debug")
    code, out, err = run("ingest", "docs.jsonl", "--json", "--no-wait")
    assert json.loads(out)["run"]
    told = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    events = [one["event"] for one in told if one["logger"].endswith("submit")]
    assert events == ["run begun", "document refused", "batch sent", "run submitted"]
    assert code == 3


def test_a_run_whose_command_was_killed_says_so_and_which_run_was_given_the_same_files(
    run: Run, answer: Answer
) -> None:
    before = answer("status")["run"]
    os.mkfifo("slow.jsonl")
    command = [Path(sys.executable).with_name("ibidem"), "ingest", "slow.jsonl"]
    with subprocess.Popen(command) as ingest, Path("slow.jsonl").open("w", encoding="utf-8"):  # never at its end
        while (stands := answer("status"))["run"] == before:
            time.sleep(0.05)
        assert (stands["state"], stands["again"]) == ("reading", "")
        ingest.kill()
        ingest.wait(60)
    assert (answer("status")["state"], answer("status")["again"]) == ("interrupted", "")
    assert "Give the same command again" in run("status")[1]
    Path("slow.jsonl").unlink()
    Path("slow.jsonl").write_text('{"id": "late", "text": "some words"}', encoding="utf-8")
    again = answer("ingest", "slow.jsonl")["run"]
    assert answer("status", stands["run"])["again"] == again
    assert f"given again in run {again}" in run("status", stands["run"])[1]


def test_sigterm_ends_it_with_its_workers_and_leaves_the_rest_in_the_queue(run: Run, answer: Answer) -> None:
    line = json.dumps({"id": "a", "text": "Some words that fill a batch. " * 50})
    before = answer("status")["run"]
    command = [Path(sys.executable).with_name("ibidem"), "ingest", "-", "--json"]
    environment = os.environ | {"IBIDEM_BATCH_CHARACTERS": "1000"}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as ingest:
        assert ingest.stdin is not None
        ingest.stdin.write("".join(line.replace('"a"', f'"{number}"') + "\n" for number in range(20)))
        ingest.stdin.flush()  # and never closed: it reads on
        while (stands := answer("status"))["run"] == before or not stands["indexed"]:
            time.sleep(0.05)
        ingest.terminate()
        ingest.wait(60)
        err = "" if ingest.stderr is None else ingest.stderr.read()
    assert ingest.returncode == 143, err
    stands = answer("status")
    assert f"ibidem status {stands['run']}" in err
    assert stands["state"] == "interrupted"
    assert stands["pending"] == len(list(Path(".ibidem/queue").rglob("ready/*")))  # a document each
    assert stands["indexed"] + stands["pending"] >= 10  # the rest was not read yet
