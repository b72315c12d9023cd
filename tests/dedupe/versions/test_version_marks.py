"""What a name says about the version, and what is left of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.versions.version_marks import read_name, read_number


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
    ],
)
def test_versions_of_one_work_have_one_name(name: str, number: tuple[int, ...]) -> None:
    assert (read_name(name).work, read_name(name).number) == ("lease of the house", number)


@pytest.mark.parametrize("name", ["Roe v. Wade", "Chapter 12", "Issue 7", "Part 2", "Report No. 3", "Newer York"])
def test_a_number_that_names_another_work_is_no_version(name: str) -> None:
    assert read_name(name).number == ()
    assert len(read_name(name).work.split()) == len(name.split())


def test_drafts_come_before_others_and_final_ones_behind_them() -> None:
    stages = [read_name(f"lease {word}").stage for word in ("draft", "", "as amended", "final")]
    assert stages == [0, 1, 2, 3]


def test_the_number_at_the_end_of_an_internet_draft_is_its_version() -> None:
    assert read_name("draft-ietf-quic-http-07.txt").number == (7,)
    assert read_name("draft-ietf-quic-http-07.txt").work == read_name("draft-ietf-quic-http-12.txt").work


@given(st.text(max_size=400))
def test_every_name_is_read(name: str) -> None:
    assert read_name(name).number == () or all(part >= 0 for part in read_name(name).number)
    read_number(name)
