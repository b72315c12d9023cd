"""A response reads as a list: leads, their duplicates indented below, why, what differs, and the account.

`ibidem search`: a grouped list for people, the response for programs.
"""

import json
import shutil
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from ibidem.cli.console import THEME
from ibidem.cli.search import show
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import HIGHLIGHT
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from support.command_line import Answer, Run
from support.leases import LEASE
from support.passages import cut_lease

OPEN, CLOSE = HIGHLIGHT
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


def test_a_lead_is_numbered_and_says_whence_it_is() -> None:
    lines = printed(response(hit("a")), first=11)
    assert lines[:3] == ["11  Title of a", "    1987-03-01 · Reuter · a", f"    {TEXT}"]


def test_a_duplicate_is_indented_under_its_lead_with_level_reason_and_what_differs() -> None:
    lines = printed(response(hit("a"), duplicate("b", TEXT.replace("12.1", "12.3"))))
    assert lines[3:7] == [
        "    └ Title of b",
        "      1987-03-01 · Reuter · b",
        "      near: 57 of 60 rare terms shared, 1 day apart",
        "      differs: … rose to [12.1 → 12.3] mln dlrs …",
    ]


def test_nothing_is_said_to_differ_when_no_word_does() -> None:
    assert not [line for line in printed(response(hit("a"), duplicate("b", TEXT.upper()))) if "differs" in line]


def test_words_of_the_query_are_marked_also_without_colour() -> None:
    lead = hit("a") | {"highlight": {"text": [f"Net {OPEN}profit{CLOSE} rose"], "title": [f"{OPEN}Profit{CLOSE} up"]}}
    assert printed(response(lead))[0] == " 1  *Profit* up"
    assert "    Net *profit* rose" in printed(response(lead))
    coloured = "\n".join(printed(response(lead), force_terminal=True, color_system="standard"))
    assert "*" not in coloured
    assert "\x1b[" in coloured


def test_a_collapsed_lead_says_how_many_duplicates_are_hidden() -> None:
    lead = hit("a", size=8) | {
        "inner_hits": {"duplicates": {"hits": {"hits": [duplicate("b")], "total": {"value": 8}}}}
    }
    lines = printed(response(lead, mode="collapse"))
    assert "    + 7 duplicates" in lines
    assert "    └ Title of b" not in lines


def test_a_group_of_which_some_duplicates_are_shown_says_how_many_more_there_are() -> None:
    assert "    + 1 more duplicate, shown with --max-per-group" in printed(response(hit("a", size=3), duplicate("b")))


def test_copies_that_were_only_counted_are_reported_below_their_lead() -> None:
    lines = printed(response(hit("a", size=3, only_counted=8500), duplicate("b")))
    at = lines.index("    + 1 more duplicate, shown with --max-per-group")
    assert lines[at + 1] == "    + 8,500 further duplicates matched and counted, not listed"


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


def test_a_search_that_finds_nothing_says_so() -> None:
    nothing = {"documents": {"matched": 0, "in_window": 0}, "groups": {"in_window": 0}}
    assert printed(response(**nothing))[-1] == "no results"


def test_a_narrow_terminal_wraps_under_the_indent_and_keeps_a_duplicate_on_its_lines() -> None:
    lines = printed(response(hit("a", TEXT * 4), duplicate("b", TEXT * 4)), width=40)
    assert all(len(line) <= 40 for line in lines)
    assert all(line.startswith("    ") for line in lines[1 : lines.index("")])


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


@pytest.mark.slow
def test_of_a_large_group_three_duplicates_are_printed_and_a_program_gets_all(
    run: Run, answer: Answer, tmp_path: Path
) -> None:
    copies = [json.dumps({"id": f"copy-{number}", "text": LEASE}) for number in range(9)]
    (tmp_path / "copies.jsonl").write_text("\n".join(copies), encoding="utf-8")
    run("ingest", "copies.jsonl")
    _, out, _ = run("search", "London")
    assert out.count("└") == 3
    assert "+ 7 more duplicates, shown with --max-per-group\n" in out
    assert run("search", "London", "--max-per-group", "10")[1].count("└") == 10
    assert run("search", "London", "--window", "2")[1].count("└") == 2
    assert len(answer("search", "London")["hits"]["hits"]) == 11


def test_a_collapsed_search_counts_the_duplicates(run: Run) -> None:
    _, out, _ = run("search", "drains", "--dedupe", "collapse")
    assert "+ 2 duplicates" in out
    assert "Lease (copy)" not in out


def test_a_search_without_dedupe_is_the_plain_list(run: Run) -> None:
    _, out, _ = run("search", "drains", "--dedupe", "off")
    assert [number in out for number in (" 1  ", " 2  ", " 3  ")] == [True] * 3
    assert "└" not in out


def test_neighbours_of_a_passage_follow_it_with_the_words_that_overlap(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"sqlite:///{tmp_path / 'passages.sqlite'}"
    engine = open_engine(address, "passages")
    engine.create()
    engine.write(cut_lease())
    engine.close()
    monkeypatch.setenv("IBIDEM_ENGINE", address)
    monkeypatch.setenv("IBIDEM_INDEX", "passages")
    code, out, _ = run("search", "rent", "--document", "meta.document")
    assert code == 0
    assert "partial: follows it in the same document, 6 words overlap" in out
    assert "4 groups" not in run("search", "--document", "meta.document")[1]
    assert "--document 'a b'" in run("search", "rent", "--document", "a b")[2]


def test_keep_chooses_the_lead(answer: Answer) -> None:
    output = answer("search", "drains", "--keep", "source:Registry")
    assert output["hits"]["hits"][0]["_id"] == "copy"


def test_the_response_for_programs_explains_only_when_asked(answer: Answer) -> None:
    mark = answer("search", "drains")["hits"]["hits"][1]["_dedupe"]
    explanation = answer("search", "drains", "--explain")["hits"]["hits"][1]["_dedupe"]
    assert mark["why"] is None
    assert explanation["why"]["signature"] == "content"


def test_a_typing_error_is_answered_with_a_spelling_of_the_index(run: Run, answer: Answer) -> None:
    _, out, _ = run("search", "title:reminderr", "AND", "Sir")
    assert "did you mean: title:reminder AND Sir\n" in out
    assert answer("search", "title:reminderr")["dedupe"]["did_you_mean"] == "title:reminder"
    assert answer("search", "title:reminder")["dedupe"]["did_you_mean"] == ""


def test_a_spelling_that_finds_nothing_is_not_offered(answer: Answer) -> None:
    assert answer("search", "reminderr drains")["dedupe"]["did_you_mean"] == ""


def test_what_is_not_understood_in_a_query_is_named(run: Run, answer: Answer) -> None:
    _, out, _ = run("search", "drains", "author:smith")
    assert "author:smith: field 'author' does not exist; searched as words" in out
    (note,) = answer("search", "drains~2")["dedupe"]["not_understood"]
    assert note.startswith("drains~2")


@pytest.mark.slow
def test_only_what_an_older_table_signed_is_counted_as_such(
    run: Run, answer: Answer, tmp_path: Path, tables_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "own tables"
    shutil.copytree(tables_folder, folder)
    monkeypatch.setenv("IBIDEM_TABLES", str(folder))
    words = ["mietvertrag", "wohnung", "vermieter", "drains"]
    Tables(folder).use(Table.build("de", 10_000, dict.fromkeys(words, 10.0), "a test"))
    german = [{"id": f"de-{number}", "text": f"{' '.join(words)} {number}", "language": "de"} for number in (1, 2)]
    (tmp_path / "german.jsonl").write_text("\n".join(map(json.dumps, german)), encoding="utf-8")
    run("ingest", "german.jsonl")
    assert answer("search", "drains")["dedupe"]["mixed_tables"] == 0
    Tables(folder).use(Table.build("de", 20_000, dict.fromkeys(words, 20.0), "a newer test"))
    assert answer("search", "drains")["dedupe"]["mixed_tables"] == 2
    assert "2 signed with another idf table" in run("search", "drains")[1]


def test_a_filter_keeps_what_it_names(answer: Answer) -> None:
    assert answer("search", "rent", "--filter", "source=Registry")["hits"]["total"]["value"] == 1


def test_a_search_in_an_index_that_is_not_there_names_the_command_that_makes_it(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("IBIDEM_INDEX", "nothing")
    code, out, err = run("search", "drains")
    assert (code, out) == (1, "")
    assert "ibidem ingest" in err


def test_a_setting_that_is_not_known_is_a_wrong_use(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("IBIDEM_ENGIN", "sqlite:///x")
    code, _, err = run("search", "drains")
    assert code == 2
    assert "IBIDEM_ENGINE" in err


def ids(output: dict[str, object]) -> list[str]:
    return [each["_id"] for each in output["hits"]["hits"]]  # type: ignore[index]


def test_search_without_words_lists_all_documents(answer: Answer) -> None:
    output = answer("search", "--dedupe", "off")
    assert set(ids(output)) == {"lease", "copy", "draft", "letter", "blank"}
    assert output["hits"]["total"]["value"] == 5
    assert answer("search")["dedupe"]["grouping"] == "stored"


def test_search_sorts_by_date_where_asked(answer: Answer) -> None:
    newest, oldest = (answer("search", "--dedupe", "off", "--sort", order) for order in ("newest", "oldest"))
    dates = [each["_source"]["date"] for each in newest["hits"]["hits"] if each["_source"].get("date")]
    assert dates == sorted(dates, reverse=True)
    assert ids(oldest) != ids(newest)
    assert ids(answer("search", "--sort", "newest"))[0] == ids(newest)[0]


def test_search_refuses_an_order_that_does_not_exist(run: Run) -> None:
    code, _, err = run("search", "--sort", "best")
    assert (code, err) == (2, "ibidem: --sort 'best' is not valid; allowed: relevance, newest, oldest\n")


def test_search_names_eight_options_first_and_the_others_as_advanced(run: Run) -> None:
    first, advanced = run("search", "--help")[1].split("Advanced options")
    options = [line for line in first.splitlines() if line.lstrip("│ ").startswith("--")]
    assert len(options) == 9  # with --help
    assert "--window-days" in advanced


def test_an_error_names_the_option_that_was_typed(run: Run) -> None:
    assert run("search", "roof", "--level", "nearly")[2].startswith("ibidem: --level 'nearly' is not valid")
