"""Dates of other programs: taken when only one day can be meant."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.dates import interval, iso_date

DAYS = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31))  # noqa: DTZ001 - days of a calendar


@given(st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)))  # noqa: DTZ001 - the zone follows
def test_seconds_and_milliseconds_are_the_same_day(time: datetime) -> None:
    seconds = int(time.replace(tzinfo=UTC).timestamp())
    day = interval(time.date().isoformat())
    if seconds >= 10**8:
        assert interval(iso_date(seconds)) == interval(iso_date(str(seconds))) == day
        assert interval(iso_date(1000 * seconds)) == interval(iso_date(f"{1000 * seconds}")) == day


@given(DAYS)
def test_the_shapes_that_mean_one_day_are_that_day(time: datetime) -> None:
    day = interval(time.date().isoformat())
    shapes = ("%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%Y%m%d", "%Y%m%dT%H%M%SZ", "%d.%m.%Y", "%Y-%m-%dT%H:%M:%S")
    for shape in shapes:
        text = time.strftime(shape)
        assert interval(iso_date(text)) == day, text


@pytest.mark.parametrize("value", ["10/11/1987", "last week", "2024-13-01", "1987/13/01", True, None, {}, "", 10**18])
def test_what_may_be_two_days_or_none_is_no_date(value: object) -> None:
    assert iso_date(value) == ""


@given(st.text() | st.integers() | st.floats())
def test_whatever_is_there_is_a_date_or_none(value: object) -> None:
    interval(iso_date(value))


def test_a_year_or_a_month_keeps_its_whole_interval() -> None:
    assert [iso_date(value) for value in (1787, "1787", "1787-09")] == ["1787", "1787", "1787-09"]
