"""Spelling suggestion: a query without matches, with unknown words replaced by terms of the index."""

from dataclasses import replace

from ibidem_engines.engine import Engine
from ibidem_engines.highlighting import word_spans
from ibidem_engines.query import Query, parse_query


def did_you_mean(engine: Engine, query: Query) -> str:
    """Return a query that something matches, or an empty string.

    Args:
        engine: The index.
        query: What nothing matched.
    """
    words = dict.fromkeys(
        folded for phrase in query.phrases() if not phrase.prefix for folded, _, _ in word_spans(phrase.text)
    )
    better = engine.suggest(list(words)) if words else {}
    if not better:
        return ""
    typed = query.typed
    for folded, begin, end in reversed(list(word_spans(typed))):
        if folded in better:
            typed = typed[:begin] + better[folded] + typed[end:]
    corrected = replace(parse_query(typed), filters=query.filters, excluded=query.excluded)
    return typed if engine.search(corrected, 1).total else ""
