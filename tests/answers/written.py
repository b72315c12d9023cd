"""Where answers are written down, and whether this run writes them."""

from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


class Answers:
    writing = False
