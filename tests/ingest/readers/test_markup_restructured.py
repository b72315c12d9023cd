"""reStructuredText: what readers see, without its marks, by a small rule."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem_ingest.errors import Unreadable
from ibidem_ingest.readers.markup import rst_record, strip_marks
from support.examples import examples

PAGE = """.. _using-csrf:

===================
How to use *tokens*
===================

.. currentmodule:: django.middleware
   :synopsis: hidden

To use :ref:`the guide <guide>`, see ``csrf_token`` and `here <https://a.b>`_::

    code {{ x }}

.. note:: Mind this.

   And **that**, too_.

.. image:: a.png
   :alt: hidden

.. code-block:: python
   :linenos:

   print(1)

=====  =====
A      B
=====  =====
c      d
=====  =====

.. [1] A footnote.
"""


def read(folder: Path, text: str) -> dict[str, object]:
    path = folder / "a.rst"
    path.write_text(text, encoding="utf-8")
    return rst_record(path, 10_000)


def test_marks_are_no_text_and_the_first_title_is_the_title(tmp_path: Path) -> None:
    record = read(tmp_path, PAGE)
    assert record["title"] == "How to use tokens"
    assert " ".join(str(record["text"]).split()) == (
        "How to use tokens To use the guide, see csrf_token and here: code {{ "
        "x }} Mind this. And that, too. print(1) A B c d A footnote."
    )


def test_a_text_without_a_title_has_its_first_line_with_words(tmp_path: Path) -> None:
    assert read(tmp_path, "----\n\n*We* the People\n")["title"] == "We the People"


@pytest.mark.parametrize("text", ["", "====\n", ".. comment\n   hidden\n", ".. _target:\n"])
def test_what_shows_nothing_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Unreadable, match="it is empty"):
        read(tmp_path, text)


@given(st.text(alphabet="a *`_:|<>.=-~+[]\n\\", max_size=300))
@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_there_is_read_or_refused(tmp_path: Path, text: str) -> None:
    with suppress(Unreadable):
        assert read(tmp_path, text)["text"]


@pytest.mark.parametrize("mark", ["*", "`", "**", "``", "|", ":a:`", "`<", ".. "])
def test_no_line_lets_a_pattern_run_on_and_on(mark: str) -> None:
    line = f"{mark}a " * 20_000
    assert len(strip_marks(line)) <= len(line)
