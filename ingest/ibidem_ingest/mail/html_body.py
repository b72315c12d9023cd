"""Text of a mail or field in HTML: paragraphs, with `blockquote` converted to quote marks.

trafilatura, which reads pages, gives the core of a page and drops what it takes for a frame: of a mail that is often
the answer or the quotation.
"""

from importlib import import_module

PARAGRAPHS = frozenset({"p", "ul", "ol", "table", "pre", "h1", "h2", "h3", "blockquote"})
BLOCKS = PARAGRAPHS.union(
    ("address", "article", "body", "center", "dd", "div", "dl", "dt", "footer", "form", "h4", "h5", "h6", "header"),
    ("li", "main", "section", "tr"),
)
INVISIBLE_ELEMENTS = frozenset({"head", "script", "style", "title", "noscript", "template"})
RULE = "________________________________"
MAX_MARKS = 250


def html_to_text(html: str, quote: str = "> ") -> str:
    """Return the text of a mail in HTML, with a mark before each line of a quotation."""
    etree = import_module("lxml.etree")
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    tree = etree.HTML(html.encode(errors="replace"), parser) if html.strip() else None
    writer = _Writer(quote)
    for event, element in [] if tree is None else etree.iterwalk(tree, events=("start", "end")):
        if isinstance(element.tag, str):
            opens = event == "start"
            writer.tag(element.tag, opens=opens)
            writer.text(element.text if opens else element.tail)
    writer.end_line()
    text = "\n".join(writer.lines).strip("\n")
    return f"{text}\n" if text else ""


class _Writer:
    """Collects lines while the tree is visited, without recursion."""

    def __init__(self, quote: str) -> None:
        self.quote = quote
        self.lines: list[str] = []
        self.line: list[str] = []
        self.marks = self.hidden = self.verbatim = 0  # how many elements are open that quote, hide, or keep lines

    def tag(self, tag: str, *, opens: bool) -> None:
        step = 1 if opens else -1
        if tag in BLOCKS:
            self._paragraph() if opens and tag in PARAGRAPHS else self.end_line()
        if tag in INVISIBLE_ELEMENTS:
            self.hidden += step
        elif tag == "blockquote":
            self.marks += step
        elif tag == "pre":
            self.verbatim += step
        if not opens:
            if tag in PARAGRAPHS:
                self._paragraph()
        elif tag == "br":
            self.end_line(force=True)
        elif tag == "hr":
            self.end_line()
            self.line.append(RULE)
            self.end_line()
        elif tag in ("td", "th"):
            self.line.append(" ")

    def text(self, text: str | None) -> None:
        if not text or self.hidden:
            return
        if self.verbatim:
            first, *others = text.split("\n")
            self.line.append(first)
            for each in others:
                self.end_line(force=True)
                self.line.append(each)
        else:
            words = " ".join(text.split())
            lead = " " if text[0].isspace() else ""
            self.line.append(f"{lead}{words}{' ' if words and text[-1].isspace() else ''}")

    def _paragraph(self) -> None:
        """End a line, and add an empty line unless there is one."""
        self.end_line()
        if self.lines and self.lines[-1].strip("> "):
            self.lines.append(self.quote * min(self.marks, MAX_MARKS))
            self.lines[-1] = self.lines[-1].rstrip()

    def end_line(self, *, force: bool = False) -> None:
        """End a line; an empty one only if forced."""
        line = "".join(self.line)
        line = line.rstrip() if self.verbatim else " ".join(line.split(" ")).strip()
        self.line.clear()
        if line or force:
            prefix = self.quote * min(self.marks, MAX_MARKS)
            self.lines.append(f"{prefix}{line}".rstrip())
