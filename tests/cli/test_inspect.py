"""`ibidem inspect`: one document's duplicates in the whole index."""

from support.command_line import Answer, Run


def test_inspect_shows_the_duplicates_of_one_document_in_the_whole_index(run: Run, answer: Answer) -> None:
    code, out, _ = run("inspect", "copy")
    assert code == 0
    assert "└ Lease: rent, roof, drains\n  lease\n  identical: the same words in the same order, 1 day apart" in out
    assert out.endswith("2 duplicates\nIts stored group of 3 documents is led by lease; joined by: content.\n")
    found = answer("inspect", "copy")
    assert [one["level"] for one in found["duplicates"]] == ["identical", "near"]
    assert [one["id"] for one in answer("inspect", "copy", "--level", "identical")["duplicates"]] == ["lease"]


def test_inspect_shows_the_stored_group_and_what_joined_the_document_to_it(answer: Answer) -> None:
    lead, draft = answer("inspect", "lease")["group"], answer("inspect", "draft")["group"]
    assert lead["name"] == draft["name"]
    assert (lead["lead"], lead["documents"], lead["signature"]) == ("lease", 3, None)
    assert (draft["lead"], draft["documents"], draft["signature"]) == ("lease", 3, "minhash")


def test_inspect_of_what_is_not_there_is_a_wrong_use(run: Run) -> None:
    assert run("inspect", "nosuch")[0] == 2
