"""Recall of misread copies in each language; written to docs/figures/languages.md.

    apt-get download gnome-user-docs debian-handbook manpages-de manpages-fr … firefox-esr-l10n-th …
    for package in *.deb; do dpkg -x "$package" FOLDER; done
    python benchmarks/languages.py --collections FOLDER [--texts N]

Texts of Debian's packages in seventeen languages, cut into pieces of 300 words, of 60 between blanks in Chinese and
Japanese, of 100 in Thai: *prose*, the help of a desktop and a handbook (gnome-user-docs, debian-handbook); *manuals*,
pages of manpages-de, -fr, -es … that share whole paragraphs about options, authors and licences; *messages* of Firefox
(firefox-esr-l10n-th …); *office*, help of LibreOffice (libreoffice-help-et, -eu), in languages without a list of
words: the list is made from the pieces and their copies, and the rule that makes it was chosen on these texts. Pieces
of fewer than 50 words, pieces left untranslated, and half of the others, by a hash, are not taken. In a copy, 5 or 10 %
of the letters are replaced by others of the language, Latin letters as recognition confuses them. A piece and its copy
are duplicates, all other pairs are not, except pairs that are near without any noise, by a quarter of the five-word
runs or by one of the two presets. The least share of runs was chosen on manuals of eight languages, and newspapers; the
list of bigrams was made from none of these texts. *Terms*: those of the idf table; below 20,000 only the preset
`scans` counts misread words, and scripts without spaces have no table. Recall, with precision behind it, by the
default (the rule for these documents) and by the preset `scans`, which is not meant for texts such as manuals.
"""

import gzip
import html
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from zipfile import ZipFile

from benchmark import draw_lots, introduction, options, publish
from ibidem_dedupe.collection import CollectionFigures, choose_policy
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import MISREAD, Policy, Slots
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.language import detect
from ibidem_ingest.signatures.noise import is_dense_letter
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_ingest.text.tokens import tokens
from ibidem_lab.evaluate import PairFigures, found_evidence, sign_collection
from ibidem_lab.labels import Pair, order_pair

# Letters that recognition confuses.
CONFUSED = dict(zip("echbnuilotf", ("co", "eo", "bn", "h", "u", "n", "l", "i", "c", "f", "t"), strict=True))
DENSE = ("zh", "ja", "ko", "th")  # languages in which a letter is a syllable or a word
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl", "ru", "el", "ar", "hi", *DENSE, "et", "eu")

HELP = {"en": "C", "pt": "pt_BR", "zh": "zh_CN"}
HANDBOOK = {"en": "en-US", "pt": "pt-BR", "zh": "zh-CN", "el": "el-GR", "sv": "sv-SE", "ja": "ja-JP"}
HANDBOOK |= {"ko": "ko-KR", "ar": "ar-MA"}
FIREFOX = {"en": "en-GB", "es": "es-ES", "pt": "pt-BR", "sv": "sv-SE", "hi": "hi-IN", "zh": "zh-CN"}
MANUALS = {"pt": "pt_BR", "zh": "zh_CN"}
RATES = (0.05, 0.1)
WORDS = 300
MIN_PIECES = 60  # fewest pieces of a language

NAMES = ("near", "near, preset scans")
Texts = Iterator[tuple[str, str]]


def prose(folder: Path, language: str) -> Texts:
    share = folder / "usr" / "share"
    pages = sorted((share / "help" / HELP.get(language, language)).rglob("*.page"))
    book = share / "doc" / "debian-handbook" / "html" / HANDBOOK.get(language, f"{language}-{language.upper()}")
    for path in [*pages, *sorted(book.glob("*.html"))]:
        text = path.read_text(encoding="utf-8", errors="replace")
        text = re.sub(r"(?s)<(script|style|head|info)\b.*?</\1>", " ", text)
        yield path.stem, html.unescape(re.sub(r"<[^>]+>", " ", text))


def manuals(folder: Path, language: str) -> Texts:
    """Read manual pages without their marks."""
    for path in sorted((folder / "usr" / "share" / "man" / MANUALS.get(language, language)).rglob("*.gz")):
        lines = gzip.decompress(path.read_bytes()).decode("utf-8", "replace").splitlines()
        text = " ".join(re.sub(r"^[.'][A-Za-z]{1,3}\b", "", line) for line in lines if line[1:3] != '\\"')
        text = re.sub(r"\\\[u([0-9A-F]{4})\]", lambda match: chr(int(match[1], 16)), text)
        yield path.stem, re.sub(r"\\f\(?[A-Z]+|\\[^\s\w]?", "", text)


def messages(folder: Path, language: str) -> Texts:
    """Read the messages of a browser without their names and marks, as one text."""
    extensions = folder / "usr" / "lib" / "firefox-esr" / "browser" / "extensions"
    archive = extensions / f"langpack-{FIREFOX.get(language, language)}@firefox-esr.mozilla.org.xpi"
    parts = []
    if archive.exists():
        with ZipFile(archive) as files:
            parts = [files.read(name).decode() for name in sorted(files.namelist()) if name.endswith(".ftl")]
    text = re.sub(r"(?m)^#.*$|^\s*[-\w.]+\s*=|\{[^}]*\}|<[^>]+>|\[[\w ]+\]|\*", " ", "\n".join(parts))
    yield "messages", text


def help_pages(folder: Path, language: str) -> Texts:
    pages = folder / "usr" / "share" / "libreoffice" / "help" / language / "text"
    for path in sorted(pages.rglob("*.html")):
        text = re.sub(r"(?s)^.*?<body|<(script|style|header|aside|footer)\b.*?</\1>", " ", path.read_text())
        yield str(path.relative_to(pages)), html.unescape(re.sub(r"<[^>]+>", " ", text))


def office(folder: Path, language: str) -> Texts:
    yield "office", " ".join(text for _, text in help_pages(folder, language))


KINDS = {read_texts.__name__: read_texts for read_texts in (prose, manuals, messages, office)}


def pieces(texts: Texts, language: str, limit: int) -> list[Document]:
    """Cut texts into pieces, and take those of one half that are in their language."""
    cut = WORDS // {"zh": 5, "ja": 5, "th": 3}.get(language, 1)
    parts = []
    for name, text in texts:
        words = text.split()
        for at in range(0, len(words), cut):
            piece = Document(f"{name}.{at // cut}", " ".join(words[at : at + cut]), language=language)
            if blake2b(piece.id.encode(), digest_size=12).digest()[-1] % 2 and len(tokens(piece.text)) >= 50:
                parts.append(piece)
    language_parts = [
        piece
        for piece in {each.id: each for each in parts}.values()
        if detect(piece.text) == language and (language not in DENSE or is_translated(piece.text))
    ]
    draw_lots(language).shuffle(language_parts)
    return language_parts[:limit]


def is_translated(text: str) -> bool:
    """Return whether a third of the letters of a text are of a script in which a letter is a syllable or a word."""
    letters = [letter for letter in text if letter.isalpha()]
    return 3 * sum(map(is_dense_letter, letters)) > len(letters)


def confuse_letters(text: str, rate: float, letters: Sequence[str], rng: random.Random) -> str:
    def confuse(letter: str) -> str:
        alike = CONFUSED.get(letter.lower())
        return rng.choice(alike if alike and rng.random() < 0.8 else letters)

    return "".join(confuse(each) if each.isalpha() and rng.random() < rate else each for each in text)


def row(kind: str, language: str, documents: Sequence[Document], folder: str) -> str:
    """Measure one language; words and passages of a collection are looked for in each anew."""
    policies = (Policy(), PRESETS["scans"].policy, Policy(slots=Slots(25), characters=None))
    counts = Counter("".join(each.text.lower() for each in documents))
    letters = [letter for letter, _ in counts.most_common(60) if letter.isalpha()]
    true = {order_pair(each.id, f"{each.id}~") for each in documents}
    cells = []
    for rate in RATES:
        rng = draw_lots(rate)
        copies = [
            replace(each, id=f"{each.id}~", text=confuse_letters(each.text, rate, letters, rng)) for each in documents
        ]
        tables = Tables(folder)
        noisy_collection = sign_collection([*documents, *copies], tables)
        columns = PackedColumns.decode(list(noisy_collection.columns.values)[: len(documents)])
        clean = replace(noisy_collection, ids=noisy_collection.ids[: len(documents)], columns=columns)
        alike = set().union(*(set(found_evidence(clean, each)) for each in policies))
        rule = choose_policy(noisy_collection.columns)
        own = (set(found_evidence(noisy_collection, each)) for each in (rule, PRESETS["scans"].policy))
        cells += [figures(true, pairs, alike) for pairs in own]
    table = tables.of(language)
    terms = f"{table.size:,}" if table else "none"
    return f"| {kind} | {language} | {len(documents)} | {terms} | {' | '.join(cells)} |"


def figures(true: set[Pair], pairs: set[Pair], clean_pairs: set[Pair]) -> str:
    figures = PairFigures.measure(true, {pair for pair in pairs if not is_clean_pair(pair, clean_pairs)})
    return f"{figures.recall:.3f} ({figures.precision:.3f})"


def is_clean_pair(pair: Pair, clean_pairs: set[Pair]) -> bool:
    """Return whether two stories, or copies of them, are near duplicates without any noise."""
    a, b = (name.removesuffix("~") for name in pair)
    return a != b and order_pair(a, b) in clean_pairs


def rows(folder: Path, limit: int) -> Iterator[str]:
    heads = [f"{name}, {rate:.0%} misread".replace("%", " %") for rate in RATES for name in NAMES]
    yield f"| texts | language | pieces | terms | {' | '.join(heads)} |"
    yield f"|{'---|' * (4 + len(heads))}"
    with tempfile.TemporaryDirectory() as place:
        for kind, texts in KINDS.items():
            for language in LANGUAGES:
                documents = pieces(texts(folder, language), language, limit)
                if len(documents) >= MIN_PIECES:
                    yield row(kind, language, documents, place)


def clean_rows(folder: Path) -> Iterator[str]:
    """Count what similar letters alone join in clean Chinese texts, by their rule and by that of misread texts."""
    yield "\nClean Chinese texts, whole, made after the rules were frozen:\n"
    yield "| texts | documents | look misread | joined by characters alone | as if misread |\n|---|---|---|---|---|"
    for kind, language in ((manuals, "zh"), (help_pages, "zh-CN")):
        texts = kind(folder, language)
        documents = [Document(name, text, language="zh") for name, text in texts if len(tokens(text)) >= 50]
        with tempfile.TemporaryDirectory() as place:
            collection = sign_collection({each.id: each for each in documents}.values(), Tables(place))
        counts = CollectionFigures.count(collection.columns)
        joined = (
            Counter(found_evidence(collection, each).values())["characters"] for each in (counts.policy(), MISREAD)
        )
        yield f"| {kind.__name__} | {counts.blocks:,} | {counts.misread} | {' | '.join(map(str, joined))} |"


def main() -> None:
    """Print the figures and write the page."""
    arguments = options(__doc__, texts=400).parse_args()
    head = introduction(__doc__, "Texts of Debian's")
    lines = chain(rows(arguments.collections, arguments.texts), clean_rows(arguments.collections))
    publish("languages", "How many misread copies are found in each language", lines, head)


if __name__ == "__main__":
    main()
