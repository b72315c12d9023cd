"""Write the answers down again: `python -m answers.write` in `tests`, with the servers of `servers.session`."""

import sys
from pathlib import Path

import pytest

from answers.searches import Answers

if __name__ == "__main__":
    Answers.writing = True
    sys.exit(pytest.main([str(Path(__file__).parent), "-q", "-p", "no:randomly", *sys.argv[1:]]))
