"""`ibidem delete`: documents go, on wish with all their identical copies."""

from io import StringIO

from support.command_line import Answer, Run


def test_delete_asks_and_leaves_all_as_it_is_without_an_answer(run: Run, answer: Answer, monkeypatch) -> None:
    for reply, left in (("n\n", 0), ("", 2)):
        monkeypatch.setattr("sys.stdin", StringIO(reply))
        code, _, err = run("delete", "letter")
        assert code == left
        assert "A reminder" in err
    assert answer("search", "reminder")["hits"]["total"]["value"] == 1


def test_a_takedown_deletes_the_identical_copies_too(answer: Answer) -> None:
    assert sorted(answer("delete", "lease", "--identical", "--yes")["ids"]) == ["copy", "lease"]
    assert answer("search", "drains")["hits"]["total"]["value"] == 1


def test_a_takedown_of_an_unknown_document_deletes_nothing(run: Run, answer: Answer) -> None:
    assert run("delete", "lease", "nosuch", "--identical", "--yes")[0] == 2
    assert answer("search", "drains")["hits"]["total"]["value"] == 3
