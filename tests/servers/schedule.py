"""Schedule tests on processes: tests of a file, and of files that share a cluster, go to one process."""

import re

from xdist.scheduler import LoadFileScheduling

CLUSTERS = "tests/plugin/"  # where each test says by its first parameter which of two clusters it asks


class Schedule(LoadFileScheduling):
    """Hands out the tests of a file together, and all tests of a cluster as if they were one file."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)


def unit(nodeid: str) -> str:
    """Return the name of what a test is handed out with.

    >>> unit("tests/plugin/test_tasks.py::test_a_search[opensearch-1]")
    'tests/plugin/opensearch'
    >>> unit("tests/cli/test_search.py::test_a_search[opensearch-1]")
    'tests/cli/test_search.py'
    """
    file, _, test = nodeid.partition("::")
    engine = re.search(r"\[(opensearch|elasticsearch)\b", test)
    return CLUSTERS + engine[1] if engine and file.startswith(CLUSTERS) else file
