"""`ibidem overrides`: a manual decision on a pair beats all evidence."""

from pathlib import Path

import orjson
import pytest

from support.command_line import Answer, Run


def test_a_manual_decision_keeps_a_pair_apart_until_it_is_taken_back(run: Run, answer: Answer) -> None:
    output = answer("overrides", "add", "lease", "draft", "--reason", "other courts", "--author", "J. Doe")
    assert output["overrides"][0]["verdict"] == "not"
    assert answer("search", "drains")["dedupe"]["groups"]["in_window"] == 2
    assert "other courts" in run("overrides", "list")[1]
    run("overrides", "remove", "draft", "lease")
    assert answer("search", "drains")["dedupe"]["groups"]["in_window"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("overrides", "add", "lease", "nosuch"),
        ("overrides", "add", "lease", "lease"),
        ("overrides", "add", "lease", "draft", "--as", "perhaps"),
        ("overrides", "remove", "lease", "letter"),
    ],
)
def test_a_word_on_what_is_no_pair_is_a_wrong_use(run: Run, arguments: tuple[str, ...]) -> None:
    assert run(*arguments)[0] == 2


def test_two_followers_of_a_third_stay_together_until_the_decision_that_is_named(
    run: Run, answer: Answer, tmp_path: Path
) -> None:
    text = "The tenant of the harbour house shall pay for wharf, crane and the two sheds behind it, in advance."
    lines = [orjson.dumps({"id": name, "text": text, "title": "Harbour"}) for name in ("first", "second", "third")]
    (tmp_path / "harbour.jsonl").write_bytes(b"\n".join(lines))
    assert run("ingest", str(tmp_path / "harbour.jsonl"))[0] == 0
    code, _, said = run("overrides", "add", "second", "third")
    said = " ".join(said.split())
    assert code == 0
    assert "Both also repeat first: where one of these leads, second and third stay in its group." in said
    assert "ibidem overrides add first third --as not" in said
    assert answer("search", "wharf")["dedupe"]["groups"]["in_window"] == 1
    assert "Both" not in run("overrides", "add", "first", "third")[2]
    assert answer("search", "wharf")["dedupe"]["groups"]["in_window"] == 2
