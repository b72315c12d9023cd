"""Raw JSON values of `_source`, kept to the byte, and dates in foreign formats."""

import json
import re
from collections.abc import Iterator

_DECODER = json.JSONDecoder(parse_float=len, parse_int=len, parse_constant=len)
"""Numbers are passed over, whatever they are."""

_BLANKS = re.compile(r"[ \t\r\n]*")

Span = tuple[int, int]


def members(text: str, at: int = 0) -> Iterator[tuple[str, Span]]:
    """Yield the names of an object's members, each with the place of its value.

    Args:
        text: JSON.
        at: Where the object begins.

    >>> [(name, '{"a": 1.50, "b": [2]}'[begin:end]) for name, (begin, end) in members('{"a": 1.50, "b": [2]}')]
    [('a', '1.50'), ('b', '[2]')]
    """
    at = _past_blanks(text, at + 1)
    while text[at] != "}":
        if text[at] == ",":
            at = _past_blanks(text, at + 1)
        name, at = _DECODER.raw_decode(text, at)
        begin = _past_blanks(text, _past_blanks(text, at) + 1)
        _, end = _DECODER.raw_decode(text, begin)
        yield name, (begin, end)
        at = _past_blanks(text, end)


def entries(text: str, at: int = 0) -> Iterator[Span]:
    """Yield the places of the entries of an array.

    Args:
        text: JSON.
        at: Where the array begins.
    """
    at = _past_blanks(text, at + 1)
    while text[at] != "]":
        if text[at] == ",":
            at = _past_blanks(text, at + 1)
        begin, (_, at) = at, _DECODER.raw_decode(text, at)
        yield begin, at
        at = _past_blanks(text, at)


def with_member(raw: bytes, name: str, value: bytes) -> bytes:
    """Give an object a member, in the place of one of that name or behind the others.

    Args:
        raw: The object as JSON.
        name: Of the member.
        value: As JSON.

    >>> with_member(b'{"price": 1.50}', "ibidem", b'{}')
    b'{"price": 1.50,"ibidem":{}}'
    """
    text, new = raw.decode().strip(), value.decode()
    spans = dict(members(text))
    if name in spans:
        begin, end = spans[name]
        return f"{text[:begin]}{new}{text[end:]}".encode()
    comma = "," if spans else ""
    return f"{text[:-1]}{comma}{json.dumps(name)}:{new}}}".encode()


def remove_member(raw: bytes, name: str) -> bytes:
    """Take a member out of an object; every byte of the others stays as it is.

    Args:
        raw: The object as JSON.
        name: Of the member.

    >>> remove_member(b'{"price": 1.50,"ibidem":{}}', "ibidem"), remove_member(b'{"ibidem":{}, "n": 1 }', "ibidem")
    (b'{"price": 1.50}', b'{"n": 1 }')
    """
    text = raw.decode()
    spans = list(members(text))
    at = next((at for at, (member, _) in enumerate(spans) if member == name), None)
    if at is None:
        return raw
    begin, end = (
        _past_blanks(text, spans[at - 1][1][1]) if at else _past_blanks(text, text.index("{") + 1),
        spans[at][1][1],
    )
    if at == 0 and len(spans) > 1:
        end = _past_blanks(text, text.index(",", end) + 1)
    return f"{text[:begin]}{text[end:]}".encode()


def _past_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at
