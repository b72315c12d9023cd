"""The second tier of tests is what the table says, and nothing else is left out."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from servers.tiers import BOTH, NIGHTLY, ONE_BROKER, ONE_ENGINE, OTHERS, ROOT, THOROUGH, mark_tiers


class Item:
    """A collected test of a file."""

    def __init__(self, path: Path, engine: str = "") -> None:
        self.path, self.engine, self.name = path, engine, f"test_it[{engine}]"
        self.callspec = SimpleNamespace(params={"kind": engine})
        self.marks: list[str] = []

    def add_marker(self, name: str) -> None:
        self.marks.append(name)

    def get_closest_marker(self, name: str) -> str | None:
        return self.engine or None if name == "server" else None


@pytest.mark.parametrize("name", [*THOROUGH, *ONE_ENGINE, *BOTH, *NIGHTLY, *ONE_BROKER, *OTHERS])
def test_every_name_of_the_tables_is_there(name: str) -> None:
    file, _, test = name.partition("::")
    assert (ROOT / file).exists()
    assert f"def {test}" in (ROOT / file).read_text() if test else True


def test_a_file_of_the_table_and_every_file_in_its_folders_are_of_the_second_tier() -> None:
    paths = ["upgrade/test_upgrade.py", "suites/test_suites.py", "suites/test_runner.py", "cli/test_doctor.py"]
    items = [Item(ROOT / path) for path in paths] + [Item(Path("/elsewhere/test_it.py"))]
    mark_tiers(items)  # type: ignore[arg-type] # a path and a marker are all that is asked of a test
    assert [each.marks for each in items] == [["thorough"], ["thorough"], [], [], []]


@pytest.mark.parametrize(
    ("path", "engine", "marks"),
    [
        ("gateway/test_rights.py", "elasticsearch", ["thorough", "nightly"]),
        ("gateway/test_rights.py", "opensearch", []),
        ("gateway/test_shapes.py", "", []),
        ("engines/test_contract.py", "elasticsearch", []),
        ("workers/test_strangers.py", "redis", ["thorough"]),
        ("workers/test_strangers.py", "rabbitmq", []),
        ("plugin/test_search.py", "elasticsearch", []),
        ("retrieval/test_frameworks.py", "", ["thorough", "nightly"]),
        ("plugin/test_mixed.py", "elasticsearch", ["thorough", "nightly"]),
    ],
)
def test_the_earlier_tiers_ask_one_engine_above_the_adapters_and_one_broker_with_one_consumer(
    path: str, engine: str, marks: list[str]
) -> None:
    item = Item(ROOT / path, engine)
    mark_tiers([item])  # type: ignore[list-item] # as above
    assert item.marks == marks


def test_the_contract_of_an_engine_is_of_no_table() -> None:
    assert not {"engines/", "engines/test_contract.py", "clients/", "clients/test_wrap.py"} & {
        *THOROUGH,
        *ONE_ENGINE,
        *NIGHTLY,
    }
