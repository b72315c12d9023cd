"""Write the golden files again: `python -m contracts.write` in `tests`, with further arguments for pytest.

Look at what `git diff` shows then: each line is a promise to users that changes.
"""

import sys
from pathlib import Path

import pytest

from contracts.golden import Golden

if __name__ == "__main__":
    Golden.writing = True
    sys.exit(pytest.main([str(Path(__file__).parent), "-q", "-p", "no:randomly", *sys.argv[1:]]))
