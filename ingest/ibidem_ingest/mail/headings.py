"""Headings of quotations: an attribution, a separator, or a copied header; the phrases, and the kinds of lines.

Phrases are words of programs, not of their users: of Outlook, Thunderbird, Apple Mail, Gmail, mutt, Gnus and Lotus
Notes, whose translations are few. A phrase alone decides nothing: what stands around it must fit, too.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

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


@dataclass(eq=False, slots=True)
class Lines:
    text: str  # the body
    starts: list[int] = field(default_factory=list)  # the first character of each
    marks: list[int] = field(default_factory=list)  # how many marks of quotation each bears
    contents: list[str] = field(default_factory=list)  # each without its marks
    kinds: list[Kind] = field(default_factory=list)  # what each is found to be
    depths: list[int] = field(default_factory=list)  # how deep each is found to be quoted
    last_marked: int = 0  # the last one with a mark

    def __len__(self) -> int:
        return len(self.contents)

    def set(self, first: int, end: int, kind: Kind, depth: int) -> None:
        for position in range(first, end):
            self.kinds[position], self.depths[position] = kind, depth


def read_lines(text: str) -> Lines:
    """Read the lines of a body with their quote marks."""
    lines = Lines(text)
    start = 0
    for line in text.splitlines(keepends=True):
        match = MARKS.match(line)
        end = match.end() if match else 0
        lines.starts.append(start)
        lines.marks.append(line.count(">", 0, end))
        lines.contents.append(line[end:].rstrip())
        start += len(line)
    lines.kinds = ["new"] * len(lines)
    lines.depths = [0] * len(lines)
    _unmark_prompts(lines)
    _join_wrapped(lines)
    lines.last_marked = max((at for at, mark in enumerate(lines.marks) if mark), default=0)
    return lines


def _unmark_prompts(lines: Lines) -> None:
    """Treat `>>>` as an interpreter prompt if no line has fewer quote marks, and `>From` as an escape.

    `>>>>> "Ann" == Ann Landlord writes:` is Supercite's line of attribution, and no quotation.
    """
    for position, mark in enumerate(lines.marks):
        if mark > 3 and _SUPERCITE.match(lines.contents[position]):
            lines.marks[position] = 0
    marks = set(lines.marks)
    if 3 in marks and not marks & {1, 2}:
        lines.marks[:] = [0 if mark == 3 else mark for mark in lines.marks]
    for position, mark in enumerate(lines.marks):
        if (
            mark == 1
            and lines.contents[position].startswith("From ")
            and lines.text.startswith(">From ", lines.starts[position])
        ):
            around = lines.marks[max(0, position - 1) : position] + lines.marks[position + 1 : position + 2]
            lines.marks[position] = max(around, default=0)


def _join_wrapped(lines: Lines) -> None:
    """Treat a short line between two quoted lines as the rest of the first one, wrapped by a mail program."""
    marks, contents = lines.marks, lines.contents
    for position in range(1, len(lines) - 1):
        if (
            not marks[position]
            and marks[position - 1]
            and marks[position + 1] == marks[position - 1]
            and 0 < len(contents[position]) < NARROW
            and len(contents[position - 1]) + 2 * marks[position - 1] >= WIDE
            and contents[position - 1][-1] not in ".!?:"
            and contents[position][0].islower()
        ):
            marks[position] = marks[position - 1]


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
    if below < len(lines) and (prefix := _OTHER_PREFIX.match(_beyond_marks(lines, below))):
        return first, position + 1, prefix[0].strip() or "  "
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

# The quote mark or indent of the first line below an attribution.
_OTHER_PREFIX = re.compile(rf"(?:[|:}}#]|{NAMED_PREFIX.pattern}|[ \t]{{2,}})(?=\s*\S)")


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
