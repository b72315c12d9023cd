"""`ibidem delete`, `status --dead`, `overrides`: documents go and come back, failed ones are listed, decisions hold."""

import json
from io import StringIO
from pathlib import Path

import pytest

from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import Refusal
from ibidem_workers.tasks import DeadLetter, add_dead_letters
from support.command_line import Answer, Run

LETTER = (
    "The ministry raised the export duty on wheat to twelve per cent on Monday, and said that the quota of each port "
    "stays as it is until the harvest. Traders in the north had expected ten, and the price fell in the afternoon."
)
HIDDEN = "The harbour master has kept a second ledger of every ship that came in after dark since the spring."
ATTACHED = "\n".join(
    ["--x\nContent-Type: text/plain\n\nSee below.", f"--x\nContent-Type: text/plain; name=a.txt\n\n{HIDDEN}", "--x--\n"]
)
# What two texts may differ in alone.
SIGNS = (
    "-5,200 ≠ 5,200; a<b ≠ a>b; ☑ ≠ ☐; C++ ≠ C; D+ ≠ D#; 10² ≠ 102; 5.2 ≠ 5,2; GPL-2.0+ ≠ GPL-2.0; "
    "Fe2+ ≠ Fe2-; !valid ≠ valid; 👍 ≠ 👎; €500 ≠ $500; 5% ≠ 5‰; ±5 ≠ 5; x≤y ≠ x≥y; a=b ≠ a≠b; H₂O ≠ H2O; "
    "(7) ≠ 7?; US ≠ us; résumé ≠ resume; A/B ≠ A-B; Smith's ≠ Smith s"
)
PAIRS = [pair.split(" ≠ ") for pair in SIGNS.split("; ")]


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


@pytest.mark.slow
def test_documents_that_differ_in_a_sign_are_kept_and_shown_with_it(run: Run, answer: Answer) -> None:
    pairs = {f"{number}-{side}": pair[side] for number, pair in enumerate(PAIRS) for side in (0, 1)}
    ingest(run, {id_: noted(sign) for id_, sign in pairs.items()})
    for number, (left, right) in enumerate(PAIRS):
        result = answer("delete", f"{number}-0", "--identical", "--yes")
        shown = result["differences"][f"{number}-1"]
        assert result["ids"] == [f"{number}-0"]
        assert f"{number}-1" in result["kept"]
        assert f"have noted {left} here” → “" in shown
        assert shown.endswith(f"have noted {right} here”")
    assert answer("search", "noted")["hits"]["total"]["value"] == len(PAIRS)


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


@pytest.mark.slow
def test_a_deletion_is_taken_back_with_all_its_fields_though_its_document_has_a_version(
    run: Run, answer: Answer
) -> None:
    ingest(run, {"versioned": "The third edition of the harbour rules."}, version=3, title="Rules", court="London")
    before = answer("search", "harbour")["hits"]["hits"][0]["_source"]
    deleted = answer("delete", "versioned", "--yes")
    (kept,) = answer("delete", "--undo")["kept"]
    assert kept == {"id": "versioned", "title": "Rules", "until": deleted["undo_until"]}
    assert run("delete", "--undo", "versioned", "nope")[0] == 2
    assert answer("delete", "--undo")["kept"] == [kept]
    assert answer("delete", "--undo", "versioned") == {"restored": 1, "ids": ["versioned"]}
    assert answer("search", "harbour")["hits"]["hits"][0]["_source"] == before
    assert "No deletion" in run("delete", "--undo")[1]
    assert run("delete", "--undo", "versioned")[0] == 2
    ingest(run, {"versioned": "The fourth edition of the harbour rules."}, version=4)
    assert answer("search", "fourth")["hits"]["total"]["value"] == 1


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


def test_dead_letters_are_none_at_first_and_named_ones_have_to_be_there(run: Run, answer: Answer) -> None:
    assert answer("status", "--dead") == {"dead": []}
    assert "No failed documents" in run("status", "--dead")[1]
    assert run("status", "--dead", "nosuch")[0] == 2
    assert run("status", "--dead", "--retry", "nosuch")[0] == 2


@pytest.fixture
def buried(run: Run) -> None:
    """One dead letter: a document whose worker ended three times."""
    engine = open_engine("sqlite:///.ibidem/index.sqlite", "ibidem")
    record = {"id": "deed", "text": "A deed of gift.", "title": "A deed"}
    refusal = Refusal("message r/00000000", "deed", "", "it crashed its worker 3 times")
    add_dead_letters(engine, [DeadLetter("r", refusal, 3, 0.0, record)])
    engine.close()


@pytest.mark.usefixtures("buried")
def test_a_dead_letter_is_listed_with_its_reason_and_shown_as_it_came(run: Run, answer: Answer) -> None:
    (letter,) = answer("status", "--dead")["dead"]
    assert (letter["id"], letter["why"], letter["tries"]) == ("deed", "it crashed its worker 3 times", 3)
    assert "it crashed its worker 3 times" in run("status", "--dead")[1]
    assert "A deed of gift." in run("status", "--dead", "deed")[1]
    assert answer("status", "--dead", "deed")["dead"][0]["record"]["title"] == "A deed"


@pytest.mark.slow
@pytest.mark.usefixtures("buried")
def test_a_dead_letter_that_is_tried_again_with_success_is_gone(answer: Answer) -> None:
    assert answer("status", "--dead", "--retry", "deed")["indexed"] == 1
    assert answer("status", "--dead") == {"dead": []}
    assert answer("search", "deed")["hits"]["total"]["value"] == 1


@pytest.mark.usefixtures("buried")
def test_dead_letters_are_dropped_by_id_or_all_at_once_and_never_by_mistake(run: Run, answer: Answer) -> None:
    assert run("status", "--dead", "--drop")[0] == 2
    assert answer("status", "--dead", "--drop", "*") == {"dropped": 1}
    assert answer("status", "--dead") == {"dead": []}


@pytest.mark.slow
def test_two_followers_of_a_third_stay_together_until_the_decision_that_is_named(run: Run, answer: Answer) -> None:
    text = "The tenant of the harbour house shall pay for wharf, crane and the two sheds behind it, in advance."
    ingest(run, dict.fromkeys(("first", "second", "third"), text), title="Harbour")
    code, _, said = run("overrides", "add", "second", "third")
    said = " ".join(said.split())
    assert code == 0
    assert "Both also repeat first: where one of these leads, second and third stay in its group." in said
    assert "ibidem overrides add first third --as not" in said
    assert answer("search", "wharf")["dedupe"]["groups"]["in_window"] == 1
    assert "Both" not in run("overrides", "add", "first", "third")[2]
    assert answer("search", "wharf")["dedupe"]["groups"]["in_window"] == 2
