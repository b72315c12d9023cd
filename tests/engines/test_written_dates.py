"""Dates are read as people write them, and never more exactly."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.query import days, parse_query
from ibidem_ingest.errors import UsageError
from ibidem_ingest.written_dates import MONTHS, iso_date, iso_range

ENGLISH = [names.split()[0] for names in MONTHS]


@given(st.dates(date(1000, 1, 1)))
def test_every_way_of_writing_a_day_means_that_day(day: date) -> None:
    name = ENGLISH[day.month - 1]
    forms = [
        f"{day.day} {name.title()} {day.year}",
        f"{name} {day.day}, {day.year}",
        f"{day.day}. {name[:3]}. {day.year}",
        f"{day.day}.{day.month}.{day.year}",
        f"{day.year}/{day.month}/{day.day}",
        day.isoformat(),
    ]
    assert {iso_date(each) for each in forms} == {day.isoformat()}


def test_a_month_stays_a_month_and_a_range_a_range() -> None:
    assert iso_date("Mars 1987") == "1987-03"
    assert iso_range("March 1987..3. Juni 1987") == "1987-03..1987-06-03"


@pytest.mark.parametrize("written", ["3/4/1987", "12/11/1987"])
def test_a_day_that_may_be_the_month_is_refused_with_what_to_write(written: str) -> None:
    with pytest.raises(UsageError, match="two ways"):
        iso_date(written)


def test_a_condition_on_a_date_is_read_so_in_a_query_too() -> None:
    (condition,) = parse_query('rent date:"3 March 1987"').filters
    assert days(condition.value) == days("1987-03-03")
    with pytest.raises(UsageError, match="date"):
        parse_query("rent date:yesterday")
