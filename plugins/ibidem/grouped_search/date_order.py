"""Order of a window by the dates of its documents."""

from collections.abc import Mapping, Sequence

import numpy as np

from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines.hits import HitNames
from ibidem_engines.stored_groups import Hit, Order
from ibidem_ingest.dates import interval, time_of_day


def sort_hits(hits: Sequence[Hit], dates: Mapping[DocumentRef, str], order: Order) -> Sequence[Hit]:
    """Sort the hits of a window by time; a date without a time counts as the start of its day."""
    texts = [dates.get(name, "") for name in HitNames(hits)]
    intervals = [interval(text) for text in texts]
    days = np.array([(first if order == "oldest" else last) or 0 for first, last in intervals], np.int64)
    times = np.array([time_of_day(text) for text in texts], np.float64)
    sign = 1 if order == "oldest" else -1
    unknown = np.array([not text for text in texts], np.bool_)
    return [hits[row] for row in np.lexsort((sign * times, sign * days, unknown))]
