"""Which night it is: once a date through summer time, leap days, gaps and clocks that jump."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from flows.nightly.night_dates import schedule

BERLIN = schedule("02:30", "Europe/Berlin")
PLAIN = schedule("03:00", "UTC")


def test_a_night_begins_when_it_is_due_and_not_before() -> None:
    due = PLAIN.due(date(2026, 11, 16))

    assert PLAIN.night_of(due - timedelta(seconds=1)) == date(2026, 11, 15)
    assert PLAIN.night_of(due) == date(2026, 11, 16)


@pytest.mark.parametrize(
    "day",
    [date(2026, 3, 29), date(2026, 10, 25), date(2028, 2, 29), date(2026, 12, 31)],
    ids=[
        "summer time begins: 02:30 does not exist",
        "summer time ends: 02:30 twice",
        "leap day",
        "new year's eve",
    ],
)
def test_every_date_is_one_night_however_odd_the_day(day: date) -> None:
    start = BERLIN.due(day - timedelta(days=1))
    minutes = [start + timedelta(minutes=number) for number in range(3 * 24 * 60)]

    nights = [BERLIN.night_of(minute) for minute in minutes]

    assert nights == sorted(nights)
    assert list(dict.fromkeys(nights))[:3] == [
        day - timedelta(days=1),
        day,
        day + timedelta(days=1),
    ]
    assert BERLIN.night_of(BERLIN.due(day)) == day


@pytest.mark.parametrize("gap", [timedelta(hours=1), timedelta(days=1), timedelta(days=30)])
def test_after_a_gap_only_the_newest_night_is_due_and_it_is_late(gap: timedelta) -> None:
    before = datetime(2026, 11, 16, 2, 59, tzinfo=UTC)

    after = before + gap + timedelta(hours=2)

    assert PLAIN.night_of(after) == after.date()
    assert PLAIN.is_late(after)
    assert not PLAIN.is_late(PLAIN.due(after.date()) + timedelta(minutes=5))


def test_the_next_night_follows_a_short_day_and_a_long_one() -> None:
    spring = BERLIN.next_after(date(2026, 3, 28)) - BERLIN.due(date(2026, 3, 28))
    autumn = BERLIN.next_after(date(2026, 10, 25)) - BERLIN.due(date(2026, 10, 25))

    assert (spring, autumn) == (timedelta(hours=24), timedelta(hours=25))
