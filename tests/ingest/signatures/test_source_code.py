"""Files of source code are no misread copies of each other, however alike they are."""

import inspect
import textwrap
import zipfile
from types import ModuleType

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.sign import sign_batch, sign_one
from ibidem_ingest.signatures.source_code import is_source_code

TABLE = Table.build("en", 100_000, {"the": 50_000.0, "court": 900.0}, "two words")
PROSE = "The motion is denied; the appeal (No. 12-B) was late; costs follow the event and counsel knew it. " * 9


@pytest.mark.parametrize("module", [zipfile, textwrap, inspect])
def test_source_code_has_no_noise_block(module: ModuleType) -> None:
    document = Document("a", inspect.getsource(module))
    assert is_source_code(document.text)
    assert sign_one(document, TABLE).noise == noise.NONE
    assert sign_batch([document, Document("b", PROSE)], TABLE)[0].noise == noise.NONE


def test_prose_with_semicolons_and_brackets_keeps_its_noise_block() -> None:
    document = Document("b", PROSE)
    assert not is_source_code(PROSE)
    assert sign_one(document, TABLE).noise == sign_batch([document], TABLE)[0].noise != noise.NONE
