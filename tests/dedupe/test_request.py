"""A request is understood whole or refused with what would be right; nothing is passed over in silence."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ibidem_dedupe.parameters import PARAMETERS, PRESETS, Keep, PassageFields, Preset
from ibidem_dedupe.policy import Policy, Slots, Terms
from ibidem_dedupe.request import DedupeRequest, parse_request
from ibidem_ingest.errors import UsageError


def test_nothing_given_is_off_for_the_raw_api_and_indent_where_the_caller_says_so() -> None:
    assert parse_request({}) == DedupeRequest()
    assert parse_request({}, mode="indent").mode == "indent"


def test_every_parameter_is_read() -> None:
    request = parse_request(
        {
            "dedupe": "collapse",
            "dedupe_level": "identical",
            "dedupe_keep": "source:Reuters, AP",
            "dedupe_window": "1000",
            "dedupe_scope": "matches",
            "dedupe_similarity": "80",
            "dedupe_window_days": "7",
            "dedupe_max_per_group": 3,
            "dedupe_preset": "news",
            "dedupe_document": "meta.document:body",
            "dedupe_cursor": "abc",
            "dedupe_explain": True,
        }
    )
    assert request == DedupeRequest(
        mode="collapse",
        policy=Policy(level="identical", window_days=7, slots=Slots(67), terms=Terms(share=0.8)),
        keep=Keep("source", ("Reuters", "AP")),
        window=1000,
        scope="matches",
        max_per_group=3,
        preset="news",
        cursor="abc",
        explain=True,
        passages=PassageFields("meta.document", "body"),
    )


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("dedupe", "on", "off, collapse, indent"),
        ("dedupe_level", "exact", "identical, near, partial"),
        ("dedupe_keep", "newest", "rank, earliest, latest, longest, current, source:"),
        ("dedupe_keep", "source:", "source:NAME"),
        ("dedupe_window", "0", "1 to 10,000"),
        ("dedupe_window", "10001", "1 to 10,000"),
        ("dedupe_window", "ten", "an integer"),
        ("dedupe_window", "9" * 5000, "an integer"),
        ("dedupe_scope", "all", "window, matches, index"),
        ("dedupe_document", "a field", "FIELD, or FIELD:TEXT_FIELD"),
        ("dedupe_document", "a:b:c", "FIELD, or FIELD:TEXT_FIELD"),
        ("dedupe_document", ":text", "FIELD, or FIELD:TEXT_FIELD"),
        ("dedupe_document", "meta.*", "without wildcards"),
        ("dedupe_similarity", "19", "an integer from 20 to 100"),
        ("dedupe_similarity", "101", "20 to 100"),
        ("dedupe_window_days", "-1", "none, or an integer"),
        ("dedupe_max_per_group", "501", "0 to 500"),
        ("dedupe_preset", "newspapers", "news, law, books, scans, conrad2003"),
        ("dedupe_explain", "yes", "true, false"),
    ],
)
def test_a_wrong_value_is_refused_with_the_right_ones(name: str, value: str, right: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_request({name: value})
    assert right in str(error.value)


def test_a_wrong_name_is_refused_with_the_right_ones() -> None:
    with pytest.raises(UsageError) as error:
        parse_request({"dedupe_windows": "500"})
    assert "did you mean dedupe_window?" in str(error.value)
    assert all(name in str(error.value) for name in PARAMETERS)


def test_none_counts_as_not_given_and_none_in_letters_as_no_window_and_no_preset() -> None:
    assert parse_request({"dedupe": None, "dedupe_window": None}) == DedupeRequest()
    news = parse_request({"dedupe_preset": "news", "dedupe_window_days": "none"})
    assert news.policy.window_days is None
    assert parse_request({"dedupe_preset": "none"}) == DedupeRequest()


@pytest.mark.parametrize(("mode", "window", "most"), [("collapse", 500, 10), ("collapse", 5, 5), ("indent", 500, None)])
def test_collapse_shows_ten_duplicates_and_indent_all_when_nothing_is_said(mode: str, window: int, most: int) -> None:
    assert parse_request({"dedupe": mode, "dedupe_window": window}).max_per_group == most


def test_similarity_overrides_a_preset_s_figures_and_leaves_out_what_the_preset_leaves_out() -> None:
    law = parse_request({"dedupe_preset": "law", "dedupe_similarity": 90}).policy
    assert law == replace(PRESETS["law"].policy, slots=Slots(82), terms=Terms(share=0.9, lengths=0.5))
    assert parse_request({"dedupe_preset": "conrad2003", "dedupe_similarity": 90}).policy.slots is None


def test_a_preset_stored_with_the_index_is_known_like_a_built_in_one() -> None:
    presets = {**PRESETS, "pamphlets": Preset(Policy(slots=Slots(70)), "ours")}
    assert parse_request({"dedupe_preset": "pamphlets"}, presets=presets).policy.slots == Slots(70)


def test_the_digest_tells_requests_with_other_groups_apart_and_no_others() -> None:
    digest = parse_request({"dedupe": "indent"}).digest()
    for options in ({"dedupe_keep": "latest"}, {"dedupe": "collapse"}, {"dedupe_explain": "true"}):
        assert parse_request({"dedupe": "indent", **options}).digest() == digest
    for other in ({"dedupe_level": "identical"}, {"dedupe_window": 7}, {"dedupe_similarity": 80}, {"dedupe": "off"}):
        assert parse_request({"dedupe": "indent", **other}).digest() != digest


def combinations() -> list[dict[str, str]]:
    """Read the pairs of parameters that `docs/limits.md` says are never combined."""
    page = (Path(__file__).parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(dedupe_\w+)=(\w+)` \| `(dedupe_\w+)=([^`]+)` \|", page, re.MULTILINE)
    given = {"dedupe_window": "100", "dedupe_scope": "index", "dedupe_document": "parent"}
    return [{a: value, b: given[b] if other == "…" else other} for a, value, b, other in rows]


@pytest.mark.parametrize("values", combinations(), ids=" ".join)
def test_parameters_that_the_page_of_limits_says_cannot_be_combined_are_refused(values: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="cannot be combined"):
        parse_request(values)
    for name, value in values.items():
        parse_request({name: value})


def test_the_page_of_limits_names_combinations() -> None:
    assert len(combinations()) == 6
