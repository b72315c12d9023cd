"""A date is the interval of days it covers; one of another program is taken when only one day can be meant."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.dates import interval, iso_date

EPOCH = date(1980, 1, 1)


def days(day: date) -> int:
    return (day - EPOCH).days


@given(st.dates())
def test_a_day_covers_itself(day: date) -> None:
    assert interval(day.isoformat()) == (days(day), days(day))


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)),  # noqa: DTZ001 - the zone is drawn separately
    st.integers(-23 * 60, 23 * 60),
)
def test_a_time_with_a_zone_falls_on_the_day_it_has_in_utc(time: datetime, minutes: int) -> None:
    zoned = time.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    day = days(zoned.astimezone(UTC).date())
    assert interval(zoned.isoformat()) == (day, day)


@pytest.mark.parametrize(
    "text",
    [
        "1787.", "1787-", "1787-9", "1787-13", "1787-02-29", "1787-02-30T12:00:00Z", "0000", "0000-01", "10000",
        "-0044", "19800101", "1980-01-01T25:00:00", "1980-01-01x12:00", "1980-01-01T", "17 Sept 1787", "1787/09/17",
        "1787\n", "١٧٨٧", "0001-01-01T00:00:00+02:00", "9999-12-31T23:00:00-02:00", "null",
        " 1787", "1980-01-01T12:00:00+25:00",
    ],
)  # fmt: skip
def test_what_is_no_date_is_refused_with_what_would_be_right(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"is not a date.*; write a year \(1787\), a month \(1787-09\), a day"
    ) as error:
        interval(text)
    assert repr(text) in str(error.value)


@given(st.text(max_size=30) | st.from_regex(r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.Z+-]{0,15}\Z"))
def test_whatever_is_written_is_an_interval_of_32_bits_or_a_value_error(text: str) -> None:
    try:
        first, last = interval(text)
    except ValueError:
        return
    assert (first is None) == (last is None) == (text == "")
    assert -(2**31) < (first or 0) <= (last or 0) < 2**31


DAYS = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31))  # noqa: DTZ001 - days of a calendar


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


@given(st.dates())
def test_a_month_and_a_year_begin_and_end_with_their_first_and_last_day(day: date) -> None:
    first, last = interval(day.isoformat()[:7])
    assert first == days(day.replace(day=1))
    assert (EPOCH + timedelta(last or 0)).month == day.month
    assert interval(day.isoformat()[:4]) == (days(day.replace(month=1, day=1)), days(day.replace(month=12, day=31)))


@given(st.datetimes())
def test_a_time_without_a_zone_is_utc(time: datetime) -> None:
    assert interval(time.isoformat()) == interval(time.isoformat(sep=" ")) == interval(time.date().isoformat())


@given(st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)))  # noqa: DTZ001 - the zone follows
def test_seconds_and_milliseconds_are_the_same_day(time: datetime) -> None:
    seconds = int(time.replace(tzinfo=UTC).timestamp())
    day = interval(time.date().isoformat())
    if seconds >= 10**8:
        assert interval(iso_date(seconds)) == interval(iso_date(str(seconds))) == day
        assert interval(iso_date(1000 * seconds)) == interval(iso_date(f"{1000 * seconds}")) == day


def test_a_year_or_a_month_keeps_its_whole_interval() -> None:
    assert [iso_date(value) for value in (1787, "1787", "1787-09")] == ["1787", "1787", "1787-09"]
