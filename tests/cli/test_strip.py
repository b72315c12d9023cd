"""`ibidem strip`: what it prints, and how it leaves."""

from support.command_line import Answer, Run


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


def test_an_alias_needs_a_new_index(run: Run) -> None:
    code, _, err = run("strip", "--alias", "news")
    assert code == 2
    assert "--into" in err
