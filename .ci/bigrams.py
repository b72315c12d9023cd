"""Make the list of bigrams that `ibidem_ingest.signatures.noise` ships.

    apt-get download libreoffice-help-zh-cn … libreoffice-l10n-th … installation-guide-amd64 …
    for package in *.deb; do dpkg -x "$package" FOLDER; done
    python .ci/bigrams.py FOLDER

Sources: the help and the messages of LibreOffice in Chinese, Japanese, Korean, Thai and Khmer (packages
libreoffice-help-… and libreoffice-l10n-…, MPL 2.0), Debian's installation guide in Chinese, Japanese and Korean
(GPL 2), the manuals of KiCad in Chinese and Japanese (kicad-doc-…, GPL 2 or CC BY-SA 3.0) and of aptitude in Japanese
(GPL 2), and the lists of Chinese, Japanese and Korean words of the Python package `wordfreq` (CC BY-SA 4.0). A list of
which pairs of letters occur is no copy of them.
"""

import argparse
import gettext
import html
import re
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from ibidem_ingest.idf.store import find_list, read_list
from ibidem_ingest.signatures import noise
from ibidem_ingest.text.tokens import tokens
from ibidem_ingest.text.word_hash import hash_bytes

RAREST_WORDS = 620  # words of a frequency below 10^-6.2 are not taken


def pages(folder: Path) -> Iterator[str]:
    """Read pages in HTML, without their marks."""
    for path in sorted(folder.rglob("*.html")):
        text = path.read_text(encoding="utf-8", errors="replace")
        text = re.sub(r"(?s)<(script|style|head)\b.*?</\1>", " ", text)
        yield html.unescape(re.sub(r"<[^>]+>", " ", text))


def messages(folder: Path) -> Iterator[str]:
    """Read translated messages."""
    for path in sorted(folder.rglob("*.mo")):
        with path.open("rb") as file:
            catalog: dict[object, object] = vars(gettext.GNUTranslations(file))["_catalog"]
        yield from (text for text in catalog.values() if isinstance(text, str))


def words() -> Iterator[str]:
    for language in ("zh", "ja", "ko"):
        path = find_list(language)
        yield from (word for bucket in (read_list(path) if path else [])[:RAREST_WORDS] for word in bucket)


def main() -> None:
    """Write the list into the package."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    folder = options.parse_args().folder
    texts = chain(pages(folder), messages(folder), words())
    known = {bigram for text in texts for bigram in noise.bigrams(tokens(text))}
    bits = np.zeros(1 << noise.BITS, np.uint8)
    bits[[hash_bytes(bigram.encode("utf-32-le")) >> noise.SHIFT for bigram in known]] = 1
    data = zlib.compress(np.packbits(bits, bitorder="little").tobytes(), 9)
    Path(noise.__file__).with_name(noise.LIST).write_bytes(data)
    print(f"{len(known):,} bigrams, {bits.mean():.2%} of the bits, {len(data):,} bytes")  # noqa: T201 - the only output of a script


if __name__ == "__main__":
    main()
