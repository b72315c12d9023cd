"""What a name says about the version, and what is left of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_mail.versioned_document import read_identifier, read_name, read_number


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("Lease of the house v3", (3,)),
        ("Lease_of_the_house_v2.1_draft.pdf", (2, 1)),
        ("Lease of the house (2).docx", (2,)),
        ("Lease of the house, rev. B", (2,)),
        ("Lease of the house, 3rd edition", (3,)),
        ("Second edition: lease of the house", (2,)),
        ("Lease of the house \u2013 Entwurf 4", (4,)),
        ("Lease of the house, as amended", ()),
        ("LEASE of the house 2019-2020", ()),
        ("Copy of lease of the house FINAL", ()),
        ("Lease of the house (effective 10/29/2020)", ()),
        ("Lease of the house 2019/20", ()),
        ("Lease of the house, v.3", (3,)),
    ],
)
def test_versions_of_one_work_have_one_name(name: str, number: tuple[int, ...]) -> None:
    assert (read_name(name).work, read_name(name).number) == ("lease of the house", number)


@pytest.mark.parametrize(
    "name",
    [
        "Roe v. Wade",
        "United States v. 37 Photographs",
        "Chapter 12",
        "Issue 7",
        "Part 2",
        "Report No. 3",
        "Newer York",
    ],
)
def test_a_number_that_names_another_work_is_no_version(name: str) -> None:
    assert read_name(name).number == ()
    assert len(read_name(name).work.split()) == len(name.split())


def test_drafts_come_before_others_and_final_ones_behind_them() -> None:
    stages = [read_name(f"lease {word}").stage for word in ("draft", "", "as amended", "final")]
    assert stages == [0, 1, 2, 3]


def test_the_number_at_the_end_of_an_internet_draft_is_its_version() -> None:
    assert read_name("draft-ietf-quic-http-07.txt").number == (7,)
    assert read_name("draft-ietf-quic-http-07.txt").work == read_name("draft-ietf-quic-http-12.txt").work


@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("Directive 2006/123/EC", "directive 2006 123 ec"),
        ("Directive 2006/07/EC", "directive 2006 07 ec"),
        ("2006/48/EC", "2006 48 ec"),
        ("Regulation (EU) 2016/679", "regulation eu 2016 679"),
        ("Regulation (EU) 2019/2020", "regulation eu 2019 2020"),
        ("Regulation (EU) No 604/2013", "regulation eu no 604 2013"),
        ("Case 2019/1234", "case 2019 1234"),
        ("ECLI:EU:C:2014:317", "ecli eu c 2014 317"),
        ("Plan 2019-2023", "plan 2019 2023"),
    ],
)
def test_a_year_that_is_part_of_a_number_stays_in_the_name(name: str, work: str) -> None:
    assert (read_name(name).work, read_name(name).year) == (work, None)


@pytest.mark.parametrize(
    ("name", "work", "number"),
    [
        ("http://data.europa.eu/eli/reg/2016/679/oj", "http data europa eu eli reg 2016 679 oj", ()),
        ("ECLI:EU:C:2014:317", "ecli eu c 2014 317", ()),
        ("law.example/acts/2020-01-01/3", "law example acts 2020 01 01 3", ()),
        ("arXiv:2301.00001v5", "arxiv 2301 00001", (5,)),
        ("shop.example/v2/terms.html", "shop example terms", (2,)),
        ("shop.example/terms-v2.1.pdf", "shop example terms", (2, 1)),
        ("draft-ietf-quic-http-07", "draft ietf quic http", (7,)),
    ],
)
def test_an_identifier_keeps_its_years_and_numbers_but_no_version_mark(
    name: str, work: str, number: tuple[int, ...]
) -> None:
    assert (read_identifier(name).work, read_identifier(name).number) == (work, number)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("15.02.2024", (2024, 2, 15)),
        ("2024-03-01T00:30:00+02:00", (2024, 2, 29, 22, 30, 0)),
        ("third", (3,)),
        ("Second", (2,)),
        ("123456789", (123456789,)),
        (True, ()),
        (False, ()),
    ],
)
def test_a_declared_number_may_be_a_date_or_a_word(value: object, number: tuple[int, ...]) -> None:
    assert read_number(value) == number


@given(st.text(max_size=400), st.integers(0, 99), st.sampled_from(["{} v{}", "{} (version {})", "{}, rev. {}"]))
def test_a_mark_behind_a_name_changes_its_number_alone(name: str, number: int, mark: str) -> None:
    plain = read_name(f"{name[:200]} x")
    marked = read_name(mark.format(f"{name[:200]} x", number))
    assert (marked.work, marked.stage, marked.dates) == (plain.work, plain.stage, plain.dates)
    assert plain.number or marked.number == (number,)


@given(st.text(max_size=400))
def test_a_name_is_left_in_small_words_without_a_blank_too_many(name: str) -> None:
    for work in (read_name(name).work, read_identifier(name).work):
        assert work == " ".join(work.split())
        assert all(each.isalnum() or each in "_ " for each in work)
