"""A learned rule adds up weighted figures, and one that was changed or learned on other figures is refused."""

from dataclasses import asdict, replace
from math import inf

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_core.errors import DamagedRecord
from ibidem_core.records import parse_record
from ibidem_dedupe.learned import FIGURES, PARTS, SCHEME, Learned, Weight, probability
from support.learned_rules import make_rule

figures = st.lists(st.floats(-3, 40), min_size=len(FIGURES), max_size=len(FIGURES))


@given(figures)
def test_the_sum_is_the_start_and_all_its_parts(values: list[float]) -> None:
    rule = make_rule()
    assert rule.total(values) == pytest.approx(rule.intercept + sum(rule.parts(values).values()))
    assert tuple(rule.parts(values)) == PARTS


def test_figures_at_their_centres_add_nothing() -> None:
    rule = make_rule()
    assert rule.total([each.centre for each in rule.weights]) == rule.intercept


def test_a_sum_of_nothing_is_an_even_chance() -> None:
    assert probability(0) == 0.5
    assert probability(-1e6) == 0.0
    assert probability(1e6) == 1.0


def test_a_rule_is_read_as_it_was_stored() -> None:
    rule = make_rule(3)
    assert parse_record(Learned, orjson.loads(orjson.dumps(asdict(rule)))) == rule


def test_a_weight_changed_by_hand_is_refused() -> None:
    record = orjson.loads(orjson.dumps(asdict(make_rule())))
    record["weights"][0]["weight"] += 0.5
    with pytest.raises(DamagedRecord, match="changed after it was learned"):
        parse_record(Learned, record)


def test_a_rule_of_other_figures_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=f"'pf0'.*{SCHEME}"):
        replace(make_rule(), scheme="pf0")


@pytest.mark.parametrize("change", [lambda weights: weights[1:], lambda weights: weights[::-1], lambda _: ()])
def test_a_rule_without_all_figures_in_order_is_refused(change: object) -> None:
    weights = make_rule().weights
    with pytest.raises(ValueError, match="runs, runs_of_shorter"):
        Learned(0.0, change(weights))  # type: ignore[operator] # one of the lambdas above


def test_weights_are_finite() -> None:
    with pytest.raises(ValueError, match="finite"):
        Learned(inf, make_rule().weights)
    with pytest.raises(ValueError, match="finite"):
        Learned(0.0, tuple(Weight(name, inf, 0.0) for name in FIGURES))
