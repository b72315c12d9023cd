"""Labelled mail: threads whose trees are known, quoted as many programs quote, in five languages.

Of each line of each body it is known whether its author wrote it, and of each mail which it answers and which hold it.
The words are drawn by their frequency (wordfreq); no text is a real person's.
"""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from textwrap import wrap

from wordfreq import get_frequency_dict

LANGUAGES = ("en", "de", "fr", "es", "it")
STYLES = ("gmail", "bottom", "inline", "mutt", "outlook", "rule", "bare_head", "apple", "notes", "indented", "wrapped")
ANSWER = {"en": "Re", "de": "AW", "fr": "RE", "es": "RE", "it": "R"}
ATTRIBUTION = {
    "en": [
        "On {long} {name} <{address}> wrote:",
        "{name} wrote:",
        "On {short}, {name} wrote:",
        "{name} <{address}> writes:",
    ],
    "de": [
        "Am {short} um {time} schrieb {name} <{address}>:",
        "{name} schrieb am {short}:",
        "Am {short} schrieb {name}:",
    ],
    "fr": ["Le {short} à {time}, {name} <{address}> a écrit :", "{name} a écrit :"],
    "es": ["El {short} a las {time}, {name} (<{address}>) escribió:", "{name} escribió:"],
    "it": ["Il giorno {short} alle ore {time} {name} <{address}> ha scritto:", "Il {short} {time}, {name} ha scritto:"],
}
HEAD = {
    "en": ("From", "Sent", "To", "Cc", "Subject"),
    "de": ("Von", "Gesendet", "An", "Cc", "Betreff"),
    "fr": ("De", "Envoyé", "À", "Cc", "Objet"),
    "es": ("De", "Enviado el", "Para", "CC", "Asunto"),
    "it": ("Da", "Inviato", "A", "Cc", "Oggetto"),
}
ORIGINAL = {
    "en": "-----Original Message-----",
    "de": "-----Ursprüngliche Nachricht-----",
    "fr": "-----Message d'origine-----",
    "es": "-----Mensaje original-----",
    "it": "-----Messaggio originale-----",
}
NAMES = ["Ann Landlord", "Bob Tenant", "Carla Rossi", "Dieter Müller", "Élodie Martin", "Fernando Ruiz", "Gus Clark"]
START = datetime(2004, 5, 3, 9, 0, tzinfo=UTC)


@dataclass(eq=False)
class Mail:
    number: int  # its place in its thread
    thread: int
    language: str  # that of its words
    name: str  # of its author
    sent: datetime  # when it was sent
    parent: "Mail | None"  # the mail that it answers
    subject: str  # with its prefix
    own: list[str] = field(default_factory=list)  # the lines that its author wrote, without the signature
    lines: list[tuple[str, bool]] = field(default_factory=list)  # each line of the body, and whether it is quoted
    whole: bool = True  # whether it quotes the mail that it answers whole and unaltered
    altered: bool = False  # whether words of what it quotes were changed
    to: str = ""  # addresses
    children: "list[Mail]" = field(default_factory=list)

    @property
    def id(self) -> str:
        return f"{self.thread}-{self.number}"

    @property
    def address(self) -> str:
        return f"{self.name.split()[0].lower()}@example.org"

    @property
    def body(self) -> str:
        return "\n".join(line for line, _ in self.lines) + "\n"

    def is_held(self) -> bool:
        return any(child.whole and not child.altered for child in self.children)

    def source(self, *, headers: bool) -> str:
        head = [
            f"From: {self.name} <{self.address}>",
            f"To: {self.to}",
            f"Date: {format_datetime(self.sent)}",
            f"Subject: {self.subject}",
            "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: 8bit",
        ]
        if headers:
            head.append(f"Message-ID: <{self.id}@example.org>")
            if self.parent is not None:
                head.append(f"In-Reply-To: <{self.parent.id}@example.org>")
        return "\n".join(head) + "\n\n" + self.body


@cache
def vocabulary(language: str) -> tuple[list[str], list[float]]:
    table = sorted(get_frequency_dict(language).items(), key=lambda each: -each[1])[:20_000]
    words = [(word, share) for word, share in table if word.isalpha()]
    return [word for word, _ in words], [share**0.7 for _, share in words]


def sentences(draw: random.Random, language: str, count: int) -> list[str]:
    words, weights = vocabulary(language)
    lines: list[str] = []
    for _ in range(count):
        drawn = draw.choices(words, weights, k=draw.randint(4, 22))
        lines += wrap(" ".join(drawn).capitalize() + draw.choice([".", ".", "?", ":", "."]), 72)
        if draw.random() < 0.35:
            lines.append("")
    return lines


def traps(draw: random.Random) -> list[str]:
    """Write lines of an author that look like a quotation, or like what introduces one."""
    return draw.choice(
        [
            [],
            [],
            [],
            ["From: the window you can see the yard."],
            ["We agreed on this:", "- the rent is due", "- the roof leaks"],
            ["--------------------", "Total: 512.00"],
            ["Date: Monday", "Place: the office"],
            ["a > b, and b < c"],
            ["He wrote: no."],
            ["", "    indent = 4", ""],
        ]
    )


SIGNATURES = [[], [], ["-- ", "{name}", "Tel. +49 30 1234567"], ["", "Sent from my iPhone"], ["--", "{name}"]]
FOOTER = [
    "_______________________________________________",
    "leases mailing list",
    "https://lists.example.org/listinfo/leases",
]


def write_thread(draw: random.Random, number: int, size: int, style: str = "") -> list[Mail]:
    """Write a thread of a size; each mail is in one of the styles."""
    language = LANGUAGES[number % len(LANGUAGES)]
    subject = " ".join(draw.choices(vocabulary(language)[0][200:4000], k=draw.randint(2, 5)))
    mails: list[Mail] = []
    for place in range(size):
        parent = draw.choice(mails[-3:]) if mails else None
        sent = START + timedelta(hours=number % 5000, minutes=7 * place)
        name = draw.choice([each for each in NAMES if parent is None or each != parent.name])
        title = f"{ANSWER[language]}: {subject}" if parent else subject
        mail = Mail(place, number, language, name, sent, parent, title)
        mail.to = f"{parent.name} <{parent.address}>" if parent else "all@example.org"
        mail.own = [*sentences(draw, language, draw.randint(1, 6)), *traps(draw)]
        if draw.random() < 0.1:
            mail.own = [draw.choice(["Yes.", "Thanks!", "Danke", "OK"])]
        write_body(draw, mail, style or draw.choice(STYLES))
        if parent is not None:
            parent.children.append(mail)
        mails.append(mail)
    return mails


def write_body(draw: random.Random, mail: Mail, style: str) -> None:
    own = [(line, False) for line in mail.own]
    signature = [(line.format(name=mail.name), False) for line in draw.choice(SIGNATURES)]
    footer = [(line, False) for line in FOOTER] if mail.thread % 6 == 0 else []
    if mail.parent is None:
        mail.lines = [*own, *signature, *footer]
        return
    quoted = quotable(draw, mail, style)
    heading = introduce(draw, mail, style)
    if style == "bottom":
        mail.lines = [*heading, *quoted, ("", False), *own, *signature, *footer]
    elif style in ("inline", "mutt"):
        cut = draw.randint(1, len(quoted))
        middle = [("", False), *((line, False) for line in sentences(draw, mail.language, 1)), ("", False)]
        mail.own = [line for line, _ in middle] + mail.own
        mail.lines = [*heading, *quoted[:cut], *middle, *quoted[cut:], ("", False), *own, *signature, *footer]
    else:
        mail.lines = [*own, *signature, ("", False), *heading, *quoted, *footer]


def quotable(draw: random.Random, mail: Mail, style: str) -> list[tuple[str, bool]]:
    """Return the quoted lines: whole, altered, or cut as mutt's users do."""
    parent = mail.parent
    lines = [line for line, _ in parent.lines] if parent else []
    if style == "mutt" and len(lines) > 3:
        lines = lines[: len(lines) // 2]
        mail.whole = False
    prose = [at for at, line in enumerate(lines) if parent and line in parent.own and len(line.split()) > 3]
    if draw.random() < 0.08 and prose:
        at = draw.choice(prose)
        words = lines[at].split(" ")
        place = draw.choice([each for each, word in enumerate(words) if word])
        words[place] = "notwithstanding"
        lines = [*lines[:at], " ".join(words), *lines[at + 1 :]]
        mail.altered = True
    mark = {"indented": "    ", "outlook": "", "rule": "", "bare_head": "", "notes": ""}.get(style, "> ")
    marked = [f"{mark}{line}".rstrip() if line or mark == "> " else "" for line in lines]
    if style == "wrapped":
        marked = [piece for line in marked for piece in rewrap(line)]
    return [(line, True) for line in marked]


def rewrap(line: str) -> list[str]:
    """Wrap a marked line as a broken program does: the rest has no mark."""
    first, _, rest = line[:66].rpartition(" ")
    wraps = len(line) > 72 and len(first) > 60 and rest[:1].islower()
    return [first, rest + line[66:]] if wraps else [line]


def introduce(draw: random.Random, mail: Mail, style: str) -> list[tuple[str, bool]]:
    parent = mail.parent
    if parent is None:
        return []
    values = {
        "name": parent.name,
        "address": parent.address,
        "long": parent.sent.strftime("%a, %b %d, %Y at %I:%M %p"),
        "short": parent.sent.strftime("%d.%m.%Y"),
        "time": parent.sent.strftime("%H:%M"),
    }
    if style in ("outlook", "rule", "bare_head"):
        sender, sent, to, _, subject = HEAD[mail.language]
        lines = {"outlook": [ORIGINAL[mail.language]], "rule": ["_" * 32]}.get(style, [])
        lines += [f"{sender}: {parent.name}", f"{sent}: {values['short']} {values['time']}"]
        lines += [f"{to}: {parent.to}", f"{subject}: {parent.subject}", ""]
    elif style == "notes":
        lines = [f"{parent.name} <{parent.address}> on {parent.sent.strftime('%m/%d/%Y %I:%M:%S %p')}"]
        lines += [f"To: {parent.to}", "cc: ", f"Subject: {parent.subject}", ""]
    else:
        lines = wrap(draw.choice(ATTRIBUTION[mail.language]).format(**values), 76)
    return [(line, True) for line in lines]
