"""Parts of a mail's text: what its author wrote, quotations, signatures and footers; and the part that is signed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ibidem_ingest.dates import iso_date, utc
from ibidem_ingest.document import Document
from ibidem_ingest.mail import headings
from ibidem_ingest.mail.head import MESSAGE_ID, addresses, is_mail, message_ids


@dataclass(frozen=True, slots=True)
class Part:
    # `new` was written by the author of the mail, `quoted` by another, `heading` introduces a quotation (a line of
    # attribution, a copied head), `signature` is that of the mail itself, or the footer of its list.
    kind: headings.Kind
    start: int  # its first character
    end: int  # the character behind its last
    # How deep it is quoted: 1 is the mail that is answered, 2 what that one quotes; 0 elsewhere. A heading has the
    # depth of what it introduces.
    depth: int = 0


def part(text: str) -> list[Part]:
    r"""Split a body into its parts.

    >>> for each in part("Yes.\n\nOn 3 May 2004, Ann wrote:\n> Is it due?\n-- \nBob\n"):
    ...     print(each)
    Part(kind='new', start=0, end=6, depth=0)
    Part(kind='heading', start=6, end=32, depth=1)
    Part(kind='quoted', start=32, end=45, depth=1)
    Part(kind='signature', start=45, end=53, depth=0)
    """
    if not text:
        return []
    lines = headings.read_lines(text)
    _find_quotations(lines)
    find_signatures(lines)
    return list(_merge(lines))


def own_text(text: str) -> str:
    """Return the text of a mail's author; the whole text if it has no word."""
    own = "".join(text[each.start : each.end] for each in part(text) if each.kind == "new")
    return own if any(map(str.isalnum, own)) else text


def unmarked(text: str, piece: Part) -> str:
    r"""Return the text of a part without quote marks.

    >>> text = "> > Is it\n> > due?\n"
    >>> unmarked(text, part(text)[0])
    'Is it\ndue?\n'
    """
    body = text[piece.start : piece.end]
    return _MARKED.sub("", body) if piece.depth else body


_MARKED = re.compile(rf"^(?:(?:[ \t]{{0,3}}>)+|{headings.NAMED_PREFIX.pattern})[ \t]?", re.MULTILINE)


def _find_quotations(lines: headings.Lines) -> None:
    """Find the quotations in one pass; a stack holds the depths at which quotations without marks began."""
    open_at: list[int] = []
    names: set[str] = set()
    position, count = 0, len(lines)
    while position < count:
        mark, content = lines.marks[position], lines.contents[position]
        if not content.strip():
            lines.set(position, position + 1, "quoted" if mark or open_at else "new", mark + len(open_at))
            position += 1
            continue
        while open_at and open_at[-1] > mark:
            open_at.pop()
        first, end, opens = headings.heading(lines, position)
        if end > position:
            is_marked = opens == "open" and headings.is_marked_itself(lines, first)
            depth = mark + len(open_at) + (not is_marked)
            lines.set(first, end, "heading", depth)
            if opens == "open":
                open_at += [] if is_marked else [mark]
            elif opens:
                stop = headings.prefixed_end(lines, end, opens)
                for line in range(end, stop):
                    match = headings.MARKS.match(lines.contents[line].lstrip())
                    lines.set(line, line + 1, "quoted", depth + (match[0].count(">") if match else 0))
                end = stop
                names.update([opens] if opens.endswith(">") else [])
            position = end
            continue
        named = headings.NAMED_PREFIX.match(content) if names else None
        depth = mark + len(open_at) + (named is not None and named[0].strip() in names)
        lines.set(position, position + 1, "quoted" if depth else "new", depth)
        position += 1


def _merge(lines: headings.Lines) -> Iterator[Part]:
    """Merge adjacent lines of one kind and depth; empty lines belong to the lines before them."""
    start, kind, depth = 0, "", 0
    for position, content in enumerate(lines.contents):
        same = lines.kinds[position] == kind and lines.depths[position] == depth
        if not content.strip() or same:
            continue
        if kind:
            yield Part(kind, start, lines.starts[position], depth)  # type: ignore[arg-type]  # a kind since a line was seen
            start = lines.starts[position]
        kind, depth = lines.kinds[position], lines.depths[position]
    yield Part(kind or "new", start, len(lines.text), depth)  # type: ignore[arg-type]  # as above


SIGNATURE_LINES = 30
FOOTER_LINES = 14


def find_signatures(lines: headings.Lines) -> None:
    """Find the author's signature, the line that a phone adds, and the footer of a mailing list."""
    _find_list_footer(lines)
    signature = 0
    for position, kind in enumerate(lines.kinds):
        if kind != "new":
            signature = 0
        elif _begins_signature(lines, position):
            signature = 1
        if signature:
            lines.kinds[position] = "signature"


def _begins_signature(lines: headings.Lines, position: int) -> bool:
    """Return whether a signature starts at a line: after two dashes, or with the line that a phone adds."""
    content = lines.contents[position]
    if content == "--":
        return _few_follow(lines, position, SIGNATURE_LINES, len(lines))
    is_footer = 0 < len(content) < 70 and headings.FOOTER.match(content.strip("* _")) is not None
    return is_footer and _few_follow(lines, position, 2, 8)


def _few_follow(lines: headings.Lines, position: int, most: int, within: int) -> bool:
    """Return whether at most `most` lines with words follow before another part."""
    follow = 0
    for line in range(position + 1, min(position + within, len(lines))):
        if lines.kinds[line] != "new" or follow > most:
            break
        follow += bool(lines.contents[line])
    return follow <= most


def _find_list_footer(lines: headings.Lines) -> None:
    """Return the footer that a mailing list adds at the end: a rule, then how to unsubscribe."""
    words = 0
    for position in range(len(lines) - 1, -1, -1):
        content = lines.contents[position]
        words += bool(content.strip())
        if words > FOOTER_LINES or lines.marks[position]:
            return
        if headings.UNDERSCORES.match(content) and lines.kinds[position] != "heading":
            footer = "\n".join(lines.contents[position:])
            # Below a quotation without marks, it may belong to the quoted mail: then it occurs twice.
            if headings.LIST_FOOTER.search(footer) and (
                not lines.depths[position] or lines.text.count(footer.strip()) > 1
            ):
                lines.set(position, len(lines), "signature", 0)
            return


def signed_part(document: Document) -> Document:
    """Return a document with the text to sign."""
    if not document.meta or not is_mail(document.meta):
        return document
    own = own_text(document.text)
    return document if len(own) == len(document.text) else replace(document, text=own)


SENDER, SENT = "from", "sent"  # fields with the sender, and with the date as the header has it


def mail_key(document: Document) -> str:
    """Return which mail a document is: sender and time, else its message id; empty for other documents."""
    meta = document.meta
    if not meta or not is_mail(meta):
        return ""
    sender, sent = addresses(meta.get(SENDER) or document.source), meta.get(SENT)
    time = utc((iso_date(sent) or str(sent)) if sent else document.date)
    if sender and time:
        return f"{' '.join(sorted(sender))} {time}"
    own = message_ids(meta.get(MESSAGE_ID))
    return f"<{own[0]}>" if own else ""
