#!/usr/bin/env bash
#
# APScheduler 3.11.3 (Python): with a jitter, an interval grows by the mean of the jitter, so that a job at a fixed
# time of day moves around the clock. A calendar interval skips days, and moves to other days of the week and month.
#
# The jitter of a trigger "delays the job execution by jitter seconds at most". Seen: IntervalTrigger and
# CalendarIntervalTrigger compute the next time from the last one with its jitter. An interval of 1 s with a jitter of
# 1 s runs two times in three seconds. An interval of a day that starts at 03:00, with a jitter of an hour, runs in
# the afternoon a month later. A calendar interval of a day at 23:45 with a jitter of half an hour skips the next day
# each time that the delay goes past midnight: 365 runs take about a year and a half. One of a week runs on each
# weekday in turn, one of a month leaves the 15th. CronTrigger with the same jitters keeps its times.
#
# What one would expect: each run is delayed by 0 to jitter seconds, as it is documented. The delay of one run does
# not move the later ones.
#
# Needs Python 3.10 or later with venv and pip. Fails if APScheduler behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install apscheduler==3.11.3
cat >"$work/probe.py" <<'PYTHON'
import importlib.metadata
import sys
import time
from datetime import date, datetime, timedelta, timezone

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.calendarinterval import CalendarIntervalTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger


def times(trigger, runs):
    # As the scheduler does: each run in time, the next time is computed from the last one.
    last, now, result = None, datetime(2026, 1, 1, tzinfo=timezone.utc), []
    for _ in range(runs):
        last = trigger.get_next_fire_time(last, now)
        now = last + timedelta(milliseconds=5)
        result.append(last)
    return result


def note(*text):
    print(*text, file=sys.stderr)


print("APScheduler", importlib.metadata.version("apscheduler"))
begun = {"interval": 0, "cron": 0}


def run(kind):
    begun[kind] += 1


with_jitter = {"jitter": 1, "timezone": "UTC"}
scheduler = BackgroundScheduler(timezone="UTC", job_defaults={"misfire_grace_time": None})
scheduler.add_job(run, IntervalTrigger(seconds=1, **with_jitter), args=["interval"])
scheduler.add_job(run, CronTrigger(second="*", **with_jitter), args=["cron"])
scheduler.start()
time.sleep(30)
scheduler.shutdown()
note(begun)
print("every second, runs in 30 s: interval", "20 or so," if 16 <= begun["interval"] <= 24 else f"{begun['interval']},",
      "cron", "30 or so" if 27 <= begun["cron"] <= 31 else begun["cron"])

at_3 = {"jitter": 3600, "timezone": "UTC"}
interval = times(IntervalTrigger(days=1, start_date="2026-01-01 03:00:00", **at_3), 31)
cron = times(CronTrigger(hour=3, **at_3), 31)
note("daily at 03:00:", *(f"{time:%H:%M}" for time in interval))
print("daily at 03:00, the 31st run before 04:00: interval", interval[-1].hour == 3, "cron", cron[-1].hour == 3)

late = {"hour": 23, "minute": 45, "jitter": 1800, "timezone": "UTC"}
day = times(CalendarIntervalTrigger(days=1, start_date="2026-01-01", **late), 365)
cron = times(CronTrigger(**late), 365)
note("daily at 23:45, 365 runs:", day[-1].date() - date(2026, 1, 1), cron[-1].date() - date(2026, 1, 1))
print("daily at 23:45, 365 runs in 366 days: calendar interval", day[-1].date() <= date(2027, 1, 1),
      "cron", cron[-1].date() <= date(2027, 1, 1))

week = times(CalendarIntervalTrigger(weeks=1, start_date="2026-01-05", **late), 52)
cron = times(CronTrigger(day_of_week="mon", **late), 52)
note("mondays at 23:45:", *(f"{time:%a}" for time in week))
print("mondays at 23:45, weekdays of 52 runs: calendar interval", len({time.weekday() for time in week}),
      "cron", len({time.weekday() for time in cron}))

month = times(CalendarIntervalTrigger(months=1, start_date="2026-01-15", **late), 24)
cron = times(CronTrigger(day=15, **late), 24)
note("15th of the month at 23:45:", *(time.day for time in month))
print("15th at 23:45, the 24th run on the 15th or 16th: calendar interval", month[-1].day in (15, 16),
      "cron", cron[-1].day in (15, 16))
PYTHON

seen=$("$work/venv/bin/python" "$work/probe.py" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "APScheduler 3.11.3
every second, runs in 30 s: interval 20 or so, cron 30 or so
daily at 03:00, the 31st run before 04:00: interval False cron True
daily at 23:45, 365 runs in 366 days: calendar interval False cron True
mondays at 23:45, weekdays of 52 runs: calendar interval 7 cron 2
15th at 23:45, the 24th run on the 15th or 16th: calendar interval False cron True" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
cat "$work/errors" >&2
