"""Progress is for people at a terminal: elsewhere nothing is printed."""

from ibidem.cli.console import bar


def test_without_a_terminal_a_bar_prints_nothing(capsys) -> None:
    with bar("Indexing") as advance:
        advance(1, None)
        advance(5, 10)
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_a_bar_goes_to_standard_error(capsys, monkeypatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with bar("Indexing") as advance:
        advance(5, 10)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Indexing" in printed.err
