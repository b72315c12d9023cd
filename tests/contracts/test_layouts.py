"""What an index looks like: released layouts are never edited, and an index is made as its layout says."""

import json
from hashlib import sha256
from importlib.resources import files
from typing import Any
from uuid import uuid4

import pytest

import ibidem
from contracts.command import Command, leases
from contracts.golden import Golden
from contracts.process import get
from servers.indices import remove_indices

KINDS = ("opensearch", "elasticsearch")
VOLATILE = ("creation_date", "provided_name", "uuid", "version")
LINE = 'select name, sql from sqlite_master where sql is not null and name not like "%\\_%" escape "\\" order by name'


def test_a_released_layout_is_never_edited() -> None:
    layouts = [each for each in files("ibidem_mappings").iterdir() if each.name.endswith((".json", ".sql"))]
    assert layouts
    Golden.check_names("layouts/files", (f"{each.name} {sha256(each.read_bytes()).hexdigest()}" for each in layouts))


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    command = leases(tmp_path_factory.mktemp("leases"))
    command.run("ingest", "documents.jsonl")
    return command


def test_an_index_in_a_file_has_these_tables_and_says_what_it_is(command: Command) -> None:
    Golden.check("layouts/sqlite.sql", "\n".join(f"-- {name}\n{sql}" for name, sql in command.rows(LINE)))
    Golden.check("layouts/state.txt", "\n".join(map(str, command.rows('select * from "ibidem.ibidem.state"'))))


@pytest.mark.parametrize("kind", [pytest.param(name, marks=pytest.mark.server(name)) for name in KINDS])
def test_an_index_in_a_cluster_has_this_mapping(request: pytest.FixtureRequest, kind: str) -> None:
    address, index = request.getfixturevalue(kind), f"contracts-{uuid4().hex}"
    engine = ibidem.open_engine(address, index)
    engine.create()
    url = f"{address.partition('+')[2]}/{index}"
    definition: Any = json.loads(get(url))[index]
    engine.close()
    remove_indices(address, index)
    Golden.check_json(f"layouts/{kind}-mapping", definition["mappings"])
    steady = {name: value for name, value in definition["settings"]["index"].items() if name not in VOLATILE}
    Golden.check_json(f"layouts/{kind}-settings", steady)
