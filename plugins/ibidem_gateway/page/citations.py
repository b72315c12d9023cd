"""Citations of documents in one line each, in common styles.

`citeproc` would read any of ten thousand styles; a document here has a title, a source, a date and an address at most,
of which each style is one line.
"""

from collections.abc import Callable, Mapping

from ibidem.comparison.html import printable
from ibidem_ingest.document import Document

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def written_date(date: str, *, style: str) -> str:
    """Format an ISO date in a citation style, with the precision it has.

    >>> [written_date("1987-03-05", style=style) for style in ("apa", "mla", "chicago")]
    ['1987, March 5', '5 Mar. 1987', 'March 5, 1987']
    >>> written_date("1987-03", style="apa"), written_date("1987", style="mla"), written_date("about 1987", style="mla")
    ('1987, March', '1987', 'about 1987')
    """
    year, _, rest = date.partition("-")
    month, _, day = rest.partition("-")
    if not (year.isdecimal() and month.isdecimal() and 1 <= int(month) <= len(MONTHS)):
        return date
    name, number = MONTHS[int(month) - 1], str(int(day)) if day.isdecimal() else ""
    if style == "apa":
        return f"{year}, {name} {number}".rstrip()
    if style == "mla":
        short = name if len(name) <= 4 else f"{name[:3]}."
        return f"{number} {short} {year}".lstrip()
    return f"{name} {number}, {year}" if number else f"{name} {year}"


def plain(title: str, source: str, date: str, url: str) -> str:
    """Cite with commas and the date as stored."""
    return ", ".join(part for part in (title, source, date, url) if part)


def apa(title: str, source: str, date: str, url: str) -> str:
    """Format a work without author in APA style.

    >>> apa("Grain duty", "AP", "1987-03-05", "https://example.org")
    'Grain duty. (1987, March 5). AP. https://example.org'
    """
    parts = [f"{title}.", f"({written_date(date, style='apa') or 'n.d.'}).", f"{source}." if source else "", url]
    return " ".join(part for part in parts if part)


def mla(title: str, source: str, date: str, url: str) -> str:
    """Format a work without author in MLA style.

    >>> mla("Grain duty", "AP", "1987-03-05", "")
    '\u201cGrain duty.\u201d AP, 5 Mar. 1987.'
    """
    rest = ", ".join(part for part in (source, written_date(date, style="mla"), url) if part)
    return f"\u201c{title}.\u201d {rest}." if rest else f"\u201c{title}.\u201d"


def chicago(title: str, source: str, date: str, url: str) -> str:
    """Format a work without author in the style of a Chicago bibliography.

    >>> chicago("Grain duty", "AP", "1987-03", "")
    '\u201cGrain duty.\u201d AP, March 1987.'
    """
    rest = ", ".join(part for part in (source, written_date(date, style="chicago")) if part)
    return " ".join(
        part for part in (f"\u201c{title}.\u201d", f"{rest}." if rest else "", f"{url}." if url else "") if part
    )


# Each style by its name.
STYLES: Mapping[str, Callable[[str, str, str, str], str]] = {
    "plain": plain,
    "apa": apa,
    "mla": mla,
    "chicago": chicago,
}


def cite(document: Document, style: str) -> str:
    """Cite a document in one line."""
    parts = (document.id, document.title, document.source, document.date, document.url)
    id_, title, source, date, url = (" ".join(printable(part).split()) for part in parts)
    return STYLES[style](title.rstrip(".") or title or id_, source, date, url)
