"""Headings of quotations: an attribution, a separator, or a copied header.

A phrase alone decides nothing: what stands around it must fit, too.
"""

import re

from ibidem_ingest.mail.lines import Lines
from ibidem_ingest.mail.phrases import ADDRESS, COLONS, DATE, FORWARD, LABEL, OPENER, SEPARATOR, VERB

RULE = re.compile(r"\s*[-_=*#~]{3,}")
COLON = re.compile(rf"[{COLONS}][\s>*-]*$|(?:\.\.\.|…)\s*$|写道|\)$|>$")
ATTRIBUTION_LINES = 4
MAX_ATTRIBUTION = 400
HEAD_LINES = 40


def heading(lines: Lines, position: int) -> tuple[int, int, str]:
    """Return the heading of a quotation at a line, if there is one."""
    content = lines.contents[position]
    if RULE.match(content) or FORWARD.match(content.strip()):
        if end := _separator(lines, position):
            return position, end, "open"
    elif any(colon in content for colon in COLONS):
        end, labels = _head(lines, position)
        if len(labels) >= 3 and labels & {"from", "sent"} and labels & {"to", "subject"} and "from" in labels:
            return position, end, "open"
        if {"to", "subject"} <= labels and (first := _preface(lines, position)) < position:
            return first, end, "open"
    if COLON.search(content):
        return _attribution(lines, position)
    return position, position, ""


def is_marked_itself(lines: Lines, position: int) -> bool:
    """Return whether a copied header or separator belongs to the quotation: quote marks start on its line.

    Apple Mail marks a forwarded mail with its head; in an answer, a head below a line of attribution was quoted.
    """
    content, mark = lines.contents[position].strip(), lines.marks[position]
    if not mark or not (FORWARD.match(content) or RULE.match(content) or LABEL.match(content)):
        return False
    above = next(
        (line for line in range(position - 1, max(-1, position - 10), -1) if lines.contents[line].strip()), None
    )
    return above is None or (lines.marks[above] < mark and lines.kinds[above] != "heading")


def _separator(lines: Lines, position: int) -> int:
    """Return the line after a separator and the header below it; 0 if the line is not a separator."""
    content = lines.contents[position].strip()
    known = len(content) < 120 and SEPARATOR.search(content) is not None
    below = position + 1
    if known and not content.endswith(("-", "_", "=", "*", ":")) and _next(lines, below) < len(lines):
        wrapped = lines.contents[below].rstrip()
        below += wrapped.endswith("--")
    start = below
    for _ in range(5):
        start = _next(lines, start)
        if start >= len(lines) or lines.marks[start] != lines.marks[position]:
            break
        end, labels = _head(lines, start)
        if len(labels) >= (2 if known else 3):
            return end
        if not known or len(lines.contents[start]) > 80:
            break
        start += 1
    return below if known else 0


def _next(lines: Lines, position: int) -> int:
    """Return the next line with words, up to ten lines ahead."""
    for line in range(position, min(position + 10, len(lines))):
        if lines.contents[line].strip():
            return line
    return len(lines)


def _head(lines: Lines, position: int) -> tuple[int, set[str]]:
    """Parse a copied header; returns the line after it, and its labels."""
    labels: set[str] = set()
    end, blank, last = position, 0, ""
    for line in range(position, min(position + HEAD_LINES, len(lines))):
        content = lines.contents[line]
        if lines.marks[line] != lines.marks[position] and content.strip():
            break
        if not content.strip():
            blank += 1
            if blank > 1 or not labels:
                break
            continue
        match = LABEL.match(content)
        if match is not None and not (blank and len(labels) >= 4):
            label = match.lastgroup or ""
            if label in labels and label in ("from", "subject"):
                break
            labels.add(label)
            end, last = line + 1, label
        elif not blank and labels and _continues(lines, line, last):
            end = line + 1
        else:
            break
        blank = 0
    return end, labels


def _continues(lines: Lines, position: int, label: str) -> bool:
    """Return whether a line continues the label above it."""
    content, before = lines.contents[position], lines.contents[position - 1]
    if content[0] in " \t" and label != "subject":
        return True
    if label in ("to", "other", "from"):
        return (
            before.endswith((",", ";", ":")) or content.endswith((",", ";")) or ("@" in content and " " not in content)
        )
    return False


def _preface(lines: Lines, position: int) -> int:
    """Return the first line of the name and date that Lotus Notes writes above a header."""
    first, blanks = position, 0
    for line in range(position - 1, max(-1, position - 6), -1):
        content = lines.contents[line]
        if not content.strip():
            blanks += 1
            if blanks > 2:
                break
            continue
        if lines.marks[line] != lines.marks[position] or len(content) > 100:
            break
        if DATE.search(content):
            named = line and 0 < len(lines.contents[line - 1].strip()) < 60 and not ADDRESS.search(content)
            named = named and " on " not in content and lines.contents[line - 1][-1] not in ".!?"
            return line - 1 if named and lines.kinds[line - 1] != "heading" else line
    return first


def _attribution(lines: Lines, position: int) -> tuple[int, int, str]:
    """Return an attribution (`On … wrote:`) that ends at a line, over up to four lines."""
    mark, below = lines.marks[position], _next(lines, position + 1)
    joined = lines.contents[position].strip()
    first = position
    follows = "" if below >= len(lines) or lines.marks[below] <= mark else "marked"
    if not follows and not VERB.search(joined):
        return position, position, ""
    best = position + 1 if _attributes(joined, follows) else 0
    for line in range(position - 1, max(-1, position - ATTRIBUTION_LINES), -1):
        content = lines.contents[line].strip()
        if not content or lines.marks[line] != mark or lines.kinds[line] == "heading" or content[-1] in ".!?:":
            break
        joined = f"{content} {joined}"
        if len(joined) > MAX_ATTRIBUTION:
            break
        if OPENER.match(joined) and DATE.search(joined) and _attributes(joined, follows):
            best, first = position + 1, line
    if not best:
        return position, position, ""
    if follows:
        return first, position + 1, ""
    prefix = _prefix(lines, below) if below < len(lines) else ""
    if prefix:
        return first, position + 1, prefix
    joined = " ".join(lines.contents[line].strip() for line in range(first, position + 1))
    if not DATE.search(joined) or not (OPENER.match(joined) or ADDRESS.search(joined)) or below == len(lines):
        return position, position, ""
    return first, position + 1, "" if position < lines.last_marked else "open"


def _attributes(joined: str, follows: str) -> bool:
    """Return whether words introduce a quotation."""
    if len(joined) > MAX_ATTRIBUTION:
        return False
    if verb := VERB.search(joined):
        names = len(joined[verb.end() :].strip(f" \u00a0\u202f{COLONS}")) == 0 and len(joined.split()) <= 8
        return bool(follows) or bool(DATE.search(joined)) or names
    return bool(follows) and bool("@" in joined and (DATE.search(joined) or joined.endswith((":", ">"))))


# Initials or a name before each quoted line, as Supercite writes them.
NAMED_PREFIX = re.compile(r"[ \t]{0,8}[A-Z][A-Za-z]{0,14}>")

_OTHER_PREFIX = re.compile(rf"(?:[|:}}#]|{NAMED_PREFIX.pattern}|[ \t]{{2,}})(?=\s*\S)")


def _prefix(lines: Lines, position: int) -> str:
    """Return the quote mark or indent of the first line below an attribution."""
    match = _OTHER_PREFIX.match(_beyond_marks(lines, position))
    if match is None:
        return ""
    return match[0].strip() or "  "


def prefixed_end(lines: Lines, position: int, prefix: str) -> int:
    """Return the line after the lines that have a prefix and no other quote marks than the first line."""
    end = first = position
    for line in range(position, len(lines)):
        content = _beyond_marks(lines, line)
        if not content.strip():
            continue
        first = line if end == position else first
        bears = content[0] in " \t" if prefix == "  " else content.lstrip().startswith(prefix)
        if lines.marks[line] != lines.marks[first] or not bears:
            break
        end = line + 1
    return end


def _beyond_marks(lines: Lines, position: int) -> str:
    """Return a line without its quote marks and the space after them."""
    return lines.contents[position].removeprefix(" ") if lines.marks[position] else lines.contents[position]
