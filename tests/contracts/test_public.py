"""What `import ibidem` offers: names, arguments with their defaults, and the attributes of what is given back."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import ibidem
from contracts.command import Command
from contracts.golden import Golden

# What a class of settings has for pydantic's sake.
OF_THE_LIBRARY = {"model_config", "model_post_init", "settings_customise_sources"}


def arguments(called: Any) -> str:
    """Write the arguments of something that is called, with defaults and without types."""
    signature = inspect.signature(called)
    bare = [
        each.replace(annotation=inspect.Parameter.empty, default=default_text(each.default))
        for each in signature.parameters.values()
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def default_text(default: Any) -> Any:
    """Return a default whose text names no class of ours."""
    return asdict(default) if is_dataclass(default) and not isinstance(default, type) else default


def members(kind: type) -> Iterator[str]:
    """Write the public attributes of a class, its own and what it inherits from ours."""
    if is_dataclass(kind):
        yield from (f"  .{field.name}: a field" for field in fields(kind) if not field.name.startswith("_"))
    field_names = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    own_classes = [each for each in kind.__mro__ if each.__module__.startswith("ibidem")]
    attributes = {name: value for each in reversed(own_classes) for name, value in vars(each).items()}
    for name, value in sorted(attributes.items()):
        if name.startswith("_") or name in field_names or name in OF_THE_LIBRARY:
            continue
        called = getattr(value, "__func__", value)
        yield f"  .{name}{arguments(called)}" if inspect.isfunction(called) else f"  .{name}"
    yield from (f"  .{name}: a setting" for name in getattr(kind, "model_fields", ()))


def describe(name: str) -> str:
    """Write one public name with what belongs to it."""
    value = getattr(ibidem, name)
    if not inspect.isclass(value):
        return name + arguments(value)
    bases = ", ".join(base.__name__ for base in value.__bases__)
    signature = "" if "model_fields" in dir(value) else arguments(value)
    return "\n".join([f"class {name}({bases}){signature}", *members(value)])


def test_the_public_names_take_these_arguments_and_have_these_attributes() -> None:
    for name in ibidem.__all__:
        Golden.check(f"public/{name}.txt", describe(name))


def test_these_names_are_public_and_no_others() -> None:
    Golden.check_names("public/names", ibidem.__all__)


FAMILIES = ("overrides", "idf")


def commands(help_text: str) -> list[str]:
    _, _, table = help_text.partition("─ Commands ─")
    return re.findall(r"^│ (\w[\w-]*)", table, re.MULTILINE)


@pytest.mark.slow
def test_the_help_of_every_command_is_as_written_down(tmp_path: Path) -> None:
    command = Command(tmp_path, {})
    root = command.run("--help").out
    Golden.check("help/ibidem.txt", root)
    assert set(FAMILIES) < set(commands(root))
    for name in commands(root):
        help_text = command.run(name, "--help").out
        Golden.check(f"help/{name}.txt", help_text)
        assert bool(commands(help_text)) == (name in FAMILIES)
        for member in commands(help_text):
            Golden.check(f"help/{name}-{member}.txt", command.run(name, member, "--help").out)
