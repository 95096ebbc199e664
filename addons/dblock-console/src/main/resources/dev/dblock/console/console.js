// Requests the state of all jobs and locks from the console's endpoint every two seconds, while the page is visible.
// Names and reasons come from the database: they are only ever set as text.

const PAUSE = 2000;
const PATIENCE = 15_000; // longer than a request of the server to MongoDB
const RUNS = 20; // that a record keeps
const COLOURS = 6;
const MOST_INSTANCES = 12;
const MARKS = { FAILED: '✕', CRASHED: '↯', LOST: '↯', ABANDONED: '–', MISSED: '○' };
const ENDS = { SUCCEEDED: 'succeeded', FAILED: 'failed', CRASHED: 'crashed', LOST: 'lost its lock',
	ABANDONED: 'never began', MISSED: 'missed, since no instance started it in time; recorded' };
const PROBLEMS = {
	401: 'Sign in, then reload this page. The endpoint dblockconsole requires it.',
	403: 'Your user may not read the endpoint dblockconsole.',
	404: 'The endpoint dblockconsole is not exposed any more: see management.endpoints.web.exposure.include and '
		+ 'management.endpoint.dblockconsole.access.',
};

const own = new URL('.', import.meta.url);
const $ = (id) => document.getElementById(id);
const colours = new Map();
let state = null;
let readAt = 0; // when the server read the state, by performance.now()
let readDate = 0; // the same by Date.now(), which counts while the machine sleeps
let problem = '';
let timer = null;
let request = null;
let paused = false; // by the reader
let seen = null; // the instance, its last event and the overdue jobs that were announced

// ---------------------------------------------------------------- requests

async function refresh() {
	clearTimeout(timer);
	request?.abort();
	const mine = request = new AbortController();
	const limit = setTimeout(() => mine.abort(), PATIENCE);
	const url = new URL('state', own);
	url.searchParams.set('filter', $('filter').value);
	let response = null;
	let news = {};
	try {
		response = await fetch(url, { redirect: 'manual', signal: mine.signal, headers: { Accept: 'application/json' } });
		news = response.ok ? await response.json() : await response.json().catch(() => ({}));
	}
	catch {
		response = null;
	}
	clearTimeout(limit);
	if (request !== mine) {
		return;
	}
	if (!document.hidden && !paused) {
		timer = setTimeout(refresh, PAUSE);
	}
	if (response?.ok) {
		show(news);
	}
	else {
		fail(response ? reasonOf(response, news.problem) : 'The instance does not answer.');
	}
}

function reasonOf(response, reason) {
	return (response.type === 'opaqueredirect') ? PROBLEMS[401]
		: PROBLEMS[response.status] ?? (reason ? `The locks cannot be read: ${reason}.` : `The server answers with ${response.status}.`);
}

function fail(text) {
	document.body.classList.add('stale');
	const since = state ? ` What follows is from ${clock(readDate)}.` : '';
	if (problem !== text) {
		problem = text;
		put($('banner'), text + since);
	}
	$('banner').hidden = false;
}

/** Spring Security's cookie for scripts; without it, nothing is sent. */
function csrfToken() {
	const token = document.cookie.match(/(?:^|; )XSRF-TOKEN=([^;]*)/)?.[1];
	return token ? { 'X-XSRF-TOKEN': decodeURIComponent(token) } : {};
}

async function send(method, url, body) {
	put($('result'), 'Sending …');
	try {
		const response = await fetch(url, { method, redirect: 'manual', body: body && JSON.stringify(body),
			headers: { Accept: 'application/json', ...csrfToken(), ...(body && { 'Content-Type': 'application/json' }) } });
		const answer = await response.json().catch(() => ({}));
		put($('result'), answer.meaning ? `${answer.meaning}.` : response.status === 403
			? 'Your user may not do this, or the request had no CSRF token (403): see the console\'s documentation.'
			: response.ok ? 'Done.' : `The server refuses this: ${response.status || 'sign in, then reload this page'}.`);
	}
	catch {
		put($('result'), 'The instance does not answer, so it is unknown whether this was done.');
	}
	await refresh();
	// The button may be gone with its row
	if (document.activeElement === document.body) {
		$('result').focus();
	}
}

const change = (job, action) => send('POST',
	new URL(`${state.jobsPath}/${job.split('/').map(encodeURIComponent).join('/')}`, own),
	{ action, by: `the console of ${state.instance}` });

function release(name, now) {
	const url = new URL(state.locksPath, own);
	url.searchParams.set('name', name);
	url.searchParams.set('now', now);
	return send('DELETE', url);
}

/** Resolves to null if the operator cancels, or else to the state of the checkbox. */
function confirmed(title, text, yes, option) {
	put($('confirm-title'), title);
	put($('confirm-text'), text);
	put($('confirm-yes'), yes);
	$('confirm-option').hidden = !option;
	$('confirm-now').checked = false;
	const dialog = $('confirm');
	dialog.returnValue = '';
	dialog.showModal();
	return new Promise((resolve) => dialog.addEventListener('close',
		() => resolve(dialog.returnValue === 'yes' ? $('confirm-now').checked : null), { once: true }));
}

// ---------------------------------------------------------------- parts of the page

function show(news) {
	state = news;
	readAt = performance.now() - news.ageMillis;
	readDate = Date.now() - news.ageMillis;
	document.body.classList.remove('stale');
	$('banner').hidden = true;
	put($('banner'), problem = '');
	put($('instance'), state.instance);
	put($('reporter'), state.instance);
	showTime();
	showInstances();
	const part = $('filter').value.trim().toLowerCase();
	const jobs = state.jobs.filter((job) => [job.id, job.lock, job.runningOn, job.runs[0]?.instance]
		.some((text) => text?.toLowerCase().includes(part)));
	sync($('jobs'), jobs, (job) => job.id, newJob, showJob);
	put($('no-jobs'), state.jobs.length > 0 ? 'No job matches the filter.' : 'This application has no scheduled jobs with locks.');
	$('no-jobs').hidden = jobs.length > 0;
	sync($('locks'), state.locks, (lock) => lock.name, newLock, showLock);
	put($('shown'), shownLocks(part));
	sync($('events'), state.events, (event) => String(event.id), () => copyOf('event'), showEvent);
	$('events').hidden = state.events.length === 0;
	announceNews();
}

function showTime() {
	put($('at'), state ? `${clock(readDate)} ${zoneShown()}${paused ? ', paused' : ''}` : '…');
}

function shownLocks(part) {
	const count = state.locks.length;
	const rest = state.matching - count;
	const waiting = state.waiting.filter((wait) => `${wait.lock} ${wait.thread}`.toLowerCase().includes(part)
		&& !state.locks.some((lock) => lockOf(lock) === wait.lock)).map((wait) => `${wait.thread} for ${wait.lock}`);
	return [count === 0 ? `No lock is held${part ? ' that matches the filter' : ''}.` : '',
		rest > 0 ? `${rest.toLocaleString('en')} more are not shown; use the filter.` : '',
		state.more ? 'Only the first 10,000 held locks were read, by name.' : '',
		waiting.length > 0 ? `Also waiting here: ${waiting.join(', ')}.` : ''].filter(Boolean).join(' ');
}

function copyOf(id) {
	return $(id).content.firstElementChild.cloneNode(true);
}

const partOf = (element, name) => element.querySelector(`[data-part=${name}]`);

function put(element, text) {
	if (element.textContent !== String(text ?? '')) {
		element.textContent = text ?? '';
	}
}

/** Keeps the rows that remain where they are, so that they keep the focus. */
function sync(parent, items, keyOf, create, update) {
	const rows = new Map([...parent.children].map((row) => [row.dataset.key, row]));
	const keys = new Set();
	const unique = (key) => keys.has(key) ? unique(`${key} (same)`) : keys.add(key) && key;
	const keyed = items.map((item) => unique(keyOf(item)));
	rows.forEach((row, key) => keys.has(key) || remove(row));
	items.forEach((item, index) => {
		const row = rows.get(keyed[index]) ?? create(item);
		row.dataset.key = keyed[index];
		if (parent.children[index] !== row) {
			parent.insertBefore(row, parent.children[index] ?? null);
		}
		update(row, item);
	});
}

function remove(row) {
	if (row.contains(document.activeElement)) {
		row.closest('section').querySelector('h2').focus();
	}
	row.remove();
}

function name(element, instance) {
	put(element, instance);
	element.title = instance ?? '';
	element.style.setProperty('--colour', colours.get(instance) ?? 'inherit');
}

function showInstances() {
	const names = [...new Set([state.instance, ...state.locks.map((lock) => lock.holder),
		...state.jobs.flatMap((job) => [job.runningOn, ...job.runs.map((run) => run.instance)])])].filter(Boolean);
	for (const one of names.filter((each) => !colours.has(each)).sort()) {
		colours.set(one, `var(--c${colours.size % COLOURS})`);
	}
	const more = names.length - MOST_INSTANCES;
	sync($('instances'), [...names.slice(0, MOST_INSTANCES).sort(), ...(more > 0 ? [`and ${more} more`] : [])], String,
		() => document.createElement('li'), name);
}

// ---------------------------------------------------------------- jobs

function newJob(job) {
	const row = copyOf('job');
	put(partOf(row, 'id'), job.id);
	partOf(row, 'run').setAttribute('aria-label', `Run ${job.id} now`);
	partOf(row, 'pause').addEventListener('click', (event) => change(job.id, event.target.dataset.action));
	partOf(row, 'run').addEventListener('click', async () => {
		if (await confirmed(`Run ${job.id} now?`, 'It runs at once, under its lock, on the instance that receives the '
				+ 'request. This uses up no planned time and is not recorded.', 'Run now', false) !== null) {
			change(job.id, 'run');
		}
	});
	return row;
}

function showJob(row, job) {
	const planned = job.schedules.filter((each) => each.next).sort((a, b) => Date.parse(a.next) - Date.parse(b.next));
	const next = planned[0]?.next;
	const zone = zoneOf(planned[0] ?? job.schedules[0]);
	row.classList.toggle('paused', job.paused);
	row.classList.toggle('overdue', job.overdue);
	put(partOf(row, 'schedule'), job.schedules.map((each) => each.description).join('\n'));
	put(partOf(row, 'next'), nextOf(job, next));
	const due = job.paused ? job.pausedAt && `since ${clock(job.pausedAt, zone)}` : next && clock(next, zone);
	put(partOf(row, 'due'), due);
	put(partOf(row, 'zone'), due && zone && zoneShown(zone));
	name(partOf(row, 'where'), job.runningOn);
	const pause = partOf(row, 'pause');
	pause.dataset.action = job.paused ? 'resume' : 'pause';
	put(pause, job.paused ? 'Resume' : 'Pause');
	pause.setAttribute('aria-label', `${pause.textContent} ${job.id}`);
	pause.parentElement.hidden = !state.jobsPath;
	// A job with shards cannot be run manually
	partOf(row, 'run').hidden = Boolean(job.shards?.length);
	const last = partOf(row, 'last');
	put(last, job.problem ? `The runs cannot be read: ${job.problem}` : job.runs[0] ? latest(job) : 'no run yet');
	const ended = shardsOf(job, job.runs[0]);
	last.classList.toggle('bad', Boolean(job.problem || MARKS[job.runs[0]?.outcome] || ended?.failed || ended?.missed));
	const runs = job.runs.slice(0, RUNS).map((run) => ({ run, text: describe(run, zone, shardsOf(job, run)) }));
	const places = [...Array(RUNS - runs.length).fill(null), ...runs.toReversed()];
	sync(partOf(row, 'strip'), places.map((place, index) => ({ place, index })),
		({ index }) => String(index), () => copyOf('run'), showRun);
	sync(partOf(row, 'list'), runs, ({ run }) => `${run.startedAt} ${run.token}`, () => document.createElement('li'),
		(line, { text }) => put(line, text));
}

function nextOf(job, next) {
	if (job.paused) {
		return `paused by ${job.pausedBy ?? 'an operator'}`;
	}
	const due = !next ? 'after its run' : Date.parse(next) <= serverNow(job) ? 'due now' : relative(Date.parse(next) - serverNow(job));
	return job.overdue ? `overdue, ${due}` : due;
}

/** The server's clock, continued by that of this page. */
const serverNow = (job) => Date.parse(job.at) + performance.now() - readAt;

function latest(job) {
	const run = job.runs[0];
	const shards = shardsOf(job, run);
	if (shards) {
		return `${counted(shards)}, began ${relative(Date.parse(run.startedAt) - serverNow(job))}`;
	}
	const when = relative(Date.parse(run.endedAt ?? run.startedAt) - serverNow(job));
	return `${outcomeOf(run)}, ${run.outcome ? when : `started ${when}`}${run.error ? `: ${run.error}` : ''}`;
}

/** What became of the shards of a planned time, which a run of the job begins. */
const shardsOf = (job, run) => job.shards?.find((each) => each.plannedAt === run?.plannedAt);

const counted = (shards) => [`${shards.succeeded} of ${shards.count} shards succeeded`,
	...['running', 'failed', 'missed', 'open'].filter((state) => shards[state]).map((state) => `${shards[state]} ${state}`)].join(', ');

const describe = (run, zone, shards) => [zone ? `${clock(run.plannedAt, zone)} ${zoneShown(zone)}` : clock(run.plannedAt),
	shards ? counted(shards) : outcomeOf(run), run.error].filter(Boolean).join(': ');

function outcomeOf(run) {
	const attempt = run.attempt > 1 ? `, attempt ${run.attempt}` : '';
	const took = run.endedAt && run.attempt > 0 ? ` after ${duration(Date.parse(run.endedAt) - Date.parse(run.startedAt))}` : '';
	return `${run.outcome ? ENDS[run.outcome] ?? run.outcome : 'running'} on ${run.instance}${attempt}${took}`;
}

function showRun(box, { place }) {
	const run = place?.run;
	box.className = { FAILED: 'failed', CRASHED: 'failed', LOST: 'failed', MISSED: 'missed' }[run?.outcome] ?? '';
	run ? box.removeAttribute('aria-hidden') : box.setAttribute('aria-hidden', 'true');
	box.dataset.outcome = run ? run.outcome ?? 'RUNS' : '';
	box.title = place?.text ?? '';
	box.style.setProperty('--colour', colours.get(run?.instance) ?? 'var(--muted)');
	put(partOf(box, 'mark'), run ? MARKS[run.outcome] ?? (run.attempt > 1 ? run.attempt : '') : '');
	put(partOf(box, 'text'), place?.text);
}

// ---------------------------------------------------------------- locks and events

function newLock(lock) {
	const row = copyOf('lock');
	put(partOf(row, 'id'), lock.name);
	partOf(row, 'release').setAttribute('aria-label', `Release ${lock.name}`);
	partOf(row, 'release').addEventListener('click', async () => {
		const grant = grantOf(lock.name);
		const now = await confirmed(`Release ${lock.name} by force?`, consequences(lock.name), 'Release', true);
		if (now === null) {
			return;
		}
		await refresh(); // updates can be paused
		if (grantOf(lock.name) === grant) {
			release(lock.name, now);
		}
		else {
			put($('result'), `Nothing was sent: ${lock.name} was granted again, or has ended.`);
			$('result').focus();
		}
	});
	return row;
}

/** A thread waits for a lock, not for one of its permits. */
const lockOf = (lock) => lock.permits > 1 ? lock.name.replace(/ \(permit \d+\)$/, '') : lock.name;

/** The holder of a lock that was released by force may work until its next renewal. */
function consequences(name) {
	const lock = state.locks.find((each) => each.name === name);
	return lock && !lock.held
		? `It is not held: ${lock.holder} has released it, and it is kept for a minimum hold; or it was released by force, and `
			+ `${lock.holder} may still work. It becomes free when that time ends.`
		: `${lock?.holder} loses it at its next renewal. It becomes free when its lease ends, so that no other holder overlaps.`;
}

const grantOf = (lock) => state.locks.find((each) => each.name === lock)?.since;

function showLock(row, lock) {
	row.classList.toggle('free', !lock.held);
	row.style.setProperty('--colour', colours.get(lock.holder) ?? 'var(--muted)');
	name(partOf(row, 'holder'), lock.held ? lock.holder : lock.leftMillis > 0 ? `last held by ${lock.holder}` : 'free');
	put(partOf(row, 'permit'), lock.permits > 1 ? `permit ${/ \(permit (\d+)\)$/.exec(lock.name)?.[1] ?? 1} of ${lock.permits}` : '');
	name(partOf(row, 'thread'), lock.held ? lock.thread : '');
	put(partOf(row, 'why'), lock.why);
	const left = Math.max(0, lock.leftMillis - state.ageMillis);
	partOf(row, 'bar').style.transform = `scaleX(${lock.leaseMillis > 0 ? Math.min(1, left / lock.leaseMillis) : 0})`;
	put(partOf(row, 'left'), left > 0 ? duration(left) : lock.held ? 'ended' : '');
	put(partOf(row, 'since'), lock.held && lock.since ? `since ${clock(lock.since)}` : '');
	put(partOf(row, 'token'), lock.token.replace(/\B(?=(\d{3})+$)/g, '\u202f'));
	put(partOf(row, 'waiting'), state.waiting.filter((wait) => wait.lock === lockOf(lock))
		.map((wait) => wait.thread).join(', '));
	partOf(row, 'release').hidden = !state.locksPath || !lock.held && lock.leftMillis <= 0;
}

function showEvent(line, event) {
	put(partOf(line, 'at'), clock(event.at));
	put(partOf(line, 'subject'), event.subject);
	put(partOf(line, 'text'), event.text);
}

/** Only what needs attention, once: the page itself changes every two seconds. */
function announceNews() {
	const overdue = state.jobs.filter((job) => job.overdue).map((job) => job.id);
	const last = state.events[0];
	if (seen?.instance === state.instance) {
		const texts = overdue.filter((id) => !seen.overdue.includes(id)).map((id) => `${id} is overdue`);
		if (last && last.id !== seen.id) {
			texts.push(`${last.subject} ${last.text}`);
		}
		if (texts.length > 0) {
			put($('announce'), texts.join('. '));
		}
	}
	seen = { instance: state.instance, overdue, id: last?.id };
}

// ---------------------------------------------------------------- times

const formats = new Map();

/** A time in the zone of its schedule, or else in that of the browser. */
const clock = (time, zone) => formatOf(zone).format(new Date(time));

/** The zone in which times are shown: UTC, if the browser does not know that of a schedule. */
const zoneShown = (zone) => formatOf(zone).resolvedOptions().timeZone;

const zoneOf = (schedule) => schedule?.description.match(/^cron .* in (\S+)$/)?.[1];

function formatOf(zone) {
	if (!formats.has(zone)) {
		try {
			// Java's GMT+02:00 is +02:00 in a browser
			formats.set(zone, new Intl.DateTimeFormat('sv-SE',
				{ dateStyle: 'short', timeStyle: 'medium', timeZone: zone?.replace(/^(GMT|UTC?)(?=[+-])/, '') }));
		}
		catch {
			formats.set(zone, formatOf('UTC'));
		}
	}
	return formats.get(zone);
}

function relative(millis) {
	const text = duration(Math.max(1000, Math.abs(millis)), 0);
	return millis > 0 ? `in ${text}` : `${text} ago`;
}

function duration(millis, digits = 1) {
	return (millis < 1000) ? `${Math.round(millis)} ms` : (millis < 120_000) ? `${(millis / 1000).toFixed(digits)} s`
		: (millis < 7_200_000) ? `${Math.round(millis / 60_000)} min` : (millis < 172_800_000) ? `${Math.round(millis / 3_600_000)} h`
			: `${Math.round(millis / 86_400_000)} days`;
}

// ---------------------------------------------------------------- begin

for (const [id, value] of [['confirm-yes', 'yes'], ['confirm-no', '']]) {
	$(id).addEventListener('click', () => $('confirm').close(value));
}
$('dismiss').addEventListener('click', () => put($('result'), ''));
$('filter').addEventListener('input', () => {
	clearTimeout(timer);
	timer = setTimeout(refresh, 250);
});
$('updates').addEventListener('click', () => {
	paused = !paused;
	$('updates').setAttribute('aria-pressed', paused);
	document.body.classList.toggle('still', paused);
	clearTimeout(timer);
	paused ? showTime() : refresh();
});
document.addEventListener('visibilitychange', () => document.hidden || paused || refresh());
refresh();
