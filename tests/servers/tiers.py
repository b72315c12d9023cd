"""Tiers of tests: what a change may break, what takes minutes and rarely breaks, what says the same of another engine.

`make test` leaves out the tests that are marked `thorough`, and tries each law with fewer examples. `make test-all`
leaves out those that are marked `nightly`; `make test-nightly` runs every test.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Tests, files and folders of the second tier, and why: which keeps the promise in the first, or what takes so long.
THOROUGH: Mapping[str, str] = {
    "adversary/test_patterns.py::test_time_grows_with_the_length_of_the_text": "hundreds of long texts for each",
    "gateway/test_hidden_documents.py": "whole archives by every way; gateway/test_rights.py has a guest",
    "answers/test_answers.py::"
    "test_every_search_in_sqlite_has_the_answer_that_is_written_down": "each fiftieth is asked each time",
    "clients/test_openaleph.py": "installs OpenAleph's package; clients/test_wrap.py has searches of clients",
    "cli/test_doctor.py::"
    "test_an_index_of_its_template_needs_no_right_on_mappings": "a user of few rights ingests into four layouts",
    "contracts/test_logs.py::"
    "test_a_worker_logs_these_events_with_these_fields": "starts a worker; that there are no others is tried each time",
    "engines/cluster/test_least_rights.py": "every row of a page with the rights of its users, and without each",
    "faults/test_busy.py": "floods and network faults wait for servers that do not answer",
    "faults/test_dead_letters.py": "by a queue into a cluster; cli/test_delete.py has each step",
    "faults/test_flood.py": "floods and network faults wait for servers that do not answer",
    "faults/test_kills.py": "rounds of killing; each kill by itself is tested where its process is",
    "faults/test_network.py": "floods and network faults wait for servers that do not answer",
    "faults/test_poison.py": "rounds of killing; each kill by itself is tested where its process is",
    "fuzz/": "rounds of mutation; each find is a test of its module",
    "gateway/browser/": "a browser looks at each page; the page itself is tested without one",
    "gateway/test_openapi.py::test_over_a_cluster_every_answer_is_a_documented_one": "over a file it is of the first",
    "gateway/test_recipes.py": "clients in other languages are built first; tests/clients has those in Python",
    "ingest/mail/test_parts.py::"
    "test_a_mail_of_twenty_megabytes_is_parted_to_the_last_character": "a law parts short ones each time",
    "nodes/": "parts of the trials of three nodes, which `make nodes` runs",
    "plugin/test_search.py::"
    "test_a_default_pipeline_that_groups_changes_nothing_of_what_ibidem_itself_finds": "see plugin/test_pipelines.py",
    "plugin/test_identity.py": "plugin/test_all_matches.py has the same searches, of fewer sorts",
    "plugin/test_mixed.py": "nodes with and without the plugin are started for it",
    "plugin/test_pipelines.py": "a second way to ask for the groups that plugin/test_search.py asks for",
    "plugin/test_recipes.py": "runs the recipes of the plugin's page",
    "plugin/test_retrievers.py": "many searches in a cluster; Java's unit tests hold the golden depths",
    "plugin/test_rights.py": "fills whole archives twice for each engine",
    "plugin/test_signatures_beside.py": "two more indexes are filled; plugin/test_search.py has the same answers",
    "plugin/test_tasks.py": "many searches at once, cancelled; nodes/ has it too",
    "plugin/test_same_answers.py": "many seeds in clusters; plugin/test_search.py has some of them by a wrapped client",
    "servers/test_same_groups.py": "whole collections in both engines; answers/test_answers.py asks every tenth search",
    "retrieval/test_frameworks.py": "installs other frameworks; LangChain's part is a doctest",
    "retrieval/test_mcp.py": "a process is asked by its protocol; the search that it asks is tested without one",
    "simulation/test_defects.py": "each breaks the product, to see that the simulation notices",
    "simulation/test_many_schedules.py": "ten thousand schedules; some hundreds are run each time",
    "snippets/": "runs the commands of every page of the documentation",
    "spark/test_spark.py": "starts Spark, which settles what workers/groups/test_service.py settles without it",
    "suites/test_suites.py": "the engines' own suites",
    "workers/backfill/test_follow.py::test_an_engine_that_is_away_is_waited_for": "stops a server, as tests/faults do",
    "workers/backfill/test_follow.py::"
    "test_an_index_that_is_made_anew_under_the_same_alias_is_followed": "waits long; other changes are followed",
    "workers/backfill/test_replace.py": "moves whole indexes; schedules of simulation/ kill and delete meanwhile",
    "workers/backfill/test_run.py::"
    "test_a_document_that_ends_its_process_is_refused_and_all_others_are_signed": "workers/test_executors.py has one",
    "workers/backfill/test_run.py::test_a_writer_that_never_stops_loses_nothing": "schedules have writers each time",
    "workers/backfill/test_run.py::"
    "test_a_killed_run_goes_on_where_it_stopped": "a run that is stopped goes on each time; schedules have kills",
    "workers/test_executors.py::"
    "test_a_document_that_ends_a_command_of_few_is_set_aside_when_it_is_given_again": "others set one aside each time",
    "workers/test_strangers.py": "messages at each broker; workers/test_messages.py has what is judged of them",
    "test_installation.py": "builds and installs archives; CI tries what is uploaded",
    "test_drawings.py": "runs what the recording shows, which rarely changes",
    "upgrade/": "unpacks whole indexes of earlier schemas",
}

ONE_ENGINE: Mapping[str, str] = {
    "adversary/": "clients, gateway and page over either engine: both adapters keep tests/engines/test_contract.py",
    "answers/": "what the adapters answer is held by tests/engines/test_contract.py for each engine",
    "gateway/": "what the gateway passes on comes through an adapter: tests/engines and tests/clients ask both engines",
    "grouped_search/": "one search over two adapters: tests/clients/test_wrap.py asks both; what one has is in `BOTH`",
    "index/": "an index by both its names: tests/engines/cluster/test_engine.py holds what each engine answers",
    "mail/": "threads and versions are stored with groups: tests/engines/test_stored_groups.py asks both engines",
    "plugin/": "one Java core below two adapters, which are compiled first; CI has plugin/test_search.py ask each",
    "workers/": "workers write by the engine's protocol, which tests/engines/test_contract.py holds for each engine",
}
"""Where tests of a server ask OpenSearch alone in the first tier, and what holds it for Elasticsearch.

They are about what lies above the adapters, which says the same on both; later tiers ask both.
"""

VECTORS = "OpenSearch's node here has no module of vectors"
# What asks Elasticsearch in the first tier all the same, and why.
BOTH: Mapping[str, str] = {
    "grouped_search/dsl/test_search.py::test_a_search_for_neighbours_finds_so_many_that_the_page_is_full": VECTORS,
    "grouped_search/dsl/test_search.py::"
    "test_a_field_without_vectors_has_no_neighbours_and_the_answer_says_where_to_look": VECTORS,
}
# What asks it in the second tier, though the rest of its folder is left to the night.
BOTH_LATER = {"plugin/test_search.py"}

# Where tests of a server ask OpenSearch alone in the second tier, too; `.github/workflows/ci.yml` runs the rest.
NIGHTLY: Mapping[str, str] = {
    **ONE_ENGINE,
    "suites/test_suites.py": "the gateway passes on what it does not group, to whichever engine",
    "upgrade/": "an index of an earlier schema is refused above the adapters",
}

# What installs or builds programs of others for minutes, starts clusters of its own, tries as long, or tests the
# simulation: left to the night.
OTHERS = {
    "adversary/test_patterns.py::test_time_grows_with_the_length_of_the_text",
    "cli/test_doctor.py::test_an_index_of_its_template_needs_no_right_on_mappings",
    "clients/test_openaleph.py",
    "engines/cluster/test_least_rights.py",
    "faults/test_busy.py",
    "faults/test_dead_letters.py",
    "faults/test_flood.py",
    "faults/test_network.py",
    "faults/test_poison.py",
    "fuzz/test_fuzz.py",
    "gateway/test_hidden_documents.py",
    "gateway/test_recipes.py",
    "plugin/test_mixed.py",
    "plugin/test_retrievers.py",
    "plugin/test_signatures_beside.py",
    "retrieval/test_frameworks.py",
    "servers/test_same_groups.py",
    "simulation/test_defects.py",
    "spark/test_spark.py::test_an_export_is_settled_with_what_was_written_since_and_damaged_values_are_named",
    "spark/test_spark.py::test_an_index_that_is_deleted_meanwhile_is_named_and_not_created_again",
    "workers/backfill/test_run.py::test_a_killed_run_goes_on_where_it_stopped",
    "workers/backfill/test_run.py::test_a_writer_that_never_stops_loses_nothing",
}

# Where the tests of one of two brokers are of the second tier, and what holds it for that one in the first.
ONE_BROKER: Mapping[str, str] = {
    "workers/test_stop.py": "a worker of either ends alike; schedules of simulation/ have leases that lapse"
}

SECOND = "elasticsearch"  # the engine that is left to the tiers after the first there
SECOND_BROKER = "redis"


def mark_tiers(items: Iterable[pytest.Item]) -> None:
    """Mark the tests of the second tier, and those of the night among them."""
    for item in items:
        is_second = named(ONE_ENGINE, item) and not named(BOTH, item) and asks(item, SECOND)
        if is_second or named(THOROUGH, item) or (named(ONE_BROKER, item) and asks(item, SECOND_BROKER)):
            item.add_marker("thorough")
        if named(OTHERS, item) or (
            named(NIGHTLY, item) and not named({*BOTH, *BOTH_LATER}, item) and asks(item, SECOND)
        ):
            item.add_marker("nightly")


def named(table: Collection[str], item: pytest.Item) -> bool:
    """Return whether a table has a test, its file, or a folder that it is in."""
    path, folders = place(item.path)
    return path in table or f"{path}::{item.name.partition('[')[0]}" in table or not folders.isdisjoint(table)


@cache  # thousands of tests are in some hundred files
def place(path: Path) -> tuple[str, frozenset[str]]:
    """Return a file's name as the tables have it, and those of the folders that it is in; nothing for one elsewhere."""
    if not path.is_relative_to(ROOT):
        return "", frozenset()
    name = path.relative_to(ROOT)
    return name.as_posix(), frozenset(f"{each}/" for each in name.parents)


def asks(item: pytest.Item, name: str) -> bool:
    """Return whether a test starts servers and is the one of its kind for a server."""
    return item.get_closest_marker("server") is not None and name in parameters(item)


def parameters(item: pytest.Item) -> Sequence[object]:
    """Return the values that a test is one of several for, each of a pair by itself."""
    call = getattr(item, "callspec", None)
    given = call.params.values() if call is not None else ()
    return [value for each in given for value in (each if isinstance(each, tuple) else (each,))]
