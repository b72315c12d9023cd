"""A page of the docs as a list of blocks: commands, files, what is printed."""

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^ {4}\S.*\n)+", re.MULTILINE)
NAME = re.compile(r"# ([\w./-]+)\n")


@dataclass(frozen=True)
class Block:
    language: str  # as its fence says; `sh` for an indented block; `file` for a program with its name in the first line
    body: str  # what it holds
    name: str = ""  # of the file


def blocks(path: Path) -> list[Block]:
    """Read the blocks of a page, in their order."""
    text = path.read_text(encoding="utf-8")
    places = [(match.start(), fenced(match[1], match[2])) for match in FENCED.finditer(text)]
    text_without = FENCED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    places += [(match.start(), Block("sh", dedent(match[0]))) for match in INDENTED.finditer(text_without)]
    return [block for _, block in sorted(places, key=lambda each: each[0])]


def fenced(language: str, body: str) -> Block:
    match = NAME.match(body)
    return Block("file", body, match[1]) if match and language != "sh" else Block(language, body)


def commands(block: Block) -> list[str]:
    """List the commands of a block, each on one line and without what is said of it."""
    if block.language == "sh":
        lines = block.body.replace("\\\n", " ").splitlines()
    elif block.language == "":
        lines = [line[2:] for line in block.body.replace("\\\n", " ").splitlines() if line.startswith("$ ")]
        lines = lines or block.body.splitlines()
    else:
        lines = []
    cleaned = (re.sub(r"\s+#.*$", "", line).strip() for line in lines)
    return [line for line in cleaned if line]
