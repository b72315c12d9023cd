"""`ibidem regroup`: settles the stored groups of the index again."""

import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated, Literal

from rich.text import Text

from ibidem.cli import START, console
from ibidem.grouped_search.api import format_count
from ibidem_core.settings import load
from ibidem_dedupe.evidence import percent
from ibidem_dedupe.parameters import PRESETS, pair_policy
from ibidem_dedupe.parameters import Preset as NamedFigures
from ibidem_dedupe.policy import Policy
from ibidem_engines.connect import check_distinct
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import Conflict, GroupCheckpoint, parse_policy
from ibidem_ingest.distribution import need_hook
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.minhash import found_share
from ibidem_ingest.signatures.schema import SLOTS
from ibidem_workers.groups.follower import regroup

MIN_SHARE = 0.6  # least overlap of 60 terms that guarantees one common term among the 25 rarest
MIN_FOUND = 0.97  # share of the pairs that share the least from which no advice is given


def run(
    everything: Annotated[
        bool, console.option("--all", "Start over, with each document in a group of its own.")
    ] = False,
    similarity: console.Similarity = None,
    preset: console.Preset = None,
    window_days: console.WindowDays = None,
    threads: Annotated[bool, console.option("--threads", "Instead, find the threads of mails and store them.")] = False,
    versions: Annotated[
        bool, console.option("--versions", "Instead, find works with their versions and store them.")
    ] = False,
    by: Annotated[
        Literal["auto", "window"] | None,
        console.option("--by", "Instead, set how searches group that name no way: by stored groups where they fit."),
    ] = None,
    spark: Annotated[
        str | None, console.option("--spark", "With --all: compute groups on Spark: 'local[*]' …", "MASTER")
    ] = None,
    packed: Annotated[
        str | None, console.option("--packed", "With --spark: read what groups --packed exported.", "FILE")
    ] = None,
    as_json: console.Json = False,
) -> None:
    """Settle stored groups: join leads that are duplicates, and compare every document with its lead again."""
    if spark is not None and not everything:
        raise UsageError("--spark settles all documents", "add --all: ibidem regroup --all --spark …")
    if packed is not None and spark is None:
        raise UsageError("--packed is read by Spark", "add --spark MASTER, or leave --packed out")
    options = {"dedupe_similarity": similarity, "dedupe_preset": preset, "dedupe_window_days": window_days}
    parameters = {name: value for name, value in options.items() if value is not None}
    if by and (everything or threads or versions or parameters):
        raise UsageError("--by sets how searches group, and groups nothing itself", "give no other option with it")
    if memberships := [name for name, is_asked in (("threads", threads), ("works", versions)) if is_asked]:
        if everything or parameters:
            figures = "--similarity, --preset, --window-days or --all"
            raise UsageError(f"--threads and --versions cannot be combined with {figures}", "leave them out")
        with console.engine_context(load()) as engine:
            if engine.group_set().is_beside:
                remedy = "sign it in place: ibidem strip, ibidem backfill"
                raise UsageError("threads and works are not stored beside an index", remedy)
        need_hook("write_sets", "ibidem_mail")(memberships, as_json=as_json)
        return
    policy = stored_policy(parameters, console.presets_for(preset)) if parameters else None
    settings = load()
    with console.engine_context(settings) as engine:
        if by is not None:
            set_way(engine, by)
            console.show({"by": by}, [Text(f"Searches that name no way group by: {by}")], as_json=as_json)
            return
        check_distinct(engine, settings.distinct)
        totals = run_regroup(engine, policy, spark, packed or "", everything=everything)
        checkpoint = GroupCheckpoint.read(engine)
    counted = f"{format_count(totals['documents'], 'document')} in {format_count(totals['groups'], 'group')}"
    line = f"{counted}; {totals['joined']:,} joined another, in {totals['took_s']:.1f} s"
    console.show(totals, [Text(line)], as_json=as_json)
    if as_json:
        return
    for note in filter(None, (describe_rule(checkpoint), lookup_advice(parse_policy(checkpoint.policy)))):
        console.messages().print(Text(note))


def set_way(engine: Engine, by: Literal["auto", "window"]) -> None:
    """Set the way of searches that name none, also while another process settles."""
    while True:
        checkpoint = GroupCheckpoint.read(engine := engine.group_set())
        checkpoint.by = by
        with suppress(Conflict):
            checkpoint.save(engine)
            return


def describe_rule(checkpoint: GroupCheckpoint) -> str:
    """Return which rule groups are settled by; empty for the default one.

    >>> describe_rule(GroupCheckpoint(origin="collection"))
    'Many documents look misread: similar letters and shared rare terms count'
    """
    if checkpoint.origin == "named":
        return "By figures that were named; back to those of the collection: ibidem regroup --all --preset none"
    if checkpoint.origin == "default":
        return ""
    few = "shared rare terms do not count, and similar letters only with a document that does"
    if parse_policy(checkpoint.policy).terms:
        return "Many documents look misread: similar letters and shared rare terms count"
    return f"Few documents look misread: {few}"


def lookup_advice(policy: Policy) -> str:
    """Return a note if look-ups find only a small share of the weakest pairs; else None.

    >>> lookup_advice(Policy().similar(80)), lookup_advice(Policy().similar(40))[:70]
    ('', 'An index look-up by min-hash finds 40 % of the pairs that barely reach')
    """
    slots = policy.candidates.slots
    if slots is None or (share := found_share(slots.equal)) >= MIN_FOUND:
        return ""
    pairs = f"the pairs that barely reach these figures ({slots.equal} of {SLOTS} samples)"
    others = "and more of the pairs that share more; a search finds the others in its window: --by window"
    return f"An index look-up by min-hash finds {percent(share)} of {pairs}, {others}"


def stored_policy(parameters: Mapping[str, str], presets: Mapping[str, NamedFigures] = PRESETS) -> Policy:
    policy = pair_policy(parameters, presets=presets)
    terms = policy.candidates.terms
    if terms is None or (terms.full and terms.share >= MIN_SHARE):
        return policy
    listing = ", ".join(f"{name}={value}" for name, value in parameters.items())
    raise UsageError(f"{listing}: duplicates cannot be looked up by these figures", "use them in a search, --by window")


def run_regroup(
    engine: Engine, policy: Policy | None, spark: str | None, packed: str, *, everything: bool
) -> dict[str, int | float]:
    """Settle groups with a bar, and return what `--json` prints; another policy for some documents only is refused."""
    if policy is not None and not everything and policy != parse_policy(GroupCheckpoint.read(engine).policy):
        raise UsageError("groups are stored with different figures", "add --all to start over: ibidem regroup --all …")
    settle = regroup if spark is None else partial(need_hook("regroup", "ibidem_spark"), spark, packed)
    with console.bar("Grouping") as advance:
        old_counts = engine.groups().counts()
        settle(engine, everything=everything, policy=policy, report=console.add_up(advance))
    counts = engine.groups().counts()
    joins = counts.documents - counts.groups if everything else max(0, old_counts.groups - counts.groups)
    took = round(time.monotonic() - START, 3)
    return {"documents": counts.documents, "groups": counts.groups, "joined": joins, "took_s": took}
