"""The worst mistakes as one page of HTML: each pair side by side, with what labels and signatures say of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ibidem.comparison.compare import compare
from ibidem.comparison.html_page import SharedPage, environment, shared_page
from ibidem.evaluation.errors import Mistake
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.pairs.decision import Policy


@dataclass(frozen=True, slots=True)
class WorstPair:
    """A pair on which labels and signatures disagree, with both texts.

    Args:
        mistake: What they say.
        page: The two side by side.
    """

    mistake: Mistake
    page: SharedPage


def worst_pairs(
    mistakes: Sequence[Mistake], items: Iterable[Document | Refusal], tables: Tables, policy: Policy
) -> list[WorstPair]:
    """Compare the two documents of each mistake.

    Args:
        mistakes: The pairs, the worst first.
        items: Documents and refusals, as readers give them; only those of the pairs are kept.
        tables: Where the idf tables are.
        policy: The decision for a pair.
    """
    wanted = {name for each in mistakes for name in (each.a, each.b)}
    held = {item.id: item for item in items if isinstance(item, Document) and item.id in wanted}
    worst = []
    for number, each in enumerate(mistakes, 1):
        page = shared_page(compare(held[each.a], held[each.b], tables, policy))
        worst.append(WorstPair(each, replace(page, prefix=f"p{number}-")))
    return worst


def render_worst(pairs: Sequence[WorstPair]) -> str:
    """Write the page as one file of HTML that needs nothing else.

    Args:
        pairs: The pairs, the worst first.
    """
    return environment().get_template("worst_page.html").render(pairs=pairs)
