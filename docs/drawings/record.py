"""Record `ibidem ingest`, `ibidem search` and `ibidem compare` on a terminal: `recording.svg`, which README shows.

    python docs/drawings/record.py

The commands run in a folder of their own on the files below, and the picture has what they print, with its colours.
`tests/test_drawings.py` runs them again and fails when one prints anything else.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

FILE = Path(__file__).with_name("recording.svg")
COLUMNS = 92
CELL, LINE, MARGIN = 7.8, 17, 16

MERGER = """Calloway and Northern Freight to merge

The shareholders of Calloway Shipping approved the merger with Northern Freight on Tuesday. The merger creates the
largest carrier of grain on the Great Lakes, with 41 vessels and 2,300 employees. Calloway said the vessels would keep
their names and their crews, and that the merger needs the consent of the Maritime Commission."""
# Invented notices: one printed twice, one sent again with changes, and one that only names the same merger.
FILES = {
    "agency.txt": MERGER,
    "herald.txt": MERGER,
    "update.txt": MERGER.replace("largest", "biggest").replace("said the", "said that the") + " A date is not set.",
    "hearings.txt": """Unions ask for a refusal

The Maritime Commission opened hearings in Ottawa on Monday. Two unions of seamen asked it to refuse the merger of
Calloway Shipping and Northern Freight, since 400 berths on the Great Lakes would be lost. A decision is expected
before the ice closes the canals in December.""",
}

COMMANDS = ("ibidem ingest notices", "ibidem search merger", "ibidem compare agency.txt update.txt")

# Seconds that a command is typed, that its output takes to appear, and that it stays.
TYPING, WAITING, READING = 1.4, 0.4, 6.0

SECONDS = re.compile(r"\d+\.\d s\b")  # the one part of the output that differs from run to run

STYLE = """
svg{background:#15191f;border-radius:8px}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d7dce2;white-space:pre}
.prompt{fill:#7f8a96}
.scene{opacity:0}
.scene:last-of-type{opacity:1}
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """A command and what it printed."""

    command: str  # as it is typed
    output: str  # with the escape sequences of its colours

    @property
    def plain(self) -> str:
        """The command and its output without colours."""
        return f"$ {self.command}\n{Text.from_ansi(self.output).plain}"


def record() -> list[Scene]:
    """Run the commands in a folder that has the files and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        notices = Path(folder, "notices")
        notices.mkdir()
        for name, text in FILES.items():
            (notices / name).write_text(text, encoding="utf-8")
        return [Scene(command, run(command, folder)) for command in COMMANDS]


def run(command: str, folder: str) -> str:
    """Run a command as on a terminal with colours; returns what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"
    terminal = {"TERM": "xterm-256color", "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    environment = {"PATH": path, "HOME": folder, "LANG": "C.UTF-8", **terminal}
    done = subprocess.run(  # noqa: S603 - one of COMMANDS
        shlex.split(command), cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def draw(scenes: Sequence[Scene]) -> str:
    """Draw the scenes one after the other, for ever."""
    rows = 1 + max(scene.plain.count("\n") for scene in scenes)
    width, height = MARGIN * 2 + COLUMNS * CELL, MARGIN * 2 + rows * LINE
    plain = "\n".join(scene.plain for scene in scenes)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" role="img">'
    body = "".join(draw_scene(number, scene) for number, scene in enumerate(scenes))
    texts = f"<desc>{escape(plain, quote=False)}</desc>\n<style>{STYLE}{''.join(times(scenes))}</style>"
    return f"{head}\n{texts}\n{body}</svg>\n"


def times(scenes: Sequence[Scene]) -> Iterator[str]:
    """Yield the rules that show each scene in its turn, its command letter by letter, then its output."""
    each = TYPING + WAITING + READING
    whole = each * len(scenes)
    for number, scene in enumerate(scenes):
        begin, end = (100 * at * each / whole for at in (number, number + 1))
        typed, shown = (begin + 100 * seconds / whole for seconds in (TYPING, TYPING + WAITING))
        late = f"{end - 0.01:.2f}%{{opacity:1}}{end:.2f}%,100%{{opacity:0}}" if end < 100 else "100%{opacity:1}"
        steps = f"animation-timing-function:steps({len(scene.command)})"
        yield f"@keyframes s{number}{{0%{{opacity:{int(not number)}}}{begin:.2f}%{{opacity:1}}{late}}}\n"
        yield (
            f"@keyframes t{number}{{0%,{begin:.2f}%{{clip-path:inset(0 100% 0 0);{steps}}}"
            f"{typed:.2f}%,100%{{clip-path:inset(0)}}}}\n"
        )
        yield f"@keyframes o{number}{{0%,{shown - 0.01:.2f}%{{opacity:0}}{shown:.2f}%,100%{{opacity:1}}}}\n"
        for letter, timing in (("s", "step-end"), ("t", "linear"), ("o", "step-end")):
            yield f".{letter}{number}{{animation:{letter}{number} {whole:g}s {timing} infinite}}\n"


def draw_scene(number: int, scene: Scene) -> str:
    """Draw one scene."""
    prompt = f'<text x="{MARGIN}" y="{MARGIN + LINE}" class="prompt">$</text>'
    command = f'<text x="{MARGIN + 2 * CELL:.1f}" y="{MARGIN + LINE}" class="t{number}">{escape(scene.command)}</text>'
    lines = "\n".join(draw_lines(scene.output))
    return f'<g class="scene s{number}">{prompt}{command}<g class="o{number}">\n{lines}\n</g></g>\n'


def draw_lines(output: str) -> Iterator[str]:
    """Yield each line of an output that is not blank."""
    console = Console(width=COLUMNS + 1, color_system="truecolor", force_terminal=True)
    for row, line in enumerate(console.render_lines(Text.from_ansi(output), pad=False), 2):
        spans = "".join(draw_spans(line))
        if spans:
            yield f'<text x="{MARGIN}" y="{MARGIN + LINE * row}">{spans}</text>'


def draw_spans(line: Iterable[Segment]) -> Iterator[str]:
    """Yield the spans of a line, each from the cell in which it begins: fonts differ in their widths."""
    cell = 0
    for segment in line:
        if segment.text.strip():
            blank = len(segment.text) - len(segment.text.lstrip())
            x = f"{MARGIN + (cell + blank) * CELL:.1f}"
            yield f'<tspan x="{x}"{attributes(segment.style)}>{escape(segment.text.strip(), quote=False)}</tspan>'
        cell += segment.cell_length


def attributes(style: Style | None) -> str:
    """Write colour, weight and faintness of a style as attributes."""
    if style is None:
        return ""
    colour = f' fill="{hexadecimal(style.color)}"' if style.color else ""
    return colour + (' font-weight="700"' if style.bold else "") + (' opacity=".6"' if style.dim else "")


def hexadecimal(colour: Color) -> str:
    """Return a colour of the terminal as pictures name it."""
    return colour.get_truecolor(DIMMED_MONOKAI).hex


if __name__ == "__main__":
    FILE.write_text(draw(record()), encoding="utf-8")
