"""Parts of a mail: head, what its author wrote, what is quoted, what introduces it, each at its place."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.mail.head import bare_subject, is_answer, is_mail, with_hash
from ibidem_ingest.mail.html_body import html_to_text
from ibidem_ingest.mail.parts import mail_key, own_text, part
from ibidem_ingest.signatures.sign import sign
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


FOOTER = "_______________\nleases mailing list\nhttps://lists.example.org/listinfo/leases\n"
BETWEEN = "Ann wrote:\n> Is it due?\nYes.\n> And the roof?\n\nTight.\n-- \nBob\n"


@pytest.mark.parametrize(
    ("text", "own"),
    [
        pytest.param(BETWEEN, "Yes.\nTight.\n", id="answers between quoted lines"),
        pytest.param(f"> {'word ' * 14}and\nmore of it\n> until here\nYes.\n", "Yes.\n", id="a wrapped line"),
        pytest.param(f"Yes.\n\nSent from my iPhone\n\n{FOOTER}", "Yes.\n\n", id="a telephone and a list"),
    ],
)
def test_what_is_not_quoted_and_no_signature_is_the_authors(text: str, own: str) -> None:
    assert own_text(text) == own


def test_two_hundred_levels_are_told_apart() -> None:
    text = "".join(f"{'>' * level} at {level}\n" for level in range(201))
    assert [each.depth for each in part(text)] == list(range(201))


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


@pytest.mark.parametrize(
    "subject", ["Re: Miete", "AW: WG: Miete", "RE: [leases] Miete", "TR : Miete", "RV: Re[2]: Miete", "Sv: Miete (fwd)"]
)
def test_prefixes_in_any_language_are_no_part_of_a_subject(subject: str) -> None:
    assert bare_subject(subject) == "Miete"
    assert is_answer(subject)


def test_a_record_of_another_program_with_an_id_of_a_message_is_a_mail() -> None:
    assert is_mail({"message-id": "<1@example.org>"})
    assert is_mail({"type": "mail"})
    assert not is_mail({"type": "letter"})


MAIL = {"type": "mail", "from": "Ann <ann@example.org>", "sent": "Mon, 19 Oct 1987 09:30:00 +0200"}


@pytest.mark.parametrize(
    ("meta", "key"),
    [
        (MAIL | {"message-id": "<1@x>"}, "ann@example.org 1987-10-19T07:30:00"),
        (MAIL | {"from": "ANN@example.org", "sent": "1987-10-19T07:30:00Z"}, "ann@example.org 1987-10-19T07:30:00"),
        (MAIL | {"sent": "", "message-id": "<1@x>"}, "<1@x>"),
        (MAIL | {"from": "", "message-id": "<1@x>"}, "<1@x>"),
        (MAIL | {"from": ""}, ""),
        ({"from": "Ann <ann@example.org>", "sent": "1987-10-19"}, ""),
    ],
)
def test_a_mail_is_the_same_by_sender_and_time_or_else_by_its_message_id(meta: dict[str, str], key: str) -> None:
    assert mail_key(Document("a", "Agreed.", meta=meta)) == key


def test_what_stands_in_blockquote_is_marked_at_each_depth() -> None:
    html = (
        "<div>Yes.</div><div>On 3 May 2004 Ann wrote:<blockquote>due?<blockquote>roof</blockquote></blockquote></div>"
    )
    text = html_to_text(html)
    assert [line for line in text.splitlines() if line.strip("> ")] == [
        "Yes.",
        "On 3 May 2004 Ann wrote:",
        "> due?",
        "> > roof",
    ]
    assert own_text(text).strip() == "Yes."


def test_the_head_that_outlook_copies_is_lines() -> None:
    html = "<p>Yes.</p><hr><div><b>From:</b> Ann<br><b>Sent:</b> 3 May 2004<br><b>To:</b> Bob</div><p>due?"
    assert own_text(html_to_text(html)).strip() == "Yes."


def test_scripts_and_styles_are_not_shown_and_lines_of_pre_are_kept() -> None:
    assert html_to_text("<head><title>t</title></head><style>p {}</style><pre>a\n  b</pre>") == "a\n  b\n"


def test_thousands_of_levels_are_taken() -> None:
    assert "deep" in html_to_text("<blockquote>" * 200 + "deep")
    assert html_to_text("<div>" * 5_000 + "deep") is not None
    assert html_to_text(" ") == ""


QUOTED = "\n> ".join(
    ["On 3 May 2004, Ann wrote:", *(f"the roof of house {number} lets in the rain" for number in range(40))]
)


@pytest.mark.slow
def test_two_answers_that_quote_one_mail_are_signed_by_their_own_words(tmp_path: Path) -> None:
    meta = {"message-id": "<1@example.org>"}
    answers = [
        Document("a", f"I shall see to it.\n\n{QUOTED}", meta=meta),
        Document("b", f"Not ours.\n\n{QUOTED}", meta=meta),
    ]
    first, second = sign(answers, Tables(tmp_path))
    assert (first.length, second.length) == (5, 2)
    assert first.content != second.content


def test_the_hash_is_of_the_first_message_id_as_it_stands() -> None:
    for value in (" <1@x> (made) <2@x>", ["<1@x>", "<2@x>"]):
        assert with_hash({"message-id": value})["mih"] == "3d01a3d9cf298610632c542db943942f"
    for meta in ({"message-id": ""}, {"message-id": "<1@x>", "mih": "own"}):
        assert with_hash(meta) == meta
