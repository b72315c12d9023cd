"""Parts of a mail's text: what its author wrote, quotations, signatures and footers; and the part that is signed.

Phrases are words of programs, not of their users: of Outlook, Thunderbird, Apple Mail, Gmail, mutt, Gnus and Lotus
Notes, whose translations are few. A phrase alone decides nothing: what stands around it must fit, too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from ibidem_ingest.dates import iso_date, utc
from ibidem_ingest.document import Document
from ibidem_ingest.mail.head import MESSAGE_ID, addresses, is_mail, message_ids

Label = Literal["from", "sent", "to", "subject", "other"]

COLONS = ":\uff1a"  # the colon, and the wide one of East Asian texts

# Labels of the lines of a head that a program copies above what it quotes.
LABELS: dict[Label, str] = {
    "from": "from|von|de|da|van|från|fra|od|lähettäjä|от|від|kimden|feladó|expéditeur|mittente|remitente|remetente"
    "|afzender|absender|avsändare|dari|από|发件人|寄件者|差出人|보낸 사람",
    "sent": "sent|date|gesendet|gesendet am|datum|envoyé|envoyé le|enviado|enviado el|enviado em|enviada em|fecha"
    "|inviato|data|data/ora|verzonden|verzonden op|skickat|sendt|dato|wysłano|wysłane|odesláno|odeslané"
    "|lähetetty|päiväys"
    "|отправлено|дата|надіслано|gönderildi|gönderilme tarihi|tarih|elküldve|dátum|trimis|dikirim|tanggal"
    "|发送时间|日期|寄件日期"
    "|送信日時|日付|보낸 날짜|날짜|sent at|sent on",
    "to": "to|an|à|a|para|per|aan|till|til|do|komu|vastaanottaja|кому|kime|címzett|către|kepada|destinataire"
    "|destinatario|destinatário|empfänger|收件人|宛先|받는 사람|προς",
    "subject": "subject|betreff|objet|sujet|asunto|oggetto|assunto|onderwerp|ämne|emne|temat|předmět|aihe|тема|konu"
    "|tárgy|subiect|subjek|perihal|主题|主旨|件名|제목|θέμα",
    "other": "cc|bcc|kopie|kopie \\(cc\\)|copie|copie à|kopia|kopi|dw|копия|копія|抄送|副本|참조|reply-to|antwort an"
    "|répondre à|responder a|rispondi a|attachments?|anlagen?|pièces jointes|datos adjuntos|allegati|importance"
    "|wichtigkeit|priorität|priority|organi[sz]ation|newsgroups|message-id|x-mailer|resent-from",
}

LABEL = re.compile(
    r"(?<![ \t*_])[ \t*_]*+(?:"
    + "|".join(f"(?P<{label}>{words})" for label, words in LABELS.items())
    + r")[ \t\u00a0*_]*+["
    + COLONS
    + "][*_]*+",
    re.IGNORECASE,
)

# Words for writing in the line above a quotation.
VERB = re.compile(
    r"\b(?:wrote|writes|write|said|says|schrieb|schrieben|schreibt|geschrieben|écrit|ecrit|écrivait|écrivit|escribió"
    r"|escribio|escribe|escribía|scritto|scrive|scrisse|escreveu|escreve|schreef|schrijft|het volgende"
    r"|geschreven|skrev|skriver|skreiv|kirjoitti|kirjoittaa|napisał|napisała|napisal|napsal|napsala|píše|пишет|писал"
    r"|написал|написала|пише|wrote on|yazdı|yazmış|írta|a scris|έγραψε|kirjutas|va escriure|ha escrit|menulis|viết"
    r"|quoting|zitat von|zitiere)\b|napisał\(a\)|написав|写道|寫道|wrote|のメッセージ|書きました|작성",
    re.IGNORECASE,
)

# How a line above a quotation begins that names a date first.
OPENER = re.compile(
    r"(?<![\"'*\s])[\"'*\s]*+(?:on|at|am|le|el|il|em|op|den|på|dnia|dne|w dniu|em|a|за|tarihinde|pe|pada|vào|\d)[\s\d]",
    re.IGNORECASE,
)

# What stands between dashes above a mail that is quoted whole.
SEPARATOR = re.compile(
    r"original ?message|forwarded (?:message|by|mail)|begin forwarded|reply message|original appointment"
    r"|ursprüngliche nachricht|original-?nachricht|originalnachricht|weitergeleitete[rn]? nachricht|weitergeleitet von"
    r"|message d['’ ]origine|message original|message transféré|message réexpédié|transféré par|mensaje original"
    r"|mensaje reenviado|reenviado por|messaggio originale|messaggio inoltrato|inoltrato da|mensagem original"
    r"|mensagem encaminhada|encaminhado por|oorspronkelijk bericht|doorgestuurd bericht|origineel bericht"
    r"|ursprungligt meddelande|vidarebefordrat|oprindelig meddelelse|opprinnelig melding|alkuperäinen viesti"
    r"|wiadomość oryginalna|oryginalna wiadomość|původní zpráva|исходное сообщение|пересылаемое сообщение"
    r"|original ileti|özgün ileti|eredeti üzenet|原始邮件|原始郵件|転送|元のメッセージ|원본",
    re.IGNORECASE,
)

# What Apple Mail writes above a mail that it forwards, without dashes.
FORWARD = re.compile(
    r"begin forwarded message|anfang der weitergeleiteten|début du message (?:réexpédié|transféré)"
    r"|inicio del mensaje reenviado|inizio(?: del)? messaggio inoltrato|início da mensagem reencaminhada"
    r"|begin doorgestuurd bericht|vidarebefordrat brev",
    re.IGNORECASE,
)

# How the line begins that a telephone adds.
FOOTER = re.compile(
    r"(?:sent (?:from|via|with) (?:my |the )?[\w ]{2,30}|get outlook for|von meinem [\w ]{2,30} gesendet"
    r"|gesendet (?:von|mit) |envoyé (?:de|depuis) |enviado (?:desde|do|a partir) |inviato (?:da|dal) |verzonden vanaf "
    r"|skickat från |sendt fra |wysłane z |отправлено с |télécharger outlook|outlook für |obtener outlook"
    r"|scarica outlook|outlook para )",
    re.IGNORECASE,
)

# What the footer of a mailing list holds.
LIST_FOOTER = re.compile(
    r"mailing list|mailingliste|mailinglist|unsubscribe|abmelden|désinscri|desinscri|cancellar|listinfo|list-archive"
    r"|/listinfo/|google groups|yahoo! groups|liste de diffusion|lista de correo|lista di ",
    re.IGNORECASE,
)

DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\b(?:19|20)\d\d\b|\d{1,2}[:.h]\d\d")
ADDRESS = re.compile(r"[<\[(]?[\w.+'=-]{1,64}+(?:@| at )[\w-](?:[\w.-]++|(?= dot ))(?: dot [\w.-]++)*[>\])]?")
UNDERSCORES = re.compile(r"(?<![_-])[_-]{10,}+\s*+$")  # a line of nothing else, above a footer or a copied head

Kind = Literal["new", "quoted", "heading", "signature"]

MARKS = re.compile(r"(?:[ \t]{0,3}>)+")
_SUPERCITE = re.compile(r' ?"[^"]{1,60}" == ')
WIDE, NARROW = 60, 45  # characters of a line that a program wraps, and of the rest of it that lost its mark

# Initials or a name before each quoted line, as Supercite writes them.
NAMED_PREFIX = re.compile(r"[ \t]{0,8}[A-Z][A-Za-z]{0,14}>")
_MARKED = re.compile(rf"^(?:(?:[ \t]{{0,3}}>)+|{NAMED_PREFIX.pattern})[ \t]?", re.MULTILINE)

# The quote mark or indent of the first line below an attribution.
_OTHER_PREFIX = re.compile(rf"(?:[|:}}#]|{NAMED_PREFIX.pattern}|[ \t]{{2,}})(?=\s*\S)")


@dataclass(frozen=True, slots=True)
class Part:
    # `new` was written by the author of the mail, `quoted` by another, `heading` introduces a quotation (a line of
    # attribution, a copied head), `signature` is that of the mail itself, or the footer of its list.
    kind: Kind
    start: int  # its first character
    end: int  # the character behind its last
    # How deep it is quoted: 1 is the mail that is answered, 2 what that one quotes; 0 elsewhere. A heading has the
    # depth of what it introduces.
    depth: int = 0


@dataclass(eq=False, slots=True)
class Line:
    start: int  # its first character in the body
    mark: int  # how many marks of quotation it bears
    content: str  # its text without marks and white space at its end
    kind: Kind = "new"  # what it is found to be
    depth: int = 0  # how deep it is found to be quoted

    @property
    def beyond_marks(self) -> str:
        """Its text without the space after its marks."""
        return self.content.removeprefix(" ") if self.mark else self.content


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
    lines = _read_lines(text)
    _find_quotations(lines)
    _find_list_footer(lines, text)
    _find_signatures(lines)
    return list(_merge(lines, len(text)))


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


def _read_lines(text: str) -> list[Line]:
    """Read the lines of a body with their quote marks."""
    lines, start = list[Line](), 0
    for line in text.splitlines(keepends=True):
        match = MARKS.match(line)
        end = match.end() if match else 0
        lines.append(Line(start, line.count(">", 0, end), line[end:].rstrip()))
        start += len(line)
    _unmark_prompts(lines, text)
    _join_wrapped(lines)
    return lines


def _unmark_prompts(lines: list[Line], text: str) -> None:
    """Treat `>>>` as an interpreter prompt if no line has fewer quote marks, and `>From` as an escape.

    `>>>>> "Ann" == Ann Landlord writes:` is Supercite's line of attribution, and no quotation.
    """
    for line in lines:
        if line.mark > 3 and _SUPERCITE.match(line.content):
            line.mark = 0
    marks = {line.mark for line in lines}
    has_prompts = 3 in marks and not marks & {1, 2}
    for position, line in enumerate(lines):
        if has_prompts and line.mark == 3:
            line.mark = 0
        elif line.mark == 1 and line.content.startswith("From ") and text.startswith(">From ", line.start):
            around = lines[max(0, position - 1) : position] + lines[position + 1 : position + 2]
            line.mark = max((each.mark for each in around), default=0)


def _join_wrapped(lines: list[Line]) -> None:
    """Treat a short line between two quoted lines as the rest of the first one, wrapped by a mail program."""
    for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
        if (
            not line.mark
            and before.mark
            and after.mark == before.mark
            and 0 < len(line.content) < NARROW
            and len(before.content) + 2 * before.mark >= WIDE
            and before.content[-1] not in ".!?:"
            and line.content[0].islower()
        ):
            line.mark = before.mark


def _find_quotations(lines: list[Line]) -> None:
    """Find the quotations in one pass; a stack holds the depths at which quotations without marks began."""
    open_at: list[int] = []
    names: set[str] = set()
    last_marked = max((at for at, line in enumerate(lines) if line.mark), default=0)
    position = 0
    while position < len(lines):
        line, first, end, opens = lines[position], position, position, ""
        if line.content:
            while open_at and open_at[-1] > line.mark:
                open_at.pop()
            first, end, opens = _heading(lines, position, last_marked)
        if end == position:
            named = NAMED_PREFIX.match(line.content) if names else None
            line.depth = line.mark + len(open_at) + (named is not None and named[0].strip() in names)
            line.kind = "quoted" if line.depth else "new"
            position += 1
            continue
        is_marked = opens == "open" and _is_marked_itself(lines, first)
        depth = line.mark + len(open_at) + (not is_marked)
        for each in lines[first:end]:
            each.kind, each.depth = "heading", depth
        if opens == "open":
            open_at += [] if is_marked else [line.mark]
        elif opens:
            stop = _prefixed_end(lines, end, opens)
            for each in lines[end:stop]:
                match = MARKS.match(each.content.lstrip())
                each.kind, each.depth = "quoted", depth + (match[0].count(">") if match else 0)
            end = stop
            names.update([opens] if opens.endswith(">") else [])
        position = end


RULE = re.compile(r"\s*[-_=*#~]{3,}")
COLON = re.compile(rf"[{COLONS}][\s>*-]*$|(?:\.\.\.|…)\s*$|写道|\)$|>$")
ATTRIBUTION_LINES = 4
MAX_ATTRIBUTION = 400
HEAD_LINES = 40


def _heading(lines: list[Line], position: int, last_marked: int) -> tuple[int, int, str]:
    """Return the heading of a quotation at a line, if there is one."""
    content = lines[position].content
    if RULE.match(content) or FORWARD.match(content.strip()):
        if end := _separator(lines, position):
            return position, end, "open"
    elif any(map(content.count, COLONS)):
        end, labels = _head(lines, position)
        if len(labels) >= 3 and labels & {"to", "subject"} and "from" in labels:
            return position, end, "open"
        if {"to", "subject"} <= labels and (first := _preface(lines, position)) < position:
            return first, end, "open"
    if COLON.search(content):
        return _attribution(lines, position, last_marked)
    return position, position, ""


def _is_marked_itself(lines: list[Line], position: int) -> bool:
    """Return whether a copied header or separator belongs to the quotation: quote marks start on its line.

    Apple Mail marks a forwarded mail with its head; in an answer, a head below a line of attribution was quoted.
    """
    line, content = lines[position], lines[position].content.strip()
    if not line.mark or not (FORWARD.match(content) or RULE.match(content) or LABEL.match(content)):
        return False
    above = next((each for each in reversed(lines[max(0, position - 9) : position]) if each.content), None)
    return above is None or (above.mark < line.mark and above.kind != "heading")


def _separator(lines: list[Line], position: int) -> int:
    """Return the line after a separator and the header below it; 0 if the line is not a separator."""
    content = lines[position].content.strip()
    known = len(content) < 120 and SEPARATOR.search(content) is not None
    below = position + 1
    if known and below < len(lines) and not content.endswith(("-", "_", "=", "*", ":")):
        below += lines[below].content.endswith("--")
    start = below
    for _ in range(5):
        start = _next(lines, start)
        if start >= len(lines) or lines[start].mark != lines[position].mark:
            break
        end, labels = _head(lines, start)
        if len(labels) >= (2 if known else 3):
            return end
        if not known or len(lines[start].content) > 80:
            break
        start += 1
    return below if known else 0


def _next(lines: list[Line], position: int) -> int:
    """Return the next line with words, up to ten lines ahead."""
    ahead = range(position, min(position + 10, len(lines)))
    return next((at for at in ahead if lines[at].content), len(lines))


def _head(lines: list[Line], position: int) -> tuple[int, set[str]]:
    """Parse a copied header; returns the line after it, and its labels."""
    labels: set[str] = set()
    end, blank, last = position, 0, ""
    for at, line in enumerate(lines[position : position + HEAD_LINES], position):
        if not line.content:
            blank += 1
            if blank > 1 or not labels:
                break
            continue
        if line.mark != lines[position].mark:
            break
        match = LABEL.match(line.content)
        if match is not None and not (blank and len(labels) >= 4):
            last = match.lastgroup or ""
            if last in labels and last in ("from", "subject"):
                break
            labels.add(last)
        elif blank or not labels or not _continues(line.content, lines[at - 1].content, last):
            break
        end, blank = at + 1, 0
    return end, labels


def _continues(content: str, before: str, label: str) -> bool:
    if content[0] in " \t" and label != "subject":
        return True
    ends = before.endswith((",", ";", ":")) or content.endswith((",", ";"))
    return label in ("to", "other", "from") and (ends or ("@" in content and " " not in content))


def _preface(lines: list[Line], position: int) -> int:
    """Return the first line of the name and date that Lotus Notes writes above a header."""
    blanks = 0
    for at in range(position - 1, max(-1, position - 6), -1):
        content = lines[at].content
        if not content:
            blanks += 1
            if blanks > 2:
                break
            continue
        if lines[at].mark != lines[position].mark or len(content) > 100:
            break
        if DATE.search(content):
            name = lines[at - 1].content if at and lines[at - 1].kind != "heading" else ""
            named = 0 < len(name.strip()) < 60 and name[-1] not in ".!?"
            return at - 1 if named and " on " not in content and not ADDRESS.search(content) else at
    return position


def _attribution(lines: list[Line], position: int, last_marked: int) -> tuple[int, int, str]:
    """Return an attribution (`On … wrote:`) that ends at a line, over up to four lines."""
    mark, below = lines[position].mark, _next(lines, position + 1)
    joined = lines[position].content.strip()
    first, is_marked = position, below < len(lines) and lines[below].mark > mark
    if not is_marked and not VERB.search(joined):
        return position, position, ""
    found = _attributes(joined, is_marked=is_marked)
    for at in range(position - 1, max(-1, position - ATTRIBUTION_LINES), -1):
        line, content = lines[at], lines[at].content.strip()
        if not content or line.mark != mark or line.kind == "heading" or content[-1] in ".!?:":
            break
        joined = f"{content} {joined}"
        if len(joined) > MAX_ATTRIBUTION:
            break
        if OPENER.match(joined) and DATE.search(joined) and _attributes(joined, is_marked=is_marked):
            found, first = True, at
    if not found:
        return position, position, ""
    if is_marked:
        return first, position + 1, ""
    if below < len(lines) and (prefix := _OTHER_PREFIX.match(lines[below].beyond_marks)):
        return first, position + 1, prefix[0].strip() or "  "
    joined = " ".join(line.content.strip() for line in lines[first : position + 1])
    if not DATE.search(joined) or not (OPENER.match(joined) or ADDRESS.search(joined)) or below == len(lines):
        return position, position, ""
    return first, position + 1, "" if position < last_marked else "open"


def _attributes(joined: str, *, is_marked: bool) -> bool:
    """Return whether words introduce a quotation, which may be marked."""
    if len(joined) > MAX_ATTRIBUTION:
        return False
    dated = DATE.search(joined) is not None
    if verb := VERB.search(joined):
        is_last = not joined[verb.end() :].strip(f" \u00a0\u202f{COLONS}")
        return is_marked or dated or (is_last and len(joined.split()) <= 8)
    return is_marked and "@" in joined and (dated or joined.endswith((":", ">")))


def _prefixed_end(lines: list[Line], position: int, prefix: str) -> int:
    """Return the line after the lines that have a prefix and no other quote marks than the first line."""
    end = first = position
    for at in range(position, len(lines)):
        content = lines[at].beyond_marks
        if not content.strip():
            continue
        first = at if end == position else first
        bears = content[0] in " \t" if prefix == "  " else content.lstrip().startswith(prefix)
        if lines[at].mark != lines[first].mark or not bears:
            break
        end = at + 1
    return end


def _merge(lines: list[Line], length: int) -> Iterator[Part]:
    """Merge adjacent lines of one kind and depth; empty lines belong to the lines before them."""
    worded = (line for line in lines if line.content)
    firsts = [next(run) for _, run in groupby(worded, lambda line: (line.kind, line.depth))] or [Line(0, 0, "")]
    start = 0
    for line, end in zip(firsts, [*(each.start for each in firsts[1:]), length], strict=True):
        yield Part(line.kind, start, end, line.depth)
        start = end


SIGNATURE_LINES = 30
FOOTER_LINES = 14


def _find_signatures(lines: list[Line]) -> None:
    """Find the author's signature, and the line that a phone adds."""
    is_signature = False
    for position, line in enumerate(lines):
        is_signature = line.kind == "new" and (is_signature or _begins_signature(lines, position))
        if is_signature:
            line.kind = "signature"


def _begins_signature(lines: list[Line], position: int) -> bool:
    """Return whether a signature starts at a line: after two dashes, or with the line that a phone adds."""
    content = lines[position].content
    if content == "--":
        most, within = SIGNATURE_LINES, len(lines)
    elif 0 < len(content) < 70 and FOOTER.match(content.strip("* _")):
        most, within = 2, 8
    else:
        return False
    follow = 0  # lines with words before another part
    for at in range(position + 1, min(position + within, len(lines))):
        if lines[at].kind != "new" or follow > most:
            break
        follow += bool(lines[at].content)
    return follow <= most


def _find_list_footer(lines: list[Line], text: str) -> None:
    """Find the footer that a mailing list adds at the end: a rule, then how to unsubscribe."""
    words = 0
    for position in range(len(lines) - 1, -1, -1):
        line = lines[position]
        words += bool(line.content)
        if words > FOOTER_LINES or line.mark:
            return
        if UNDERSCORES.match(line.content) and line.kind != "heading":
            footer = "\n".join(each.content for each in lines[position:])
            # Below a quotation without marks, it may belong to the quoted mail: then it occurs twice.
            if LIST_FOOTER.search(footer) and (not line.depth or text.count(footer.strip()) > 1):
                for each in lines[position:]:
                    each.kind, each.depth = "signature", 0
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
