"""A response reads as a list: leads, their duplicates indented below, why, what differs, and the account."""

from io import StringIO

import pytest
from rich.console import Console

from ibidem.cli.console import THEME
from ibidem.cli.result_list import show
from ibidem_engines.engine import HIGHLIGHT

OPEN, CLOSE = HIGHLIGHT
TEXT = "Net profit rose to 12.1 mln dlrs in the first quarter"


def hit(id_: str, text: str = TEXT, **mark: object) -> dict[str, object]:
    source = {"title": f"Title of {id_}", "date": "1987-03-01", "source": "Reuter", "text": text}
    return {"_id": id_, "_source": source, "_dedupe": {"group": "g", "indent": 0, "size": 2, "hidden": 0} | mark}


def duplicate(id_: str, text: str = TEXT, level: str = "near") -> dict[str, object]:
    why = {"signature": "termvector", "shared": 57, "of": 60, "days_apart": 1, "length_ratio": 0.99}
    return hit(id_, text, indent=1, level=level, why=why)


def response(*hits: dict[str, object], **account: object) -> dict[str, object]:
    told = {
        "mode": "indent",
        "documents": {"matched": 212, "in_window": 200, "beyond_window": 12, "on_page": len(hits)},
        "groups": {"in_window": 74, "on_page": 1, "exact": True},
        "unsigned": 0,
        "late": [],
    }
    return {"hits": {"hits": list(hits)}, "dedupe": told | account}


def printed(answer: dict[str, object], first: int = 1, **options: object) -> list[str]:
    paper = StringIO()
    show(answer, Console(file=paper, theme=THEME, **({"width": 100} | options)), first)
    return [line.rstrip() for line in paper.getvalue().splitlines()]


def test_a_lead_is_numbered_and_says_whence_it_is() -> None:
    lines = printed(response(hit("a")), first=11)
    assert lines[:3] == ["11  Title of a", "    1987-03-01 · Reuter · a", f"    {TEXT}"]


def test_a_duplicate_stands_indented_under_its_lead_with_level_reason_and_what_differs() -> None:
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


def test_copies_that_were_only_counted_are_told_below_their_lead() -> None:
    lines = printed(response(hit("a", size=3, only_counted=8500), duplicate("b")))
    at = lines.index("    + 1 more duplicate, shown with --max-per-group")
    assert lines[at + 1] == "    + 8,500 further copies matched and counted, not listed"


def test_late_documents_stand_above_the_list() -> None:
    lines = printed(response(hit("a"), late=[{"id": f"late-{n}", "group": "g", "page": 1} for n in range(12)]))
    assert lines[0] == "12 more members of groups on earlier pages:"
    assert lines[1] == "    late-0 (page 1)"
    assert lines[11] == "    … 2 more"
    assert lines.index("") < lines.index(" 1  Title of a")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "74 groups in the first 200 of 212 results; showing 1–1"),  # noqa: RUF001 - a range
        ({"mode": "off"}, "212 results; showing 1–1"),  # noqa: RUF001 - a range
        (
            {"capped": [{"group": "g", "by": ["bands"]}]},
            "74 groups in the first 200 of 212 results; look-up limited for 1 lead; showing 1–1",  # noqa: RUF001 - a range
        ),
        ({"unsigned": 3}, "74 groups in the first 200 of 212 results; 3 without signatures; showing 1–1"),  # noqa: RUF001
    ],
)
def test_the_account_is_one_line_at_the_end(changes: dict[str, object], said: str) -> None:
    assert printed(response(hit("a"), **changes))[-1] == said


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
    said = (
        "      near: 57 of 60 rare terms shared, 1 day apart; declared same as c, group g; it does not match the query"
    )
    assert said in printed(response(hit("a"), outside), width=130)
