"""`ibidem idf`: build, list and compare idf tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as Shown
from rich.text import Text

from ibidem.cli.console import Json, bar, engine_context, messages, print_json, results, sanitize
from ibidem.grouped_search.explanations import format_count
from ibidem.index.idf_build import REMEDY, ForeignShare, build_table, find_foreign, index_documents, sample, table_facts
from ibidem_core.settings import Settings, load
from ibidem_engines.ledger import SIGN_AGAIN
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Correlation, Tables, changed_fingerprints, correlation
from ibidem_ingest.idf.table import Table
from ibidem_ingest.language import add_languages
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import DETECT, Choice

BAR = 40
SAMPLE = 1_000  # documents that are drawn at random to compare two tables
SHOWN = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)  # lengths that stand on a terminal

Shares = Mapping[int, float]


def warn_once(shares: Iterable[ForeignShare]) -> None:
    """Warn of documents whose declared language differs from the detected language."""
    for each in shares:
        messages().print(Text(sanitize(f"{each}: {REMEDY}")))


def bars(shares: Shares) -> Iterator[str]:
    """Return a line with a bar for some of the lengths.

    >>> next(bars({6: 0.5, 7: 0.7, 20: 1.0}))
    ' 6   50.0 %  ████████████████████'
    """
    for length in SHOWN:
        if length in shares:
            yield f"{length:>2}  {100 * shares[length]:>5.1f} %  {'█' * round(shares[length] * BAR)}"


app = typer.Typer(help="Build, choose, show or compare tables of word frequencies.")

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH…", help="Files with documents; default: the documents of the index.", show_default=False
    ),
]
RAREST = 10  # so many of a table's rarest allowed terms are shown


@app.command()
def build(
    paths: Paths = None,
    language: Annotated[str, typer.Option(metavar="CODE", help="Only documents in this language count.")] = "en",
    as_json: Json = False,
) -> None:
    """Count a table from documents, at least 1,000; nothing changes until it is used."""
    settings = load()
    origin = f"counted from {', '.join(Path(path).name for path in paths)}" if paths else f"index {settings.index}"
    with bar("Counting") as advance:
        built = build_table(documents(paths, settings), language, origin, lambda count: advance(count, None))
    Tables(settings.tables).keep(built.table)
    warn_once(built.foreign)
    if as_json:
        print_json(built.as_json())
        return
    results().print(Text(line(built.table)))
    for other, times in built.others.items():
        messages().print(Text(f"{format_count(times, 'document')} in {sanitize(repr(other))} left out"))
    messages().print(Text(f"Sign with it: ibidem idf use {built.table.name}"))


@app.command()
def use(name: Annotated[str, typer.Argument(metavar="NAME", help="A table's name.")], as_json: Json = False) -> None:
    """Sign with a table from now on; what the index holds keeps its signatures until it is signed again."""
    tables = Tables(load().tables)
    table = find_table(name, tables)
    tables.use(table)
    if as_json:
        print_json(table_facts(table))
    else:
        results().print(Text(line(table)))
        messages().print(Text(f"The documents of the index keep their signatures; {SIGN_AGAIN}"))


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A table; default: all.")] = "",
    as_json: Json = False,
) -> None:
    """Show the tables of the folder, or one of them."""
    tables = Tables(load().tables)
    if name:
        show_table(find_table(name, tables), as_json=as_json)
        return
    current = set(tables.current().values())
    facts = [table_facts(table) | {"current": table.name in current} for table in tables.all()]
    if as_json:
        print_json({"tables": facts})
    elif not facts:
        results().print(Text(f"No tables in {tables.folder}; one is built when the first document is signed."))
    else:
        results().print(tables_table(facts))


@app.command()
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A table's name, or its file.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another's.")],
    paths: Paths = None,
    as_json: Json = False,
) -> None:
    """Compare two tables: the order of their terms, and the fingerprints that change from one to the other."""
    settings = load()
    tables = Tables(settings.tables)
    left, right = find_table(a, tables), find_table(b, tables)
    if left.language != right.language:
        raise UsageError(
            f"{left.name} is a table of {left.language!r}, {right.name} of {right.language!r}",
            "compare two of one language",
        )
    texts = draw_texts(documents(paths, settings), left.language)
    rank_correlation, shares = correlation(left, right), changed_fingerprints(texts, left, right)
    if as_json:
        counts = {"common": rank_correlation.common, "spearman": rank_correlation.spearman, "documents": len(texts)}
        print_json(counts | {"changed": {str(length): share for length, share in shares.items()}})
        return
    for text in comparison_lines(rank_correlation, shares, len(texts)):
        results().print(Text(text))


def draw_texts(items: Iterator[Document | Refusal], language: str) -> list[str]:
    """Draw a random sample of texts in a language; warn if there are none, or some are in another language."""
    with bar("Reading") as advance:
        texts = sample(count_documents(items, lambda done: advance(done, None)), language, SAMPLE)
    if not texts:
        messages().print(Text(f"No documents in {language!r}: fingerprints could not be compared."))
    foreign = find_foreign(language, texts)
    warn_once([foreign] if foreign else [])
    return texts


def documents(paths: list[str] | None, settings: Settings) -> Iterator[Document | Refusal]:
    if paths:
        yield from add_languages(read(paths, Choice(language=DETECT), settings.max_text))
        return
    with engine_context(settings) as engine:
        yield from index_documents(engine)


def count_documents(items: Iterator[Document | Refusal], report: Callable[[int], None]) -> Iterator[Document | Refusal]:
    for number, item in enumerate(items, 1):
        report(number)
        yield item


def find_table(name: str, tables: Tables) -> Table:
    table = Table.open(Path(name)) if Path(name).is_file() else tables.named(name)
    if table is None:
        raise UsageError(f"no idf table {name!r} in {tables.folder}", "list the names with: ibidem idf show")
    return table


def line(table: Table) -> str:
    return f"{table.name}  {table.language}  {table.size:,} terms of {table.documents:,} documents: {table.origin}"


def show_table(table: Table, *, as_json: bool) -> None:
    """Show one idf table with the rarest terms that count."""
    first = min(table.first_allowed, table.size)
    rarest = [table.term(rank) for rank in range(first, min(first + RAREST, table.size))]
    if as_json:
        print_json(table_facts(table) | {"too_rare": first, "rarest": rarest})
        return
    console = results()
    console.print(Text(line(table)))
    console.print(
        Text(f"{format_count(first, 'term')} too rare to count; the rarest that count: {sanitize(', '.join(rarest))}")
    )


def tables_table(facts: list[dict[str, object]]) -> Shown:
    """Format idf tables as a table, with the current one of each language marked."""
    table = Shown(box=None, pad_edge=False, padding=(0, 2))
    for column in ("name", "language", "terms", "documents", "origin", ""):
        table.add_column(column, overflow="fold")
    for each in facts:
        now = "current" if each["current"] else ""
        cells = (each["name"], each["language"], f"{each['terms']:,}", f"{each['documents']:,}", each["origin"], now)
        table.add_row(*(sanitize(str(cell)) for cell in cells))
    return table


def comparison_lines(correlation: Correlation, shares: Mapping[int, float], sampled: int) -> Iterator[str]:
    spearman = "undefined" if correlation.spearman is None else f"{correlation.spearman:.4f}"
    yield f"{format_count(correlation.common, 'term')} in common, Spearman's rank correlation {spearman}"
    if shares:
        yield f"fingerprints that change, of {format_count(sampled, 'document')}, by their length in terms:"
        yield from bars(shares)
