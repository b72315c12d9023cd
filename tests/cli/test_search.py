"""`ibidem search`, `compare` and `inspect`: duplicates below leads, why, what differs; no text steers a terminal."""

import json
import random
import re
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ibidem.cli.console import THEME, results, sanitize
from ibidem.cli.search import show
from ibidem_dedupe.parameters import PARAMETERS
from ibidem_engines.engine import Engine
from support.command_line import Answer, Run
from support.leases import LEASE
from support.passages import cut_lease

TEXT = "Net profit rose to 12.1 mln dlrs in the first quarter"


def hit(id_: str, text: str = TEXT, **mark: object) -> dict[str, object]:
    source = {"title": f"Title of {id_}", "date": "1987-03-01", "source": "Reuter", "text": text}
    return {"_id": id_, "_source": source, "_dedupe": {"group": "g", "indent": 0, "size": 2, "hidden": 0} | mark}


def duplicate(id_: str, text: str = TEXT, level: str = "near") -> dict[str, object]:
    why = {"signature": "termvector", "shared": 57, "of": 60, "days_apart": 1, "length_ratio": 0.99}
    return hit(id_, text, indent=1, level=level, why=why)


def response(*hits: dict[str, object], **account: object) -> dict[str, object]:
    dedupe = {
        "mode": "indent",
        "documents": {"matched": 212, "in_window": 200, "beyond_window": 12, "on_page": len(hits)},
        "groups": {"in_window": 74, "on_page": 1, "exact": True},
        "unsigned": 0,
        "late": [],
    }
    return {"hits": {"hits": list(hits)}, "dedupe": dedupe | account}


def printed(answer: dict[str, object], first: int = 1, **options: object) -> list[str]:
    paper = StringIO()
    show(answer, Console(file=paper, theme=THEME, **({"width": 100} | options)), first)
    return [line.rstrip() for line in paper.getvalue().splitlines()]


def test_late_documents_are_above_the_list() -> None:
    lines = printed(response(hit("a"), late=[{"id": f"late-{n}", "group": "g", "page": 1} for n in range(12)]))
    assert lines[0] == "12 more members of groups on earlier pages:"
    assert lines[1] == "    late-0 (page 1)"
    assert lines[11] == "    … 2 more"
    assert lines.index("") < lines.index(" 1  Title of a")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "the first 200 of 212 documents in 74 groups; showing 1–1"),  # noqa: RUF001 - a range
        ({"mode": "off"}, "212 documents; showing 1–1"),  # noqa: RUF001 - a range
        (
            {"capped": [{"group": "g", "by": ["bands"]}]},
            "the first 200 of 212 documents in 74 groups; look-up limited for 1 lead; showing 1–1",  # noqa: RUF001 - a range
        ),
        ({"unsigned": 3}, "the first 200 of 212 documents in 74 groups; 3 without signatures; showing 1–1"),  # noqa: RUF001
    ],
)
def test_the_account_is_one_line_at_the_end(changes: dict[str, object], message: str) -> None:
    assert printed(response(hit("a"), **changes))[-1] == message


def test_a_duplicate_that_a_scope_found_says_that_it_does_not_match() -> None:
    outside = duplicate("b")
    outside["_dedupe"] |= {"outside": True, "notes": ["declared same as c, group g"]}
    line = (
        "      near: 57 of 60 rare terms shared, 1 day apart; declared same as c, group g; it does not match the query"
    )
    assert line in printed(response(hit("a"), outside), width=130)


def test_a_search_shows_the_duplicates_indented_under_their_lead(run: Run) -> None:
    code, out, _ = run("search", "drains")
    assert code == 0
    assert " 1  Lease: rent, roof, *drains*" in out
    assert (
        "    └ Lease (copy)\n      2001-05-02 · Registry · copy\n      identical: the same words in the same order"
        in out
    )
    assert "    └ Lease (draft)" in out
    assert "differs: … courts of [London → York] have sole …" in out
    assert out.endswith("3 documents in 1 group; showing 1–1\n")  # noqa: RUF001 - a range


def test_neighbours_of_a_passage_follow_it_with_the_words_that_overlap(
    run: Run, engine: Engine, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.write(cut_lease())
    monkeypatch.setenv("IBIDEM_ENGINE", address)
    monkeypatch.setenv("IBIDEM_INDEX", engine.index)
    code, out, _ = run("search", "rent", "--document", "meta.document")
    assert code == 0
    assert "partial: follows it in the same document, 6 words overlap" in out
    assert "4 groups" not in run("search", "--document", "meta.document")[1]
    assert "--document 'a b'" in run("search", "rent", "--document", "a b")[2]


def test_a_typing_error_is_answered_with_a_spelling_of_the_index(run: Run, answer: Answer) -> None:
    _, out, _ = run("search", "title:reminderr", "AND", "Sir")
    assert "did you mean: title:reminder AND Sir\n" in out
    assert answer("search", "title:reminderr")["dedupe"]["did_you_mean"] == "title:reminder"
    assert answer("search", "title:reminderr\udce9")["dedupe"]["did_you_mean"]  # not UTF-8, as a shell may give it
    assert answer("search", "title:reminder")["dedupe"]["did_you_mean"] == ""


@given(st.text())
def test_no_text_can_steer_a_terminal(text: str) -> None:
    assert sanitize(text).isprintable() or not sanitize(text)


def test_markup_in_a_text_is_text(capsys) -> None:
    results().print("[bold]5 U.S.C.[/bold] :smile: 'quoted' 123")
    assert capsys.readouterr().out == "[bold]5 U.S.C.[/bold] :smile: 'quoted' 123\n"


def test_every_parameter_can_be_asked_for_and_its_help_lists_the_values(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    help_text = " ".join(run("search", "--help")[1].split())
    for name, parameter in PARAMETERS.items():
        assert f"--{name.removeprefix('dedupe_').replace('_', '-')}" in help_text
        assert re.sub(r"\s+", " ", parameter.about) in help_text
        assert f"(default: {parameter.default})" in help_text or name == "dedupe_explain"


def test_compare_tells_differences_only_of_texts_that_share_enough_to_read_them(run: Run) -> None:
    assert "differs" in run("compare", "lease", "draft")[1]
    assert "differs" not in run("compare", "lease", "letter")[1]


def test_compare_applies_a_manual_decision_on_the_pair(run: Run, answer: Answer) -> None:
    assert run("overrides", "add", "lease", "draft", "--reason", "another town", "--author", "ann")[0] == 0
    assert "no duplicates, by manual decision (ann · " in run("compare", "draft", "lease")[1]
    output = answer("compare", "draft", "lease")
    assert (output["level"], output["decision"]["verdict"], output["decision"]["stale"]) == (None, "not", False)
    assert run("overrides", "add", "lease", "letter", "--as", "same")[0] == 0
    assert answer("compare", "lease", "letter")["why"]["signature"] == "override"


@pytest.mark.slow
def test_compare_does_not_apply_a_decision_on_an_earlier_text(run: Run, answer: Answer) -> None:
    assert run("overrides", "add", "lease", "draft", "--author", "ann")[0] == 0
    changed = json.dumps({"id": "draft", "text": "A text that has nothing in common with the draft that was judged."})
    Path("changed.jsonl").write_text(changed, encoding="utf-8")
    assert run("ingest", "changed.jsonl")[0] == 0
    assert "is not applied: a text has changed since." in run("compare", "lease", "draft")[1]
    assert answer("compare", "lease", "draft")["decision"]["stale"] is True


def test_inspect_shows_the_duplicates_of_one_document_in_the_whole_index(run: Run, answer: Answer) -> None:
    code, out, _ = run("inspect", "copy")
    assert code == 0
    assert "└ Lease: rent, roof, drains\n  lease\n  identical: the same words in the same order, 1 day apart" in out
    assert out.endswith("2 duplicates\nIts stored group of 3 documents is led by lease; joined by: content.\n")
    output = answer("inspect", "copy")
    assert [duplicate["level"] for duplicate in output["duplicates"]] == ["identical", "near"]
    assert [duplicate["id"] for duplicate in answer("inspect", "copy", "--level", "identical")["duplicates"]] == [
        "lease"
    ]


NEWS = ["--preset", "news"]  # dates at most 42 days apart

FAR = ["--preset", "law"]  # a quarter of the five-word runs suffices


@pytest.mark.slow
def test_inspect_and_compare_take_the_figures_of_a_search(run: Run, answer: Answer, tmp_path: Path) -> None:
    """Two versions of a text share a third of their five-word runs, and a third of a later date."""
    rng = random.Random(1)  # noqa: S311 - made-up data keeps no secret
    words = [f"clause{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(40)]
    first = [rng.choice(words) for _ in range(300)]
    second = [rng.choice(words) if at % 9 == 0 else word for at, word in enumerate(first)]
    documents = [
        {"id": "first", "text": " ".join(first), "date": "2001-01-01"},
        {"id": "second", "text": " ".join(second), "date": "2001-01-02"},
        {"id": "later", "text": " ".join(first[:-1]), "date": "2003-01-01"},
    ]
    (tmp_path / "pair.jsonl").write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    assert run("ingest", "pair.jsonl")[0] == 0
    for options, ids in (([], {"later"}), (FAR, {"later", "second"}), (NEWS, set())):
        assert {each["id"] for each in answer("inspect", "first", *options)["duplicates"]} == ids
    levels = [answer("compare", "first", "second", *options)["level"] for options in ([], FAR, ["--level", "near"])]
    assert levels == [levels[0], "near", None]
    assert levels[0] != "near"
    assert answer("compare", "first", "later", *NEWS, "--level", "near")["level"] is None


def test_an_id_is_compared_though_a_file_has_its_name(run: Run, answer: Answer) -> None:
    for name in ("lease", "draft"):
        Path(name).write_text("Quite another text, which nobody means.", encoding="utf-8")
    assert answer("compare", "lease", "draft", "--format", "text")["level"] == "identical"
    assert answer("compare", "lease", "draft", "--id")["level"] == "near"
    assert "no document 'nosuch'" in run("compare", "lease", "nosuch")[2]
    assert "cannot be combined" in run("compare", "lease", "draft", "--id", "--format", "text")[2]


def test_inspect_of_a_file_finds_what_it_repeats(run: Run, answer: Answer, tmp_path: Path) -> None:
    file = tmp_path / "draft.txt"
    file.write_text(LEASE)
    found = answer("inspect", "--file", str(file))
    assert ({"lease", "copy"} <= {each["id"] for each in found["duplicates"]}, found["id"]) == (True, str(file))
    for wrong in (["inspect"], ["inspect", "lease", "--file", str(file)], ["inspect", "--file", str(tmp_path)]):
        assert run(*wrong)[0] == 2
