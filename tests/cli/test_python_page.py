"""The examples of `docs/python.md` run as they are printed, one after the other."""

import gzip
import json
import re
import shutil
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


@pytest.mark.slow
def test_the_page_runs_from_top_to_bottom(tmp_path: Path, tables_folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IBIDEM_CONCURRENCY", "1")
    shutil.copytree(tables_folder, tmp_path / ".ibidem" / "tables")
    case = {"id": "case", "text": "The export duty on wheat is void.", "title": "A case", "date": "1987-05-01"}
    with gzip.open("cases.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(case) + "\n" + json.dumps(case | {"id": "copy", "date": "1987-04-30"}))
    Path("pleadings").mkdir()
    Path("pleadings/plea.txt").write_text("We plead that wheat is no grain.", encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    printed = capsys.readouterr().out
    assert "level='near'" in printed
    assert "\n3 []\n" in printed
    assert "    A case {'signature': 'content'" in printed
