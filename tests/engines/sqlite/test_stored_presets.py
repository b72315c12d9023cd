"""From addresses to engines; presets and fields of an index are checked, and a bad one is refused by name."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from ibidem.cli.regroup import stored_policy
from ibidem_core.errors import DamagedRecord
from ibidem_dedupe.parameters import PRESETS, Preset, pair_policy
from ibidem_dedupe.policy import Policy
from ibidem_engines.connect import check_distinct, open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import lookup_presets, save_preset
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed import pack
from support.learned_rules import make_rule
from support.signed_records import make_record

POLICY = Policy.from_rule(make_rule())


def test_a_learned_preset_is_read_as_it_was_stored(engine: Engine) -> None:
    save_preset(engine, "ours", Preset(POLICY, "learned"))
    presets = lookup_presets(engine, "ours")
    assert presets["ours"].policy == POLICY
    assert stored_policy({"dedupe_preset": "ours"}, presets) == POLICY


@pytest.mark.parametrize(
    ("change", "said"),
    [({"intercept": 9.0}, "changed after it was learned"), ({"scheme": "pf0"}, "'pf0'"), ({"weights": []}, "runs")],
)
def test_a_learned_preset_that_cannot_be_used_is_refused_with_the_reason(
    engine: Engine, change: dict[str, object], said: str
) -> None:
    record = asdict(Preset(POLICY, "learned")) | {"name": "ours"}
    record["policy"]["learned"] |= change
    engine.put_records("presets", {"ours": record})
    with pytest.raises(DamagedRecord, match=said):
        lookup_presets(engine, "ours")
    assert lookup_presets(engine, "news") == PRESETS
    assert "ours" not in lookup_presets(engine, "another")


def test_a_learned_preset_has_no_similarity() -> None:
    presets = {"ours": Preset(POLICY, "learned")}
    with pytest.raises(UsageError, match="dedupe_similarity cannot be combined with dedupe_preset=ours"):
        pair_policy({"dedupe_preset": "ours", "dedupe_similarity": "80"}, presets=presets)


def fill(engine: Engine, distinct: Sequence[str]) -> None:
    records = [make_record(f"o{number}", meta={"docket": str(number)}) for number in range(3)]
    records.append(make_record("without"))
    engine.write([replace(each, packed=pack(each.document, each.signatures, distinct)) for each in records])
    engine.refresh()


@pytest.mark.parametrize(("signed", "asked"), [((), "meta.docket"), (("meta.docket",), "source")])
def test_fields_that_an_index_was_not_signed_with_are_refused(
    engine: Engine, signed: Sequence[str], asked: str
) -> None:
    check_distinct(engine, ["any"], writes=True)  # an index without documents
    fill(engine, signed)
    check_distinct(engine, signed, writes=True)
    with pytest.raises(
        UsageError, match=f"IBIDEM_DISTINCT='{asked}'.*was signed with another value; .*ibidem backfill"
    ):
        check_distinct(engine, [asked])


def test_who_only_reads_may_name_no_fields_and_who_writes_may_not(engine: Engine) -> None:
    fill(engine, ["meta.docket"])
    check_distinct(engine, [])
    with pytest.raises(UsageError, match="another value"):
        check_distinct(engine, [], writes=True)


def test_one_document_that_changed_since_it_was_signed_refuses_nothing(engine: Engine) -> None:
    fill(engine, ["meta.docket"])
    changed = make_record("o0", meta={"docket": "9"}, version=2)
    engine.write([replace(changed, packed=pack(changed.document, changed.signatures, ["source"]))])
    engine.refresh()
    check_distinct(engine, ["meta.docket"])


@pytest.mark.parametrize(
    ("url", "path"),
    [("sqlite:///some/where/i.sqlite", "some/where/i.sqlite"), ("sqlite:///{here}/a%20b%3F.sqlite", "a b?.sqlite")],
)
def test_an_address_with_three_strokes_is_relative_to_the_current_folder_and_one_with_four_is_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    engine = open_engine(url.replace("{here}", str(tmp_path)), "news")
    assert list(tmp_path.iterdir()) == []
    engine.create()
    engine.close()
    assert (tmp_path / path).is_file()


@pytest.mark.parametrize(
    "url",
    ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://index.sqlite", "sqlite:///folder/", "sqlite:///a%00b"],
)
def test_an_address_that_names_no_file_says_how_one_is_written(url: str) -> None:
    with pytest.raises(UsageError, match=r"does not name a file; write sqlite:///folder/file\.sqlite"):
        open_engine(url, "news")


@pytest.mark.parametrize("index", ["news-2024", "9_9", "a" * 100])
def test_index_names_are_lower_case_letters_digits_and_two_signs(tmp_path: Path, index: str) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", index)
    engine.create()
    assert engine.info().exists
    assert engine.index == index
    engine.close()


@pytest.mark.parametrize("index", ["", "News", "a b", "-a", "_a", 'a"b', ".b", "é", "a" * 101, "a\n"])
def test_another_index_name_is_refused(index: str) -> None:
    with pytest.raises(UsageError, match="lower-case letters, digits, -, _ and "):
        open_engine("sqlite:///index.sqlite", index)
