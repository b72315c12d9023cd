"""Parts of a mail: what its author wrote, what is quoted, what introduces it, and the signature, each at its place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem_ingest.mail.parts import own_text, part
from support.examples import examples

HEADS = {
    "English": "-----Original Message-----\nFrom: Ann\nSent: Monday, May 03, 2004\nTo: Bob\nSubject: rent\n",
    "German": "Von: Ann\nGesendet: Montag, 3. Mai 2004 10:00\nAn: Bob\nBetreff: Miete\n",
    "French": "________________________________\nDe : Ann\nEnvoyé : lundi 3 mai 2004\nÀ : Bob\nObjet : loyer\n",
    "Spanish": "De: Ann\nEnviado el: lunes, 3 de mayo de 2004\nPara: Bob\nAsunto: renta\n",
    "Italian": "Da: Ann\nInviato: lunedì 3 maggio 2004\nA: Bob\nOggetto: affitto\n",
    "Notes": "Ann <ann@example.org> on 05/03/2004 10:00:00 AM\nTo: Bob\ncc:\nSubject: rent\n",
    "forward": "---------- Forwarded message ---------\nFrom: Ann <ann@x.org>\nDate: Mon\nSubject: rent\nTo: Bob\n",
}
ATTRIBUTIONS = [
    "On Mon, May 3, 2004 at 10:00 AM, Ann Landlord\n<ann@example.org> wrote:",
    "Am 03.05.2004 um 10:00 schrieb Ann Landlord <ann@example.org>:",
    "Le 3 mai 2004 à 10:00, Ann Landlord a écrit\u00a0:",
    "El 3 may 2004, a las 10:00, Ann escribió:",
    "Il giorno 3 mag 2004, alle ore 10:00, Ann ha\nscritto:",
]


def pieces(text: str, kind: str) -> list[str]:
    return [text[each.start : each.end] for each in part(text) if each.kind == kind]


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_a_copied_head_begins_a_quotation_that_goes_on_to_the_end(head: str) -> None:
    text = f"Today.\n\n{head}\nIs it due?\n\nAnn\n"
    assert pieces(text, "new") == ["Today.\n\n"]
    assert pieces(text, "quoted") == ["Is it due?\n\nAnn\n"]


@pytest.mark.parametrize("line", ATTRIBUTIONS)
def test_a_line_of_attribution_introduces_what_is_marked_and_what_is_not(line: str) -> None:
    for quoted in ("> Is it due?\n", "Is it due?\n"):
        text = f"Today.\n\n{line}\n\n{quoted}"
        assert pieces(text, "new") == ["Today.\n\n"]
        assert pieces(text, "heading") == [f"{line}\n\n"]


def test_answers_between_quoted_lines_are_the_authors() -> None:
    text = "Ann wrote:\n> Is it due?\nYes.\n> And the roof?\n\nTight.\n-- \nBob\n"
    assert own_text(text) == "Yes.\nTight.\n"
    assert pieces(text, "signature") == ["-- \nBob\n"]


def test_an_indented_quotation_ends_where_the_indent_does() -> None:
    text = "Ann wrote:\n\n    Is it due?\n    Tell me.\n\nYes.\n"
    assert own_text(text) == "Yes.\n"


@pytest.mark.parametrize(
    "text",
    [
        "From: the window you see the yard.\nIt rains.\n",
        "We agreed on this:\n- the rent\n- the roof\n",
        ">>> 1 + 1\n2\n>>> 2 + 2\n4\n",
        ">From here on it is ours.\n",
        "----------------\nTotal: 512\n----------------\n",
        "a > b\n\nHe wrote: no.\nThat is all.\n",
        "The label reads\nTo: Bob\nfragile\n",
    ],
)
def test_what_only_looks_like_a_quotation_is_the_authors(text: str) -> None:
    assert own_text(text) == text


def test_depths_count_marks_and_copied_heads_alike() -> None:
    text = f"c\n\n{HEADS['English']}\nb\n\n{HEADS['German']}\na\n> z\n"
    assert [(each.depth, text[each.start : each.end].strip()) for each in part(text) if each.kind == "quoted"] == [
        (1, "b"),
        (2, "a"),
        (3, "> z"),
    ]


def test_the_rest_of_a_line_that_a_program_wrapped_is_quoted() -> None:
    text = f"> {'word ' * 14}and\nmore of it\n> until here\nYes.\n"
    assert own_text(text) == "Yes.\n"


def test_the_footer_of_a_list_and_the_line_of_a_telephone_are_no_text() -> None:
    footer = "_______________\nleases mailing list\nhttps://lists.example.org/listinfo/leases\n"
    assert own_text(f"Yes.\n\nSent from my iPhone\n\n{footer}") == "Yes.\n\n"


def test_a_mail_without_words_of_its_own_is_its_whole_text() -> None:
    assert own_text("> Is it due?\n") == "> Is it due?\n"


def test_two_hundred_levels_are_told_apart() -> None:
    text = "".join(f"{'>' * level} at {level}\n" for level in range(201))
    assert [each.depth for each in part(text)] == list(range(201))


def test_a_name_before_each_quoted_line_marks_it_also_between_answers() -> None:
    for above in ("On 3 May 2004, Ann wrote:\n", '>>>>> "Ann" == Ann Landlord <ann@example.org> writes:\n\n'):
        text = f"{above}    Ann> Is it due?\n    Ann> Thirty?\n\nYes.\n\n    Ann> And the roof?\nTight.\n"
        assert own_text(text) == "Yes.\n\nTight.\n"
        assert {each.depth for each in part(text) if each.kind == "quoted"} == {1}


def test_a_forwarded_mail_that_is_marked_with_its_head_is_as_deep_as_its_marks() -> None:
    text, head = (
        "See below.\n\n",
        HEADS["forward"].replace("---------- Forwarded message ---------", "Begin forwarded message:\n"),
    )
    for depth in (1, 2, 3):
        text += "".join(f"{'> ' * depth}{line}\n" for line in f"{head}\nNews of level {depth}.".split("\n"))
    assert [(each.kind, each.depth) for each in part(text)] == [
        ("new", 0),
        *((kind, depth) for depth in (1, 2, 3) for kind in ("heading", "quoted")),
    ]


def test_a_head_that_an_answer_quotes_introduces_what_is_one_level_deeper() -> None:
    head = "".join(f"> {line}\n" for line in HEADS["English"].splitlines())
    text = f"Yes.\n\nOn Mon, May 3, 2004 at 10:00 AM, Bob <bob@example.org> wrote:\n{head}> \n> Is it due?\n"
    assert [(each.kind, each.depth) for each in part(text)] == [
        ("new", 0),
        ("heading", 1),
        ("heading", 2),
        ("quoted", 2),
    ]


@pytest.mark.slow
def test_a_mail_of_twenty_megabytes_is_parted_to_the_last_character() -> None:
    text = "Yes, it is due.\n> Is the rent of the house at the harbour due on the first of May?\n" * 250_000
    parts = part(text)
    assert len(text) > 20_000_000
    assert (len(parts), parts[-1].end, parts[-1].kind) == (500_000, len(text), "quoted")


MARKED = ["> q", ">> q", ">", ">>> x", ">From x"]
HEADINGS = ["From: a", "To: b", "Subject: c", "Von:", "On 1.1.2001 a wrote:", "a wrote:", "-----Original Message-----"]
PLAIN = ["", "text", "--", "-- ", "\r", "____" * 5, "    x", "\x0c", "Sent from my x"]
LINES = st.sampled_from([*MARKED, *HEADINGS, *PLAIN])


@given(st.lists(LINES, max_size=30).map("\n".join))
@settings(max_examples=examples(300))
def test_each_character_belongs_to_one_part(text: str) -> None:
    parts = part(text)
    assert "".join(text[each.start : each.end] for each in parts) == text
    assert all(each.start < each.end for each in parts)
