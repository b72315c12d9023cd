"""`ibidem strip`: what it prints, and how it leaves."""

from ibidem.cli.strip import report
from ibidem_workers.backfill.strip import StripRequest, StripResult
from support.command_line import Answer, Run


def test_signatures_are_counted_removed_and_counted_again(run: Run, answer: Answer) -> None:
    code, out, _ = run("strip", "--dry-run")
    assert code == 0
    assert "5 documents would lose their signatures" in out
    assert answer("strip")["stripped"] == 5
    assert answer("strip")["stripped"] == 0
    assert answer("backfill")["indexed"] == 5


def test_one_document_and_several_are_told_in_their_own_grammar() -> None:
    dry = StripRequest(dry=True)
    first = [list(report(StripResult(count, count), "news", dry))[1] for count in (1, 2)]
    assert first == [
        "1 document would lose its signatures: 0 bytes",
        "2 documents would lose their signatures: 0 bytes",
    ]
    left = [list(report(StripResult(left=count), "news", StripRequest()))[-1].split(":")[0] for count in (1, 2)]
    assert left == ["1 document in 'news' was signed meanwhile", "2 documents in 'news' were signed meanwhile"]


def test_a_new_index_is_named(run: Run) -> None:
    code, out, _ = run("strip", "--into", "plain")
    assert code == 0
    assert "The new index is 'plain'." in out


def test_an_alias_needs_a_new_index(run: Run) -> None:
    code, _, err = run("strip", "--alias", "news")
    assert code == 2
    assert "--into" in err
