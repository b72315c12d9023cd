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
    return "" if tree is None else _Writer(quote).write(tree)


class _Writer:
    """Collects lines while the tree is visited, without recursion."""

    def __init__(self, quote: str) -> None:
        self.quote = quote
        self.lines: list[str] = []
        self.line: list[str] = []
        self.marks = 0
        self.hidden = 0
        self.verbatim = 0

    def write(self, tree: object) -> str:
        iterwalk = import_module("lxml.etree").iterwalk
        for event, element in iterwalk(tree, events=("start", "end")):
            if not isinstance(element.tag, str):
                continue
            if event == "start":
                self._start(element.tag)
                self._text(element.text)
            else:
                self._end(element.tag)
                self._text(element.tail)
        self._break()
        text = "\n".join(self.lines).strip("\n")
        return f"{text}\n" if text else ""

    def _start(self, tag: str) -> None:
        self.hidden += tag in INVISIBLE_ELEMENTS
        if tag in BLOCKS:
            self._paragraph() if tag in PARAGRAPHS else self._break()
        if tag == "blockquote":
            self.marks += 1
        elif tag == "pre":
            self.verbatim += 1
        elif tag == "br":
            self._break(force=True)
        elif tag == "hr":
            self._break()
            self.line.append(RULE)
            self._break()
        elif tag in ("td", "th"):
            self.line.append(" ")

    def _end(self, tag: str) -> None:
        self.hidden -= tag in INVISIBLE_ELEMENTS
        if tag in BLOCKS:
            self._break()
        if tag == "blockquote":
            self.marks -= 1
        elif tag == "pre":
            self.verbatim -= 1
        if tag in PARAGRAPHS:
            self._paragraph()

    def _text(self, text: str | None) -> None:
        if not text or self.hidden:
            return
        if self.verbatim:
            first, *others = text.split("\n")
            self.line.append(first)
            for each in others:
                self._break(force=True)
                self.line.append(each)
        else:
            words = " ".join(text.split())
            lead = " " if text[0].isspace() else ""
            self.line.append(f"{lead}{words}{' ' if words and text[-1].isspace() else ''}")

    def _paragraph(self) -> None:
        """End a line, and add an empty line unless there is one."""
        self._break()
        if self.lines and self.lines[-1].strip("> "):
            self.lines.append(self.quote * min(self.marks, MAX_MARKS))
            self.lines[-1] = self.lines[-1].rstrip()

    def _break(self, *, force: bool = False) -> None:
        """End a line; an empty one only if forced."""
        line = "".join(self.line)
        line = line.rstrip() if self.verbatim else " ".join(line.split(" ")).strip()
        self.line.clear()
        if line or force:
            prefix = self.quote * min(self.marks, MAX_MARKS)
            self.lines.append(f"{prefix}{line}".rstrip())
