"""`ibidem status`: how a run stands."""

from support.command_line import Answer, Run


def test_status_tells_how_the_last_run_stands_and_leaves_with_three_when_some_were_refused(
    run: Run, answer: Answer
) -> None:
    code, out, _ = run("status")
    assert code == 3
    assert "5  indexed" in out
    assert "docs.jsonl:6" in out
    found = answer("status")
    assert found["read"] == found["indexed"] + found["unchanged"] + found["stale"] + found["refused"]
    assert found["duplicates"] == {"identical": 1, "near": 1}


def test_status_of_an_unknown_run_is_a_wrong_use(run: Run) -> None:
    assert run("status", "nosuch")[0] == 2
