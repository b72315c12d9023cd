"""Stemmed sub-fields of a text, found in the metadata of an index."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ibidem_core.address import read_path

# The servers' own analyzers that reduce words to stems; the other languages' do not.
_LANGUAGE = re.compile(
    "arabic|armenian|basque|bengali|brazilian|bulgarian|catalan|czech|danish|dutch|english|estonian|finnish|french|"
    "galician|german|greek|hindi|hungarian|indonesian|irish|italian|latvian|lithuanian|norwegian|portuguese|romanian|"
    "russian|serbian|snowball|sorani|spanish|swedish|turkish"
)

# Types and names of the servers' own token filters that do.
_STEMMER = re.compile(r"stemmer|snowball|hunspell|kstem|\w+_stem(mer)?|\w+_snowball", re.ASCII)

_PATH = re.compile(r"[\w-]+(\.[\w-]+)*")


def metadata_parts(text: str) -> tuple[str, ...]:
    """Return the parts of an index's metadata that list stemmed fields; none if a path has special characters.

    >>> metadata_parts("body.content")[0]
    '*.mappings.properties.body.properties.content.fields'
    """
    if not _PATH.fullmatch(text):
        return ()
    path = text.replace(".", ".properties.")
    analysis = "*.settings.index.analysis"
    parts = ("analyzer.*.type", "analyzer.*.filter", "filter.*.type")
    return (f"*.mappings.properties.{path}.fields", *(f"{analysis}.{part}" for part in parts))


def stemmed_fields(metadata: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield the stemmed sub-fields of a text.

    >>> english = {"english": {"type": "text", "analyzer": "english"}, "raw": {"type": "keyword"}}
    >>> list(stemmed_fields({"mappings": {"properties": {"body": {"fields": english}}}}, "body"))
    ['body.english']
    """
    fields = read_path(metadata, f"mappings.properties.{text.replace('.', '.properties.')}.fields")
    analysis = read_path(metadata, "settings.index.analysis")
    for name, each in fields.items() if isinstance(fields, Mapping) else ():
        if each.get("type") == "text" and _stems(each.get("analyzer", ""), analysis or {}):
            yield f"{text}.{name}"


def _stems(analyzer: str, analysis: Any) -> bool:
    """Return whether an analyzer stems words: a language analyzer, one based on it, or one with a stemming filter."""
    own = analysis.get("analyzer", {}).get(analyzer)
    if own is None:
        return bool(_LANGUAGE.fullmatch(analyzer))
    filters = own.get("filter", [])
    kinds = analysis.get("filter", {})
    names = [filters] if isinstance(filters, str) else filters
    return bool(_LANGUAGE.fullmatch(str(own.get("type", "")))) or any(
        _STEMMER.fullmatch(str(kinds.get(name, {}).get("type", name))) for name in names
    )
