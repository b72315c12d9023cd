"""Signatures and footers of mails: the author's signature, the line of a phone, the footer of a mailing list."""

from ibidem_ingest.mail.lines import Lines
from ibidem_ingest.mail.phrases import FOOTER, LIST_FOOTER, UNDERSCORES

SIGNATURE_LINES = 30
FOOTER_LINES = 14


def find_signatures(lines: Lines) -> None:
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


def _begins_signature(lines: Lines, position: int) -> bool:
    """Return whether a signature starts at a line: after two dashes, or with the line that a phone adds."""
    content = lines.contents[position]
    if content == "--":
        return _is_short(lines, position)
    return 0 < len(content) < 70 and FOOTER.match(content.strip("* _")) is not None and _ends(lines, position)


def _is_short(lines: Lines, position: int) -> bool:
    """Return whether only few lines follow before another part."""
    follow = 0
    for line in range(position + 1, len(lines)):
        if lines.kinds[line] != "new" or follow > SIGNATURE_LINES:
            break
        follow += bool(lines.contents[line])
    return follow <= SIGNATURE_LINES


def _ends(lines: Lines, position: int) -> bool:
    """Return whether at most two further lines follow before another part."""
    rest = 0
    for line in range(position + 1, min(position + 8, len(lines))):
        if lines.kinds[line] != "new":
            break
        rest += bool(lines.contents[line].strip())
    return rest <= 2


def _find_list_footer(lines: Lines) -> None:
    """Return the footer that a mailing list adds at the end: a rule, then how to unsubscribe."""
    words = 0
    for position in range(len(lines) - 1, -1, -1):
        content = lines.contents[position]
        words += bool(content.strip())
        if words > FOOTER_LINES or lines.marks[position]:
            return
        if UNDERSCORES.match(content) and lines.kinds[position] != "heading":
            footer = "\n".join(lines.contents[position:])
            # Below a quotation without marks, it may belong to the quoted mail: then it occurs twice.
            if LIST_FOOTER.search(footer) and (not lines.depths[position] or lines.text.count(footer.strip()) > 1):
                lines.set(position, len(lines), "signature", 0)
            return
