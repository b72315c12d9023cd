"""Documents: their fields, and the validation of records."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from ibidem_ingest.dates import interval, iso_date
from ibidem_ingest.errors import Refusal, Refused, Unreadable, UsageError, kind, short_repr
from ibidem_ingest.mail.head import with_hash
from ibidem_ingest.text.tokens import MAX_EXPANSION, normal_length

PAGE_BREAK = "\f"
DEFAULT_LANGUAGE = "en"
MAX_TEXT = 10_000_000
MAX_ID_BYTES = 512
ORIGIN = "ibidem.origin"  # field of a record with the file that its id names; no field of a collection has this name
WHERE = "ibidem.where"  # field of a record in a message with the place where it was read: `news.jsonl:17`
UNREAD_DATE = "date"  # field of `meta` with a date as it was written, where it cannot be read
MAX_WHERE = 5_000  # characters of a place: the longest path of Linux, with a number

FIELDS = frozenset(
    {"id", "text", "pages", "title", "date", "source", "url", "language", "version", "meta", ORIGIN, WHERE}
)

_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*", re.ASCII)
_ONLY_JSON = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS


@dataclass(frozen=True, slots=True)
class Document:
    """Document: a text with an id, metadata and pages, as it is ingested, signed, stored and shown.

    Args:
        id: Its name in the source, at most 512 bytes of UTF-8.
        text: The core text; a form feed is between two pages.
        title: Never enters a signature.
        date: ISO 8601: a time, a day, a month or a year (then it is the whole interval); empty when unknown.
        source: Its publisher: a newspaper, a court, a library.
        url: Address at which it can be read.
        language: ISO 639-1 code; chooses the idf table. Empty: it is detected from the text when it is signed.
        version: Whole number; an older one never overwrites a newer. None: the submitter gives one.
        meta: Everything else that the record held.
        origin: The file that its id names, and its number there; empty when the id is the document's own. Another file
            of that id never replaces it.
        where: The place it was read from, for refusals: `news.jsonl:17`. Like `origin` it is not compared.
    """

    id: str
    text: str
    title: str = ""
    date: str = ""
    source: str = ""
    url: str = ""
    language: str = DEFAULT_LANGUAGE
    version: int | None = None
    meta: Mapping[str, object] = field(default_factory=dict)
    origin: str = field(default="", compare=False)
    where: str = field(default="", compare=False)

    @property
    def pages(self) -> tuple[str, ...]:
        """The pages in order; a text without a page break is one page."""
        return tuple(self.text.split(PAGE_BREAK))

    def as_record(self) -> dict[str, object]:
        r"""Return the record, without empty fields, that `read_record` parses to an equal document.

        >>> Document("a", "One page.\fAnother.", date="1787").as_record()
        {'id': 'a', 'text': 'One page.\x0cAnother.', 'date': '1787', 'language': 'en'}
        """
        values = {name: getattr(self, name) for name in ("title", "date", "source", "url", "language", "version")}
        values |= {"meta": dict(self.meta), ORIGIN: self.origin}
        return {"id": self.id, "text": self.text} | {
            name: value for name, value in values.items() if value not in ("", None, {})
        }


def read_record(
    record: Mapping[str, object], location: str, max_text: int = MAX_TEXT, language: str = DEFAULT_LANGUAGE
) -> Document:
    r"""Validate a record and return its document.

    A whole number is taken as its decimal string wherever a short string is wanted, null counts as missing, and every
    top-level field that no document has goes into `meta`, where a field of the same name wins (`moved` names them).
    `pages` is the list of the pages' texts; a form feed inside one becomes a line break, so that the pages keep
    their numbers. Where a record has text and pages, both must agree except for white space; the page breaks are those
    of `pages`. A language with a region (`en-GB`) counts as the language. A date that cannot be read, or may be read in
    several ways, leaves the document without one; `meta.date` has it as it was written.

    Args:
        record: A JSON object.
        location: The place it was read from, for the refusal.
        max_text: The most characters that a text may have.
        language: The language of a record that names none; empty if it is to be detected.

    Raises:
        Refused: Some field is missing or wrong; names place, id, field, value and what would be right.

    >>> read_record({"id": 7, "pages": ["We the", "People"], "court": "9th Cir."}, "cases.jsonl:1").as_record()
    {'id': '7', 'text': 'We the\x0cPeople', 'language': 'en', 'meta': {'court': '9th Cir.'}}
    """
    if not isinstance(record, Mapping):
        raise Refused(Refusal(location, "", "", f"{kind(record)}, not an object; write one object for each document"))
    try:
        # A date that cannot be read is a note, and no reason to refuse the text.
        value = record.get("date")
        written = str(value) if isinstance(value, float) else _string(record, "date")
        date = iso_date(written)
        return Document(
            id=_id(record),
            text=_text(record, max_text),
            title=_string(record, "title"),
            date=date,
            source=_string(record, "source"),
            url=_string(record, "url"),
            language=_language(record) or language,
            version=_version(record),
            meta=_meta(record, "" if date else written.strip()),
            origin=_string(record, ORIGIN),
            where=location,
        )
    except Unreadable as error:
        raise Refused(Refusal(location, printable_id(record), error.field, error.why)) from error


def place(record: Mapping[str, object], otherwise: str) -> str:
    """Return the origin of a record in a message.

    >>> place({"ibidem.where": "news.jsonl:17"}, "message 3"), place({"ibidem.where": 17}, "message 3")
    ('news.jsonl:17', 'message 3')
    """
    location = record.get(WHERE)
    return location if isinstance(location, str) and 0 < len(location) <= MAX_WHERE else otherwise


def check(document: Document) -> None:
    """Validate a document that was built in Python, as `read_record` validates a record; its date is ISO 8601.

    >>> check(Document("a", "Some words.", date="1787"))
    """
    if not isinstance(document, Document):
        raise UsageError(
            f"{short_repr(document)} is not a document", "create one with Document(id, text) or read_record"
        )
    read_record(document.as_record(), "document")
    try:
        interval(document.date)
    except ValueError as error:
        raise Refused(Refusal("document", document.id, "date", str(error))) from error


def text_batches(
    documents: Iterable[Document], characters: int = 2_000_000, beside: int = 1_000
) -> Iterator[list[Document]]:
    """Split documents into batches of at most `characters`; a longer document is a batch of its own."""
    # A document counts `beside` characters more than its text, so that a batch holds a few thousand at most.
    batch: list[Document] = []
    size = 0
    for document in documents:
        own = len(document.text) + beside
        if batch and size + own > characters:
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += own
    if batch:
        yield batch


def has_unread_date(document: Document) -> bool:
    """Return whether a document has a date that cannot be read, as a note or still in its field."""
    return bool(document.meta.get(UNREAD_DATE)) if not document.date else not iso_date(document.date)


def meta_fields(record: Mapping[str, object]) -> set[str]:
    """Return the top-level fields of a record that `read_record` moves into `meta`."""
    return set() if record.keys() <= FIELDS else set(record.keys() - FIELDS)


def _id(record: Mapping[str, object]) -> str:
    id_ = _string(record, "id")
    if not id_:
        reason = "it is empty" if record.get("id") == "" else "it is missing"
        raise Unreadable(f"{reason}; give each document a different id, at most {MAX_ID_BYTES} bytes of UTF-8", "id")
    if len(id_) * 4 > MAX_ID_BYTES and (size := len(id_.encode())) > MAX_ID_BYTES:
        raise Unreadable(f"{short_repr(id_)} has {size} bytes of UTF-8; at most {MAX_ID_BYTES} are allowed", "id")
    return id_


def _text(record: Mapping[str, object], max_text: int) -> str:
    text, pages = record.get("text"), record.get("pages")
    if text is not None and not isinstance(text, str):
        raise Unreadable(f"{short_repr(text)} is {kind(text)}; write a string", "text")
    if pages is not None and pages != []:
        text = _check_pages(_join_pages(pages, max_text), text)
    elif text is None:
        reason = "it is null" if "text" in record else "it is missing"
        raise Unreadable(
            f"{reason}; write `text` (a string, which may be empty) or `pages` (a list of strings)", "text"
        )
    if len(text) > max_text:
        raise Unreadable(_length_error(len(text), max_text), "text")
    if len(text) * MAX_EXPANSION > max_text and not text.isascii() and (size := normal_length(text)) > max_text:
        raise Unreadable(f"{len(text):,} characters that stand for {_length_error(size, max_text)}", "text")
    return _check_characters("text", text)


def _length_error(size: int, max_text: int) -> str:
    return f"{size:,} characters, at most {max_text:,} are allowed; split the document or raise IBIDEM_MAX_TEXT"


def _join_pages(pages: object, max_text: int) -> str:
    if not isinstance(pages, list | tuple):
        raise Unreadable(f"{short_repr(pages)} is {kind(pages)}; write a list of strings", "pages")
    for number, page in enumerate(pages, 1):
        if not isinstance(page, str):
            raise Unreadable(f"page {number}, {short_repr(page)}, is {kind(page)}; write a list of strings", "pages")
    if (size := sum(map(len, pages)) + len(pages) - 1) > max_text:
        raise Unreadable(_length_error(size, max_text), "pages")
    return PAGE_BREAK.join(page.replace(PAGE_BREAK, "\n") for page in pages)


def _check_pages(page_text: str, text: str | None) -> str:
    """Return the paged text, after checking that it agrees with the given text."""
    if text is None or text == page_text:
        return page_text
    letters, page_letters = "".join(text.split()), "".join(page_text.split())
    if letters == page_letters:
        return page_text
    start = next(
        (at for at, (a, b) in enumerate(zip(letters, page_letters, strict=False)) if a != b),
        min(len(letters), len(page_letters)),
    )
    raise Unreadable(
        f"it disagrees with `text`, white space aside, at character {start}: "
        f"{short_repr(page_letters[start : start + 20])}, while `text` has {short_repr(letters[start : start + 20])}; "
        "give one of the two, or the same words in both",
        "pages",
    )


def _string(record: Mapping[str, object], name: str) -> str:
    """Parse a short string; a whole number becomes its decimal string, and null counts as missing."""
    value = record.get(name)
    if value is None:
        return ""
    if isinstance(value, str):
        return _check_characters(name, value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 64:
        return str(int(value))
    raise Unreadable(f"{short_repr(value)} is {kind(value)}; write a string", name)


def _check_characters(name: str, value: str) -> str:
    """Return a string, after checking that it has no null byte or lone surrogate, which no engine stores."""
    at, what = value.find("\x00"), "a null byte"
    if at < 0 and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            at, what = error.start, f"a lone surrogate (U+{ord(value[error.start]):04X})"
    if at >= 0:
        excerpt = short_repr(value[max(0, at - 10) : at + 10])
        remedy = "remove it, or repair the text where it was made"
        raise Unreadable(f"{what} at character {at}, in {excerpt}; {remedy}", name)
    return value


def _language(record: Mapping[str, object]) -> str:
    language = _string(record, "language")
    code = language if language == DEFAULT_LANGUAGE else language_code(language)
    if language and not code:
        raise Unreadable(f"{short_repr(language)} is not a code; write one of ISO 639-1: en, de, fr", "language")
    return code


def language_code(name: str) -> str:
    """Return the ISO 639 code that a language tag such as `en-GB` begins with; empty if there is none."""
    match = _LANGUAGE.fullmatch(name)
    return match[1].lower() if match else ""


def _version(record: Mapping[str, object]) -> int | None:
    version = record.get("version")
    if version is None:
        return None
    if isinstance(version, bool) or not isinstance(version, int) or not -(1 << 63) <= version < 1 << 63:
        raise Unreadable(
            f"{short_repr(version)} is not a whole number of 64 bits; write one such as 3, or leave it out", "version"
        )
    return version


def _meta(record: Mapping[str, object], unread_date: str) -> Mapping[str, object]:
    """Collect the fields of a record that are not standard fields of a document, and a date that cannot be read."""
    value = record.get("meta")
    if value is not None and not isinstance(value, Mapping):
        raise Unreadable(f"{short_repr(value)} is {kind(value)}; write an object", "meta")
    names = meta_fields(record)
    if not (value or names or unread_date):
        return {}
    meta = {UNREAD_DATE: unread_date} if unread_date else {}
    meta |= {name: record[name] for name in record if name in names} | dict(value or {})
    try:
        orjson.dumps(meta, option=_ONLY_JSON)
    except TypeError as error:
        raise Unreadable(
            f"{short_repr(meta)} cannot be written as JSON ({error}); keep to what JSON has", "meta"
        ) from error
    return with_hash(meta)


def printable_id(record: Mapping[str, object]) -> str:
    """Return the id for messages, with unprintable characters escaped."""
    id_ = record.get("id") if isinstance(record, Mapping) else None
    if not isinstance(id_, str):
        return str(id_) if isinstance(id_, int) and not isinstance(id_, bool) and abs(id_) < 1 << 64 else ""
    if len(id_) > MAX_ID_BYTES or len(id_.encode(errors="surrogatepass")) > MAX_ID_BYTES:
        id_ = f"{id_[:60]}…"
    return id_.encode(errors="backslashreplace").decode().replace("\x00", "\\x00")
