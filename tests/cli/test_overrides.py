"""`ibidem overrides`: a manual decision on a pair beats all evidence."""

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
