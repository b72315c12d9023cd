"""`import ibidem` offers exactly the public names of `__all__`, without import cycles."""

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import ibidem

HEAVY = {
    "numpy",
    "celery",
    "kombu",
    "elasticsearch",
    "opensearchpy",
    "pydantic",
    "wordfreq",
    "rich",
    "typer",
    "sqlite3",
}


def test_the_face_is_what_all_names() -> None:
    assert sorted(ibidem.__all__) == list(ibidem.__all__)
    assert set(ibidem._HOMES) == set(ibidem.__all__)
    assert set(dir(ibidem)) == set(ibidem.__all__)


@pytest.mark.parametrize("name", ibidem.__all__)
def test_every_public_name_is_read_from_its_home_and_documented(name: str) -> None:
    home = import_module(ibidem._HOMES[name])
    assert getattr(ibidem, name) is getattr(home, name)
    assert inspect.getdoc(getattr(ibidem, name))


def test_type_checkers_see_the_same_homes() -> None:
    tree = ast.parse(inspect.getsource(ibidem))
    imports = {
        name.asname or name.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ibidem")
        for name in node.names
    }
    assert imports == ibidem._HOMES


def test_no_module_takes_the_name_of_a_public_function() -> None:
    """`import ibidem.search` would put the module where the function was."""
    assert not {module.name for module in iter_modules(ibidem.__path__)} & set(ibidem.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'dedup'"):
        ibidem.dedup  # noqa: B018 - the look-up itself is what is tested


@pytest.mark.slow
def test_importing_the_face_loads_nothing_heavy() -> None:
    code = "import sys, ibidem; print(*{name.partition('.')[0] for name in sys.modules})"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not HEAVY & set(process)


@pytest.mark.slow
def test_inner_modules_never_import_the_face() -> None:
    inner = [path for path in Path(ibidem.__file__).parent.rglob("*.py") if path != Path(ibidem.__file__)]
    assert inner
    for path in inner:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert all(name.name != "ibidem" for name in node.names), path
            if isinstance(node, ast.ImportFrom):
                assert node.module != "ibidem", path


def test_the_page_of_the_interface_shows_every_public_name_and_no_other() -> None:
    page = (Path(__file__).parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^::: ([\w.]+)$", page, re.MULTILINE)) == {f"{h}.{n}" for n, h in ibidem._HOMES.items()}
