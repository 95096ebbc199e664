#!/usr/bin/env bash
#
# APScheduler 3.11.3 (Python): a CalendarIntervalTrigger with a start date in the past first fires on that date. Added
# with a start date 100 days ago, its job is run 101 times at once, or once outside of its time, or is missed,
# depending on the options of the job.
#
# A daily job is added whose trigger has a start date in the past. The documentation says of the first run time that
# "the next valid datetime equal to or later than the current time will be returned". Seen: the first run time is that
# of the start date. Without a limit for misfires, and without coalescing, the job is run for each day since then at
# the start of the scheduler. With coalescing, which is the default, it is run once, at a time of day for which it is
# not scheduled. With the default limit of 1 s, a misfire is reported. This also happens without a start date, which
# is today by default, if the time of day has passed: the job is run at once. IntervalTrigger and CronTrigger with the
# same start date wait for their next time.
#
# What one would expect: the job waits for its next time, as it is documented.
#
# Needs Python 3.10 or later with venv and pip. Fails if APScheduler behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install apscheduler==3.11.3
cat >"$work/probe.py" <<'PYTHON'
import importlib.metadata
import logging
import time
from datetime import datetime, timedelta, timezone

from apscheduler.events import EVENT_JOB_MISSED
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.calendarinterval import CalendarIntervalTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

logging.disable()
print("APScheduler", importlib.metadata.version("apscheduler"))
now = datetime.now(timezone.utc)
if now.hour == 23 and now.minute >= 58:
    time.sleep(150)
    now = datetime.now(timezone.utc)
# A time of today that has passed, and the same 100 days ago, in a zone in which it is 12:30 now.
zone = timezone(timedelta(minutes=12 * 60 + 30 - now.hour * 60 - now.minute))
start = (now.astimezone(zone) - timedelta(days=100)).replace(hour=9, minute=0, second=0, microsecond=0)
triggers = {
    "calendar interval": lambda: CalendarIntervalTrigger(days=1, hour=9, start_date=start.date(), timezone=zone),
    "calendar interval without a start date": lambda: CalendarIntervalTrigger(days=1, hour=9, timezone=zone),
    "interval": lambda: IntervalTrigger(days=1, start_date=start, timezone=zone),
    "cron": lambda: CronTrigger(hour=9, start_date=start, timezone=zone),
}
options = {
    "no limit for misfires, no coalescing": {"misfire_grace_time": None, "coalesce": False, "max_instances": 1000},
    "no limit for misfires": {"misfire_grace_time": None},
    "by default": {},
}
for option, defaults in options.items():
    for name, trigger in triggers.items():
        runs, missed = [], []
        scheduler = BackgroundScheduler(timezone=zone, job_defaults=defaults)
        scheduler.add_listener(missed.append, EVENT_JOB_MISSED)
        scheduler.add_job(runs.append, trigger(), args=["run"])
        scheduler.start()
        time.sleep(2)
        scheduler.shutdown()
        print(f"{option}, {name}: run {len(runs)} times at once, misfires: {len(missed)}")
PYTHON

seen=$(TZ=UTC "$work/venv/bin/python" "$work/probe.py" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "APScheduler 3.11.3
no limit for misfires, no coalescing, calendar interval: run 101 times at once, misfires: 0
no limit for misfires, no coalescing, calendar interval without a start date: run 1 times at once, misfires: 0
no limit for misfires, no coalescing, interval: run 0 times at once, misfires: 0
no limit for misfires, no coalescing, cron: run 0 times at once, misfires: 0
no limit for misfires, calendar interval: run 1 times at once, misfires: 0
no limit for misfires, calendar interval without a start date: run 1 times at once, misfires: 0
no limit for misfires, interval: run 0 times at once, misfires: 0
no limit for misfires, cron: run 0 times at once, misfires: 0
by default, calendar interval: run 0 times at once, misfires: 1
by default, calendar interval without a start date: run 0 times at once, misfires: 1
by default, interval: run 0 times at once, misfires: 0
by default, cron: run 0 times at once, misfires: 0" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
