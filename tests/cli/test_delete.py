"""`ibidem delete`: documents go, on wish with their equal copies or with all that holds their text, and come back."""

import json
from io import StringIO
from pathlib import Path

import pytest

from support.command_line import Answer, Run

LETTER = (
    "The ministry raised the export duty on wheat to twelve per cent on Monday, and said that the quota of each port "
    "stays as it is until the harvest. Traders in the north had expected ten, and the price fell in the afternoon."
)
HIDDEN = "The harbour master has kept a second ledger of every ship that came in after dark since the spring."
ATTACHED = "\n".join(
    [
        "--x\nContent-Type: text/plain\n\nSee below.",
        f"--x\nContent-Type: text/plain; name=a.txt\n\n{HIDDEN}",
        "--x--\n",
    ]
)
SIGNS = (
    ("-5,200", "5,200"),
    ("a<b", "a>b"),
    ("☑", "☐"),
    ("C++", "C"),
    ("D+", "D#"),
    ("10²", "102"),
    ("5.2", "5,2"),
    ("GPL-2.0+", "GPL-2.0"),
    ("Fe2+", "Fe2-"),
    ("!valid", "valid"),
    ("👍", "👎"),
    ("€500", "$500"),
    ("5%", "5‰"),
    ("±5", "5"),
    ("x≤y", "x≥y"),
    ("a=b", "a≠b"),
    ("H₂O", "H2O"),
    ("(7)", "7?"),
    ("US", "us"),
    ("résumé", "resume"),
    ("A/B", "A-B"),
    ("Smith's", "Smith s"),
)


def test_delete_asks_and_leaves_all_as_it_is_without_an_answer(run: Run, answer: Answer, monkeypatch) -> None:
    for reply, left in (("n\n", 0), ("", 2)):
        monkeypatch.setattr("sys.stdin", StringIO(reply))
        code, _, err = run("delete", "letter")
        assert code == left
        assert "A reminder" in err
    assert answer("search", "reminder")["hits"]["total"]["value"] == 1


def test_a_document_that_is_not_there_is_named_and_the_others_are_deleted(run: Run, answer: Answer) -> None:
    code, _, err = run("delete", "nosuch")
    assert (code, "not found: nosuch" in err) == (1, True)
    assert run("delete", "nosuch", "letter", "--yes")[0] == 1
    assert answer("search", "reminder")["hits"]["total"]["value"] == 0


def test_what_is_not_named_or_named_with_other_options_is_a_wrong_use(run: Run) -> None:
    assert run("delete")[0] == run("delete", "lease", "--undo", "--everything")[0] == 2


@pytest.mark.slow
def test_documents_that_differ_in_a_sign_are_kept_and_shown_with_it(run: Run, answer: Answer) -> None:
    pairs = {f"{number}-{side}": pair[side] for number, pair in enumerate(SIGNS) for side in (0, 1)}
    ingest(run, {id_: noted(sign) for id_, sign in pairs.items()})
    for number, (left, right) in enumerate(SIGNS):
        result = answer("delete", f"{number}-0", "--identical", "--yes")
        shown = result["differences"][f"{number}-1"]
        assert result["ids"] == [f"{number}-0"]
        assert f"{number}-1" in result["kept"]
        assert f"have noted {left} here” → “" in shown
        assert shown.endswith(f"have noted {right} here”")
    assert answer("search", "noted")["hits"]["total"]["value"] == len(SIGNS)


@pytest.mark.slow
def test_the_same_words_are_taken_on_wish_and_each_is_printed_with_its_difference(run: Run) -> None:
    ingest(run, {"minus": noted("-5,200"), "plus": noted("5,200"), "other": noted("5,300")})
    code, out, err = run("delete", "minus", "--identical", "--same-words", "--yes")
    printed = " ".join(err.split())
    assert (code, out.splitlines()[0]) == (0, "2 documents deleted")
    assert "plus (text: “…Both parties have noted -5,200 here” → “…Both parties have noted 5,200 here”)" in printed
    assert run("search", "noted")[1].count("5,300") == 1


@pytest.mark.slow
def test_texts_that_differ_in_unicode_form_and_white_space_alone_are_equal(run: Run, answer: Answer) -> None:
    ingest(run, {"form": noted("café"), "other form": noted("cafe\u0301").replace(" ", "\n")})
    result = answer("delete", "form", "--identical", "--yes")
    assert (sorted(result["ids"]), result["kept"]) == (["form", "other form"], [])


@pytest.mark.slow
def test_a_mail_is_equal_only_with_its_sender_recipients_and_date(run: Run, answer: Answer) -> None:
    Path("mails").mkdir()
    others = {
        "equal": {},
        "to": {"To": "carl@example.org"},
        "from": {"From": "dora@example.org"},
        "cc": {"Cc": "carl@example.org"},
        "date": {"Date": "Tue, 02 May 2000 10:00:00 +0000"},
        "title": {"Subject": "The duty, again"},
    }
    for name, fields in {"mail": {}, **others}.items():
        Path("mails", f"{name}.eml").write_text(mail(fields))
    assert run("ingest", "mails")[0] == 0
    result = answer("delete", "mail.eml", "--identical", "--yes")
    assert sorted(result["ids"]) == ["equal.eml", "mail.eml"]
    differing = {name: shown.partition(":")[0] for name, shown in result["differences"].items()}
    assert differing == {"equal.eml": ""} | {f"{name}.eml": name for name in others if name != "equal"}


def test_the_same_words_with_another_title_and_date_are_taken_on_wish(run: Run, answer: Answer) -> None:
    result = answer("delete", "lease", "--identical", "--yes")
    assert (result["ids"], result["kept"]) == (["lease"], ["copy", "draft"])
    assert "title: “Lease: rent, roof, drains” → “Lease (copy)”; date:" in result["differences"]["copy"]
    assert run("delete", "lease", "--undo")[0] == 0
    assert sorted(answer("delete", "lease", "--same-words", "--yes")["ids"]) == ["copy", "lease"]
    assert answer("search", "drains")["hits"]["total"]["value"] == 1


def test_a_takedown_of_an_unknown_document_deletes_nothing(run: Run, answer: Answer) -> None:
    assert run("delete", "lease", "nosuch", "--identical", "--yes")[0] == 2
    assert answer("search", "drains")["hits"]["total"]["value"] == 3


@pytest.mark.slow
def test_a_deletion_is_taken_back_with_all_its_fields_though_its_document_has_a_version(
    run: Run, answer: Answer
) -> None:
    ingest(run, {"versioned": "The third edition of the harbour rules."}, version=3, title="Rules", court="London")
    before = answer("search", "harbour")["hits"]["hits"][0]["_source"]
    deleted = answer("delete", "versioned", "--yes")
    (kept,) = answer("delete", "--undo")["kept"]
    assert kept == {"id": "versioned", "title": "Rules", "until": deleted["undo_until"]}
    assert answer("delete", "--undo", "versioned") == {"restored": 1, "ids": ["versioned"]}
    assert answer("search", "harbour")["hits"]["hits"][0]["_source"] == before
    assert "No deletion" in run("delete", "--undo")[1]
    assert run("delete", "--undo", "versioned")[0] == 2
    ingest(run, {"versioned": "The fourth edition of the harbour rules."}, version=4)
    assert answer("search", "fourth")["hits"]["total"]["value"] == 1


def test_what_tombstones_no_longer_hold_cannot_be_taken_back(run: Run, answer: Answer, monkeypatch) -> None:
    answer("delete", "letter", "--yes")
    monkeypatch.setenv("IBIDEM_TOMBSTONE_DAYS", "0")
    assert answer("delete", "--undo")["kept"] == []
    code, _, err = run("delete", "--undo", "letter")
    assert (code, "no deleted document 'letter' is kept" in err) == (2, True)


@pytest.mark.slow
def test_a_takedown_names_what_else_holds_the_text_and_takes_it_with_everything(run: Run, answer: Answer) -> None:
    ingest(run, {"earlier": HIDDEN, "later": HIDDEN, "third": HIDDEN})
    answer("delete", "earlier", "--yes")
    Path("m.eml").write_text(mail({"Content-Type": "multipart/mixed; boundary=x"}, ATTACHED))
    assert run("ingest", "m.eml")[0] == 0
    assert answer("delete", "m.eml", "--yes")["held"] == {"attachments": ["m.eml/1"], "deleted": ["earlier"]}
    assert "its attachments: m.eml/1" in " ".join(run("delete", "m.eml", "--yes")[2].split())
    result = answer("delete", "later", "third", "m.eml/1", "m.eml", "--everything", "--yes")
    assert (sorted(result["ids"]), result["undo_until"]) == (["later", "m.eml/1", "third"], "")
    assert answer("delete", "--undo")["kept"] == []
    for file in Path(".ibidem").rglob("*"):
        assert not file.is_file() or b"harbour master" not in file.read_bytes(), file


@pytest.mark.slow
def test_a_takedown_of_a_mail_without_text_takes_no_other_without_text(run: Run, answer: Answer) -> None:
    for name in ("first", "second"):
        Path(f"{name}.eml").write_text(mail({"Subject": f"The {name} one", "Message-ID": f"<{name}@x>"}, ""))
        assert run("ingest", f"{name}.eml")[0] == 0
    answer("delete", "second.eml", "--yes")
    answer("delete", "first.eml", "--everything", "--yes")
    assert [each["id"] for each in answer("delete", "--undo")["kept"]] == ["second.eml"]


def ingest(run: Run, texts: dict[str, str], **fields: object) -> None:
    """Take texts into the index, by id."""
    lines = [json.dumps({"id": id_, "text": text, **fields}) for id_, text in texts.items()]
    Path("texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert run("ingest", "texts.jsonl")[0] == 0


def noted(sign: str) -> str:
    return f"{LETTER} Both parties have noted {sign} here"


def mail(fields: dict[str, str], body: str = LETTER) -> str:
    head = {
        "From": "ann@example.org",
        "To": "bob@example.org",
        "Date": "Mon, 01 May 2000 10:00:00 +0000",
        "Subject": "The duty",
    }
    return "".join(f"{name}: {value}\n" for name, value in (head | fields).items()) + f"\n{body}\n"
