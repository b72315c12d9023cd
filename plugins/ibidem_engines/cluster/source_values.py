"""Raw JSON values of `_source`, byte for byte, and dates in foreign formats."""

import json
import re
from collections.abc import Iterator

# Numbers are passed over, whatever they are.
_DECODER = json.JSONDecoder(parse_float=len, parse_int=len, parse_constant=len)

_BLANKS = re.compile(r"[ \t\r\n]*")

ESCAPE = b"\\u"  # characters with which a name may be written otherwise than as it is

Span = tuple[int, int]


def members(text: str, start: int = 0) -> Iterator[tuple[str, Span]]:
    """Yield the names of an object's members, with the positions of their values.

    >>> [(name, '{"a": 1.50, "b": [2]}'[begin:end]) for name, (begin, end) in members('{"a": 1.50, "b": [2]}')]
    [('a', '1.50'), ('b', '[2]')]
    """
    start = _past_blanks(text, start + 1)
    while text[start] != "}":
        if text[start] == ",":
            start = _past_blanks(text, start + 1)
        name, start = _DECODER.raw_decode(text, start)
        begin = _past_blanks(text, _past_blanks(text, start) + 1)
        _, end = _DECODER.raw_decode(text, begin)
        yield name, (begin, end)
        start = _past_blanks(text, end)


def objects(text: str, position: int) -> Iterator[dict[str, Span]]:
    """Yield the positions of values by name for each object of an array, in one pass."""
    position = _past_blanks(text, position + 1)
    while text[position] != "]":
        spans = dict(members(text, position))
        yield spans
        _, end = max(spans.values())
        position = _past_blanks(text, text.index("}", end) + 1)
        if text[position] == ",":
            position = _past_blanks(text, position + 1)


def with_member(raw: bytes, name: str, value: bytes) -> bytes:
    """Add a member to an object, replacing one of the same name.

    >>> with_member(b'{"price": 1.50}', "ibidem", b'{}')
    b'{"price": 1.50,"ibidem":{}}'
    """
    raw, quoted = raw.strip(), json.dumps(name).encode()
    if quoted in raw or ESCAPE in raw:
        text = raw.decode()
        spans = dict(members(text))
        if name in spans:
            begin, end = spans[name]
            return f"{text[:begin]}{value.decode()}{text[end:]}".encode()
    comma = b"," if raw[1:-1].strip() else b""
    return b"".join((raw[:-1], comma, quoted, b":", value, b"}"))


def remove_member(raw: bytes, name: str) -> bytes:
    """Remove a member from an object, leaving every other byte unchanged.

    >>> remove_member(b'{"price": 1.50,"ibidem":{}}', "ibidem"), remove_member(b'{"ibidem":{}, "n": 1 }', "ibidem")
    (b'{"price": 1.50}', b'{"n": 1 }')
    """
    text = raw.decode()
    spans = list(members(text))
    position = next((at for at, (member, _) in enumerate(spans) if member == name), None)
    if position is None:
        return raw
    begin, end = (
        _past_blanks(text, spans[position - 1][1][1]) if position else _past_blanks(text, text.index("{") + 1),
        spans[position][1][1],
    )
    if position == 0 and len(spans) > 1:
        end = _past_blanks(text, text.index(",", end) + 1)
    return f"{text[:begin]}{text[end:]}".encode()


def _past_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position
