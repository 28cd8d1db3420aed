"""When a night is: pure rules about dates, due times and zones. A night bears the local date on
which it was due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

LATE_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Every day at a local time; where summer time skips or repeats that hour, still once."""

    at: time
    zone: ZoneInfo

    def due(self, day: date) -> datetime:
        """The moment in UTC: an hour that does not exist is the one after it, of two alike the
        first counts."""
        return datetime.combine(day, self.at, tzinfo=self.zone).astimezone(UTC)

    def night_of(self, moment: datetime) -> date:
        """The newest night that was due by then; older ones that were missed are not made up
        for."""
        day = moment.astimezone(self.zone).date()
        return day if moment >= self.due(day) else day - timedelta(days=1)

    def next_after(self, day: date) -> datetime:
        """When the night after this one is due."""
        return self.due(day + timedelta(days=1))

    def is_late(self, moment: datetime) -> bool:
        """Say that the night's run starts well after it was due: the machine was off, or the queue
        long."""
        return moment - self.due(self.night_of(moment)) > LATE_AFTER

    @property
    def cron(self) -> str:
        """The same as five fields, for Prefect.

        >>> Schedule(time(3, 5), ZoneInfo("UTC")).cron
        '5 3 * * *'
        """
        return f"{self.at.minute} {self.at.hour} * * *"


def schedule(at: str, zone: str) -> Schedule:
    """From the words of the settings.

    >>> schedule("03:00", "Europe/Berlin").due(date(2026, 7, 1)).hour
    1
    """
    return Schedule(time.fromisoformat(at), ZoneInfo(zone))
