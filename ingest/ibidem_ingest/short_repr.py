"""Short, printable representation of values for error messages, with JSON's names for types."""

import reprlib

_MOST = 60


def short_repr(value: object) -> str:
    """Write a value as a message shows it: short, and with escapes for what cannot be printed.

    >>> short_repr("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'…"
    >>> short_repr([1, "two"])
    "[1, 'two']"
    """
    if isinstance(value, str):
        return repr(value) if len(value) <= _MOST else f"{value[:_MOST]!r}…"
    written = reprlib.repr(value)
    return written if len(written) <= _MOST else f"{written[:_MOST]}…"


def kind(value: object) -> str:
    """Name a value's type as JSON does.

    >>> kind(1.5)
    'a number'
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list | tuple) else "an object"


def printable(text: str) -> str:
    r"""Write what cannot be printed as escapes, so that no text steers a terminal.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
