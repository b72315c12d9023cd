"""Promises of the documentation, asked of an index once all processes of a schedule have ended."""

from collections.abc import Collection
from dataclasses import asdict
from itertools import combinations

from ibidem_engines.ledger import POLICY, GroupCheckpoint, load_overrides
from ibidem_workers.groups.settle import make_row
from ibidem_workers.ingest import RUN_PREFIX, RunMonitor, RunRecord
from simulation.memory_cluster import Link
from simulation.memory_engine import MemoryEngine
from simulation.world import RUN, Broken, World
from support.naive_settling import judge, leads


def check(world: World) -> None:
    """See that all promises were kept."""
    engine = MemoryEngine(Link(world.cluster), "news")
    engine.refresh()
    _check_documents(world, _check_accounts(world, engine))
    _check_groups(world, engine)


def _check_documents(world: World, dead: Collection[str]) -> None:
    """See that nothing acknowledged is lost, and nothing deleted has come back."""
    index = world.cluster.resolve("news")
    for id_, versions in world.submitted.items():
        if id_ in dead:
            continue
        newest, there = max(versions), index.get(id_)
        tombstones, tried = max(world.deleted[id_], default=0), max(world.tried[id_], default=0)
        if there is not None and tombstones >= newest:
            raise Broken(f"{id_} is back: version {there.version}, deleted with {tombstones}")
        if there is None and tried < newest:
            raise Broken(f"{id_} is lost: version {newest}, deletions {world.tried[id_]}")
        if there is not None and there.version != newest:
            raise Broken(f"{id_} has version {there.version}, not {newest}")


def _check_accounts(world: World, engine: MemoryEngine) -> set[str]:
    """See that each document is accounted for once; returns those that were set aside after too many kills."""
    record = RunRecord(RUN, [], 0.0, "submitted", world.documents, world.batches)
    engine.put_records("runs", {RUN_PREFIX + record.run: asdict(record)})
    monitor = RunMonitor(engine, RUN)
    progress = monitor.look()
    if not progress.has_ended or progress.done != world.documents:
        raise Broken(f"{progress.done} of {world.documents} documents are accounted for: {progress}")
    sums = monitor.sums()
    if sums.refusals and world.past.kills < world.settings.tries:
        raise Broken(f"refused: {sums.refusals}")
    if _is_plain(world) and sums.indexed + len(sums.refusals) != world.documents:
        raise Broken(f"{sums.indexed} of {world.documents} documents count as indexed")
    return {each.id for each in sums.refusals}


def _check_groups(world: World, engine: MemoryEngine) -> None:
    """See that the groups are those of one plain pass; of several shards, that they are sound."""
    store = engine.groups()
    store.newest()
    documents = sorted(
        store.read([(store.index, hit.id) for some in engine.scan() for hit in some]), key=lambda each: each.name.order
    )
    by_name = {make_row(each).name: each for each in documents}
    lead_of = {each.group: make_row(each).name for each in documents if each.lead}
    if len(lead_of) != sum(each.lead for each in documents) or any(each.group not in lead_of for each in documents):
        raise Broken(f"a group has no lead, or several: {documents}")
    judged = judge(POLICY, load_overrides(engine))
    found = {name: lead_of[each.group] for name, each in by_name.items()}
    if world.cluster.shards == 1 and _is_plain(world) and not world.decided:
        expected = leads([make_row(each) for each in documents], judged)
        if found != expected:
            raise Broken(f"groups are {found}, of one pass {expected}")
    rows = {name: make_row(each) for name, each in by_name.items()}
    for name, lead in found.items():
        if name != lead and not judged(rows[name], rows[lead]):
            raise Broken(f"{name} follows {lead}, which it does not duplicate")
    apart = [rows[name] for name, lead in found.items() if name == lead]
    if same := [(a.name, b.name) for a, b in combinations(apart, 2) if judged(a, b)]:
        raise Broken(f"these lead groups of their own, and are duplicates: {same}")
    _check_joined(world, engine, len(found) - len(apart))


def _is_plain(world: World) -> bool:
    """Return whether each document was written once: a lead that is written again keeps its group where it can."""
    return not any(world.tried.values()) and all(len(each) == 1 for each in world.submitted.values())


def _check_joined(world: World, engine: MemoryEngine, followers: int) -> None:
    """See that each join was counted once, where nothing but joins has changed a group."""
    replaces = any(each.name.startswith("replace") for each in world.scheduler.processes)
    if _is_plain(world) and not replaces and not world.decided:
        joined = sum(GroupCheckpoint.read(engine).joined.values())
        if joined != followers:
            raise Broken(f"{joined} documents were counted as joined, {followers} have")
