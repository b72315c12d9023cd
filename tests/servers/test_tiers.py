"""The second tier of tests is what the table says, and nothing else is left out."""

import pytest

from servers.tiers import BOTH, BOTH_LATER, NIGHTLY, ONE_BROKER, ONE_ENGINE, OTHERS, ROOT, THOROUGH


@pytest.mark.parametrize("name", [*THOROUGH, *ONE_ENGINE, *BOTH, *BOTH_LATER, *NIGHTLY, *ONE_BROKER, *sorted(OTHERS)])
def test_every_name_of_the_tables_is_there(name: str) -> None:
    file, _, test = name.partition("::")
    assert (ROOT / file).exists()
    assert f"def {test}" in (ROOT / file).read_text() if test else True


def test_the_contract_of_an_engine_is_of_no_table() -> None:
    contract = {"engines/", "engines/test_contract.py", "clients/", "clients/test_wrap.py"}
    assert contract.isdisjoint({*THOROUGH, *ONE_ENGINE, *NIGHTLY})
