"""Detection of languages compared with py3langid; written to docs/figures/detection.md.

    apt-get download gnome-user-docs debian-handbook manpages-de manpages-fr …
    for package in *.deb; do dpkg -x "$package" FOLDER; done
    python benchmarks/detection.py --packages FOLDER [--collections FOLDER] [--texts N]

Both are given the same texts, and take those of which they are not certain for English ones: ours as documents are
signed, py3langid as ibidem used it until November 2026 (two thousand characters of the middle, with a certainty of at
least 0.7). Texts of fewer than 60 letters are left out.

Thirteen languages: pieces of 20, 60 and 300 words of Debian's packages, as `languages.py` reads them (*prose*, the help
of a desktop and a handbook; *manuals*, manual pages). A piece is taken for untranslated, and left out, where one word
in twenty is among the commonest English ones. What remains still holds names of commands, and lines that nobody
translated. Collections: their texts are English, but for some that nobody has marked (terms of
service in French); so the figures say only how the two differ.

Right: share of texts whose language was named, or that are English and of which nothing was certain. Wrong: share of
those taken for another language with certainty. Time: milliseconds of the processor a text, of one thread.
"""

import argparse
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from benchmark import draw_lots, introduction, options, publish
from ibidem_ingest.document import DEFAULT_LANGUAGE, Document
from ibidem_ingest.language import MIN_LETTERS, detect
from ibidem_ingest.readers import read
from languages import KINDS, LANGUAGES

WORDS = (20, 60, 300)
UNSPACED = ("zh", "ja")
MIN_TEXTS = 40  # fewest texts of a row's language

ENGLISH = re.compile(
    r"\b(?:the|of|and|to|is|you|if|that|this|with|be|for|by|not|are|on|it|an|your|from|can|will|as|in)\b"
)
SHARE = 0.05
COLLECTIONS = ("reuters21578", "newspaper_ocr_overproof", "ota_terms_en", "civil_code_sections")
MIDDLE, MIN_CERTAINTY = 2_000, 0.7
_PEER = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

Detect = Callable[[str], str]


def detect_by_peer(text: str) -> str:
    """Detect a language by py3langid; empty when it is not certain."""
    start = max(0, (len(text) - MIDDLE) // 2)
    language, certainty = _PEER.classify(text[start : start + MIDDLE])
    return str(language) if certainty >= MIN_CERTAINTY else ""


@dataclass(slots=True)
class Score:
    """Score of a detector."""

    texts: int = 0  # number of texts
    right: int = 0  # how many had the right language, or the default one where nothing was certain
    wrong: int = 0  # how many were taken for another language
    seconds: float = 0.0  # of the processor

    def judge(self, detector: Detect, texts: Sequence[str], language: str) -> None:
        """Add texts of a language."""
        start = time.process_time()
        found = list(map(detector, texts))
        self.seconds += time.process_time() - start
        self.texts += len(texts)
        self.right += sum((each or DEFAULT_LANGUAGE) == language for each in found)
        self.wrong += sum(each not in ("", language) for each in found)

    def __str__(self) -> str:
        share = 100 / self.texts
        return f"{share * self.right:.1f} % | {share * self.wrong:.1f} % | {1e3 * self.seconds / self.texts:.3f}"


def long_enough(texts: Iterable[str]) -> list[str]:
    """Leave out texts of too few letters."""
    return [text for text in texts if sum(map(str.isalpha, text)) >= MIN_LETTERS]


def is_untranslated(text: str) -> bool:
    """Return whether so many of a text's words are common English ones that it is one."""
    return len(ENGLISH.findall(text.lower())) >= SHARE * len(text.split())


def pieces(folder: Path, kind: str, language: str, words: int, limit: int) -> list[str]:
    """Cut the texts of a language into pieces."""
    size = max(3, words // 5) if language in UNSPACED else words
    parts = []
    for _, text in KINDS[kind](folder, language):
        split = text.split()
        parts += [" ".join(split[at : at + size]) for at in range(0, len(split), size)]
    draw_lots(language).shuffle(parts)
    translated = (part for part in parts if language == DEFAULT_LANGUAGE or not is_untranslated(part))
    return long_enough(islice(translated, limit))


def row(name: str, lots: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Measure both detectors on texts of languages."""
    scores = []
    for detector in (detect, detect_by_peer):
        detector(lots[0][1][0])  # loads the model
        score = Score()
        for language, texts in lots:
            score.judge(detector, texts, language)
        scores.append(score)
    return f"| {name} | {scores[0].texts:,} | {scores[0]} | {scores[1]} | {scores[1].seconds / scores[0].seconds:.1f} |"


def rows(arguments: argparse.Namespace) -> Iterator[str]:
    """Measure each kind of text."""
    heads = " | ".join(f"{head}, {name}" for name in ("ours", "py3langid") for head in ("right", "wrong", "ms"))
    yield f"| texts | number | {heads} | times as fast |\n|---|---|{'---|' * 7}"
    by_language: dict[str, list[str]] = {}
    for kind in KINDS:
        for words in WORDS:
            lots = []
            for language in LANGUAGES:
                texts = pieces(arguments.packages, kind, language, words, arguments.texts)
                by_language.setdefault(language, []).extend(texts)
                lots += [(language, texts)] if texts else []
            yield row(f"{kind}, {words} words", lots)
    for language, texts in by_language.items():
        if len(texts) >= MIN_TEXTS:
            yield row(f"of these: {language}", [(language, texts)])
    for name in COLLECTIONS:
        items = islice(read([arguments.collections / name / "docs.jsonl.xz"]), 50 * arguments.texts)
        sample = [each.text for each in items if isinstance(each, Document)][::5]
        yield row(f"collection {name}", [(DEFAULT_LANGUAGE, long_enough(sample))])


def main() -> None:
    """Print the figures and write the page."""
    parser = options(__doc__)
    parser.add_argument("--packages", type=Path, required=True, help="folder of the unpacked packages")
    parser.add_argument("--texts", type=int, default=250, help="pieces of a kind, language and length")
    title = "How well and how fast languages are detected"
    publish("detection", title, rows(parser.parse_args()), introduction(__doc__, "Both are given"))


if __name__ == "__main__":
    main()
