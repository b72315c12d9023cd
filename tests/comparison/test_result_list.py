"""A cell of the table is never a formula."""

import pytest

from ibidem.comparison.result_list import inert


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\tx",
        "\rx",
        "\n=1",
        "\N{FULLWIDTH EQUALS SIGN}1",
        "\N{FULLWIDTH PLUS SIGN}1",
        " =1",
        "\ufeff=1",
    ],
)
def test_no_cell_is_taken_for_a_formula(cell: str) -> None:
    assert inert(cell) == f"'{cell}"
