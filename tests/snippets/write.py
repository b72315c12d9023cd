"""Write what a tutorial's commands print into its page: `cd tests && python -m snippets.write NAME…`.

The server is the one in IBIDEM_TEST_OPENSEARCH.
"""

import os
import sys
import tempfile
from pathlib import Path

from snippets.conftest import remove
from snippets.test_tutorials import MINE, TUTORIALS, write


def main(names: list[str]) -> None:
    address = os.environ.get("IBIDEM_TEST_OPENSEARCH", "")
    for name in names or TUTORIALS:
        with tempfile.TemporaryDirectory(prefix=MINE) as folder:
            try:
                write(name, Path(folder), address)
            finally:
                if TUTORIALS[name]:
                    remove(address, MINE)


if __name__ == "__main__":
    main(sys.argv[1:])
