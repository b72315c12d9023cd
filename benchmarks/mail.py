"""How well mails are parted and threads are found; written to docs/figures/mail.md.

    python benchmarks/mail.py [--threads N] [--scale N]

Threads are made up (`labelled_mail.py`): one to nine mails each, in eleven styles of quotation and five languages, so
that each line and each parent is known; one answer in twelve alters a word of what it quotes. The styles are those that
the rules were written for, so real mail will fare worse. Of threads, the errors in one half were read when the rules
were written; *held out* is the other half. Peers get the same bodies: what they return as the answer is
new. Times are of the processor, after a first round.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from itertools import chain, islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmark import introduction, options, publish
from ibidem_engines.connect import open_engine
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.mail.head import bare_subject
from ibidem_ingest.mail.parts import part
from ibidem_mail.forest import Forest
from ibidem_mail.memberships import write_threads, write_works
from ibidem_mail.parents import Parents, thread_mails
from ibidem_workers.batches import records
from labelled_mail import LANGUAGES, STYLES, Mail, write_thread

Flags = list[bool]
NAMED = ("message-id", "in-reply-to")


def quoted_lines(body: str) -> Flags:
    """Say of each line whether ibidem takes it for quoted."""
    flags: Flags = []
    for each in part(body):
        flags += [each.kind in ("quoted", "heading")] * body.count("\n", each.start, each.end)
    return flags


def flags_of_answer(body: str, answer: str) -> Flags:
    """Say of each line whether a peer left it out of the answer."""
    kept = Counter(line.strip() for line in answer.splitlines())
    flags = []
    for line in body.splitlines():
        flags.append(kept[line.strip()] <= 0)
        kept[line.strip()] -= 1
    return flags


def peers() -> dict[str, Callable[[str], Flags]]:
    """Return the peers: each says of the lines of a body which are quoted."""
    reply = import_module("mailparser_reply").EmailReplyParser(languages=list(LANGUAGES))
    zapier = import_module("email_reply_parser").EmailReplyParser

    def mail_parser_reply(body: str) -> Flags:
        first = reply.read(body).replies[:1]
        return flags_of_answer(body, first[0].full_body if first else "")

    def email_reply_parser(body: str) -> Flags:
        fragments = zapier.read(body).fragments
        return flags_of_answer(body, "\n".join(each.content for each in fragments if not each.quoted))

    return {"mail-parser-reply": mail_parser_reply, "email-reply-parser": email_reply_parser}


def score(mails: Sequence[Mail], find: Callable[[str], Flags]) -> tuple[float, float, float, float]:
    """Return precision, recall and F1 of quoted lines with words, and milliseconds a mail."""
    counts: Counter[tuple[bool, bool]] = Counter()
    seconds = 0.0
    for mail in mails:
        began = time.process_time()
        flags = find(mail.body)
        seconds += time.process_time() - began
        for (line, truth), flag in zip(mail.lines, flags, strict=False):
            if line.strip("> "):
                counts[truth, flag] += 1
    right = counts[True, True]
    precision = right / max(1, right + counts[False, True])
    recall = right / max(1, right + counts[True, False])
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall), seconds / len(mails) * 1e3


def parting(threads: int) -> Iterator[str]:
    by_style = {
        style: [
            mail
            for at in range(threads)
            for mail in write_thread(random.Random(f"{style}{at}"), at, 3, style)  # noqa: S311
        ]
        for style in STYLES
    }
    everything = [mail for mails in by_style.values() for mail in mails]
    score(everything[:200], quoted_lines)
    yield f"## Quoted lines\n\nF1 of quoted lines of {len(everything):,} mails; empty lines do not count.\n"
    finders = {"ibidem": quoted_lines} | peers()
    yield f"| style | {' | '.join(finders)} |\n|---|{'---|' * len(finders)}"
    for style, mails in by_style.items():
        yield f"| {style} | {' | '.join(f'{score(mails, find)[2]:.4f}' for find in finders.values())} |"
    totals = {name: score(everything, find) for name, find in finders.items()}
    yield f"| all | {' | '.join(f'{each[2]:.4f}' for each in totals.values())} |"
    yield f"| precision, recall | {' | '.join(f'{each[0]:.4f}, {each[1]:.4f}' for each in totals.values())} |"
    yield f"| ms a mail | {' | '.join(f'{each[3]:.3f}' for each in totals.values())} |\n"


def document(mail: Mail, *, headers: bool) -> Document:
    source = f"{mail.name} <{mail.address}>"
    meta: dict[str, object] = {"type": "mail", "from": source, "to": mail.to, "subject": bare_subject(mail.subject)}
    if headers:
        meta["message-id"] = f"<{mail.id}@example.org>"
        if mail.parent is not None:
            meta["in-reply-to"] = f"<{mail.parent.id}@example.org>"
    return Document(mail.id, mail.body, title=mail.subject, date=mail.sent.isoformat(), source=source, meta=meta)


def make_threads(count: int) -> list[Mail]:
    mails: list[Mail] = []
    for number in range(count):
        draw = random.Random(f"thread {number}")  # noqa: S311
        mails += write_thread(draw, number, draw.randint(1, 9))
    random.Random(0).shuffle(mails)  # noqa: S311
    return mails


def threading(count: int) -> Iterator[str]:
    """Yield the figures of parents, of inclusive mails and of altered quotations."""
    mails = make_threads(count)
    answers = sum(mail.parent is not None for mail in mails)
    yield f"## Threads\n\n{len(mails):,} mails in {count:,} threads, of which {answers:,} are answers.\n"
    columns = "inclusive: precision | recall | F1 | altered: precision | recall"
    yield f"| threads | ids in the head | parents right | {columns} |"
    yield "|---|---|---|---|---|---|---|---|"
    for headers in (True, False):
        forest = Forest.grow(Parents.find(thread_mails(document(mail, headers=headers) for mail in mails)))
        for name, half in (("read", range(count // 2)), ("held out", range(count // 2, count))):
            figures = judge(forest, [mail for mail in mails if mail.thread in half])
            yield f"| {name} | {'yes' if headers else 'no'} | {' | '.join(f'{each:.4f}' for each in figures)} |"
    yield ""


def judge(forest: Forest, mails: Sequence[Mail]) -> Sequence[float]:
    """Return the figures of some mails: parents right, inclusive mails, altered quotations."""
    ids = {mail.id for mail in mails}
    rows = {row.id: row for row in forest.rows() if row.id in ids}
    right = sum(rows[mail.id].parent == (mail.parent.id if mail.parent else None) for mail in mails)
    inclusive = f1(
        {mail.id for mail in mails if not mail.is_held()}, {row.id for row in rows.values() if row.inclusive}
    )
    altered = f1({mail.id for mail in mails if mail.altered}, {answer for _, answer, _ in forest.altered()} & ids)
    return right / len(mails), *inclusive, *altered[:2]


def f1(truth: set[str], found: set[str]) -> tuple[float, float, float]:
    right = len(truth & found)
    precision, recall = right / max(1, len(found)), right / max(1, len(truth))
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def commands(count: int) -> Iterator[str]:
    """Yield the cost of what `ibidem regroup --threads` and `--versions` do with an index of the same mails."""
    yield "## `ibidem regroup`\n"
    yield "Seconds of the processor in all, on an index in SQLite of the same mails with ids in the head; all have the"
    yield "signatures of one, which neither command reads. Mails have no versions: `--versions` only reads them.\n"
    yield "| mails | | first | again, where nothing changes | written |\n|---|---|---|---|---|"
    with TemporaryDirectory() as folder:
        engine = open_engine(f"sqlite:///{folder}/index.sqlite", "mail")
        engine.create()
        mails = repeat(make_threads(1_000), count)
        (signed,) = records([document(make_threads(1)[0], headers=True)], Tables(Path(folder, "tables")))
        while batch := [replace(signed, document=mail, digest=mail.id) for mail in islice(mails, 1_000)]:
            engine.write(batch)
        for option, write in (("--threads", write_threads), ("--versions", write_works)):
            marks, written = [time.process_time()], []
            for _ in range(2):
                written.append(write(engine).written)
                marks.append(time.process_time())
            first, again = (after - before for before, after in pairwise(marks))
            yield f"| {count:,} | `{option}` | {first:.1f} | {again:.1f} | {written[0]:,} |"
        engine.close()


def repeat(base: Sequence[Mail], count: int) -> Iterator[Document]:
    """Yield so many mails: those of the base again and again, each time with words of their own."""
    for number in range(count):
        mail = base[number % len(base)]
        round_ = number // len(base)
        one = document(mail, headers=True)
        # Each word of a round differs from those of the others, as the words of other people do.
        text = "\n".join(
            f"{line} {round_}" if line.strip("> ") and line[-1] in ".?" else line for line in one.text.split("\n")
        )
        meta = {
            name: value.replace("@", f"-{round_}@") if isinstance(value, str) and name in NAMED else value
            for name, value in one.meta.items()
        }
        sent = (mail.sent + timedelta(days=round_)).isoformat()
        yield Document(f"{round_}/{one.id}", text, title=one.title, date=sent, source=one.source, meta=meta)


def main() -> None:
    """Take the figures and write the page."""
    arguments = options(__doc__, threads=2_000, scale=100_000).parse_args()
    lines = chain(parting(arguments.threads // 10), threading(arguments.threads), commands(arguments.scale))
    publish("mail", "How well mails are parted and threads found", lines, introduction(__doc__, "Threads are made up"))


if __name__ == "__main__":
    main()
