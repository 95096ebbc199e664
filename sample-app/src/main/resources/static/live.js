// Shows what the instances write to MongoDB; the feed at /live sends it several times a second.

const BLOCK = 1024; // tokens that one grant reserves
const SILENT = 2500; // ms without a word after which an instance counts as silent, and the feed as stale
const PATIENCE = 4000; // ms that an instance is given to begin
const GRACE = 3000; // ms in which an event may still be on its way
const KEEP = 300_000; // ms of history
const COLOURS = 6;
const LONG_JOB = 'report';

const $ = (id) => document.getElementById(id);

const events = new Map();
const colours = new Map();
const cards = new Map();
const announced = new Set();
let state = null;
let source = null;
let base = '';
let lastWord = performance.now();
let connectedAt = 0;
let clockOffset = 0; // the feed's clock minus this page's
let grants = [];

// ---------------------------------------------------------------- the feed

function connect(origin) {
	base = origin;
	connectedAt = performance.now();
	source?.close();
	document.querySelectorAll('.console').forEach((link) => link.href = `${base}/actuator/dblockconsole`);
	source = new EventSource(`${base}/live`);
	source.onmessage = (message) => {
		lastWord = performance.now();
		show(JSON.parse(message.data));
	};
}

/** The instance that feeds the page may be paused, stopped or killed: another one knows as much. */
function changeFeed() {
	const silentFor = performance.now() - lastWord;
	document.body.classList.toggle('stale-page', silentFor > SILENT);
	if (silentFor < SILENT) {
		return;
	}
	$('feed').className = 'feed stale';
	$('feed').replaceChildren('No news for ', bold(`${Math.round(silentFor / 1000)} s`), '. Asking another instance …');
	const alive = origins();
	const next = alive[(alive.indexOf(base) + 1) % alive.length] ?? base;
	if (next !== base && performance.now() - connectedAt > PATIENCE) {
		connect(next);
	}
}

/** Those that were alive when there last was news; where there is none, the browser itself asks again. */
function origins() {
	if (!state || !['localhost', '127.0.0.1'].includes(location.hostname)) {
		return [];
	}
	return state.instances.filter((one) => one.state === 'RUNNING' && one.silentMillis < SILENT)
		.map((one) => ((String(one.port) === location.port) ? '' : `http://${location.hostname}:${one.port}`));
}

function show(news) {
	state = news;
	clockOffset = news.now - Date.now();
	for (const event of news.events) {
		events.set(event.id, event);
	}
	for (const event of events.values()) {
		if (event.at < news.now - KEEP) {
			events.delete(event.id);
		}
	}
	for (const instance of news.instances) {
		if (!colours.has(instance.id)) {
			colours.set(instance.id, `var(--c${colours.size % COLOURS})`);
		}
	}
	grants = findGrants();
	showFeed();
	showFigures();
	showInstances();
	showTime();
	showLog();
}

// ---------------------------------------------------------------- grants

const inOrder = () => [...events.values()].sort((one, other) => one.at - other.at);

/** Each grant with its begin and, as far as anybody knows it, its end. */
function findGrants() {
	const all = inOrder();
	const found = all.filter((event) => event.kind === 'ACQUIRED')
		.map((event) => ({ name: event.name, token: event.token, instance: event.instance, start: event.at }));
	const byToken = new Map(found.map((grant) => [`${grant.name} ${grant.token}`, grant]));
	found.sort((one, other) => one.token - other.token);
	for (const event of all) {
		const grant = byToken.get(`${event.name} ${event.token}`);
		if (event.kind === 'RELEASED' && grant) {
			grant.released = event.at;
		}
		else if (event.kind === 'LOST' && grant) {
			grant.lost = event.at;
		}
		else if (event.kind === 'EXPIRED') {
			const last = found.findLast((one) => one.name === event.name && inBlock(one.token, event.token));
			if (last) {
				last.expired = event.at;
			}
		}
	}
	const next = new Map();
	for (const grant of found.toReversed()) {
		grant.next = next.get(grant.name);
		next.set(grant.name, grant);
		grant.end = endOf(grant);
	}
	return found;
}

const inBlock = (token, last) => token <= last && token > last - BLOCK;

function endOf(grant) {
	const known = Math.min(grant.released ?? Infinity, grant.expired ?? Infinity);
	if (known < Infinity) {
		return known;
	}
	const lock = state.locks.find((one) => one.name === grant.name);
	if (lock && inBlock(grant.token, lock.token) && !lock.held && lock.releasedAt) {
		return lock.releasedAt;
	}
	return grant.lost ?? null;
}

/** Grants of one name to two instances that were not one after the other. */
function countOverlaps() {
	let count = 0;
	for (const grant of grants) {
		if (!grant.next || grant.next.instance === grant.instance) {
			continue;
		}
		const overlaps = (grant.end !== null) ? grant.end > grant.next.start
			: state.now - grant.next.start > GRACE && isAwake(grant);
		count += overlaps ? 1 : 0;
	}
	return count;
}

/** Whether the process that got the grant has lived and talked ever since. */
function isAwake(grant) {
	const instance = state.instances.find((one) => one.id === grant.instance);
	return instance && instance.state === 'RUNNING' && instance.silentMillis < SILENT
		&& !inOrder().some((event) => event.instance === grant.instance && event.at >= grant.start
			&& ['STARTED', 'PAUSED'].includes(event.kind));
}

// ---------------------------------------------------------------- parts of the page

function bold(text, colour) {
	const element = document.createElement('b');
	element.textContent = text;
	if (colour) {
		element.style.setProperty('--colour', colour);
	}
	return element;
}

function put(id, text) {
	const element = (typeof id === 'string') ? $(id) : id;
	if (element.textContent !== String(text)) {
		element.textContent = text;
	}
}

const clock = (millis) => new Date(millis).toLocaleTimeString('en-GB');

function showFeed() {
	$('feed').className = 'feed';
	$('feed').replaceChildren('Seen by ', bold(state.self), ` · ${state.server}`);
	put('pause', Math.round(state.pauseMillis / 1000));
	put('refusal', state.transactions ? 'its commit is refused' : 'its own check refuses its write');
	$('notice').hidden = state.transactions;
	if (!state.transactions) {
		put('notice', `${state.server}: no transactions here. Invoices are written without a fence; a holder only looks `
			+ 'at its own lease before it writes, which guarantees nothing. sample-app/run starts a real replica set.');
	}
}

function showFigures() {
	const overlaps = countOverlaps();
	put('overlaps', overlaps);
	put('grants', grants.length);
	put('twice', state.figures.billedTwice);
	put('billed', state.figures.billedOrders);
	put('invoices', state.figures.invoices);
	put('open', state.figures.openOrders);
	$('overlaps').parentElement.classList.toggle('broken', overlaps > 0);
	$('twice').parentElement.classList.toggle('broken', state.figures.billedTwice > 0);
}

function stateOf(instance) {
	const silent = instance.silentMillis > SILENT;
	if (instance.state === 'STOPPED') {
		return { text: 'stopped', away: true, gone: true };
	}
	if (instance.state === 'PAUSED') {
		return { text: `paused for ${Math.round(instance.silentMillis / 1000)} s`, away: true };
	}
	if (silent) {
		// Probably killed, so the last known wait is outdated
		return { text: `silent for ${Math.round(instance.silentMillis / 1000)} s`, away: true, gone: true };
	}
	return { text: instance.state === 'STOPPING' ? 'stopping' : 'running', away: instance.state !== 'RUNNING' };
}

const BUTTONS = [
	['REPORT', 'Make the report', 'Make the report on', 'job', ''],
	['ASK', 'Wait for it', 'Wait for the report on', 'job', ''],
	['PAUSE', 'Pause', 'Pause', 'life', ''],
	['STOP', 'Stop', 'Stop', 'life', 'hard'],
	['KILL', 'Kill', 'Kill', 'life', 'hard'],
];

function newCard(instance) {
	const card = document.createElement('article');
	card.className = 'card panel';
	card.dataset.instance = instance.id;
	card.style.setProperty('--colour', colours.get(instance.id));
	card.innerHTML = `<header><h3></h3><span class="state"></span></header>
		<dl><dt>holds</dt><dd class="holds"></dd><dt>waits</dt><dd class="waits"></dd><dt>process</dt><dd class="pid"></dd></dl>
		<div class="buttons job"></div><div class="buttons life"></div><p class="why" hidden></p>`;
	for (const [command, text, label, group, kind] of BUTTONS) {
		const button = document.createElement('button');
		button.type = 'button';
		button.className = kind;
		button.dataset.command = command;
		button.textContent = text;
		button.setAttribute('aria-label', `${label} ${instance.id}`);
		button.addEventListener('click', () => send(`/live/${encodeURIComponent(instance.id)}`, { command }));
		card.querySelector(`.${group}`).append(button);
	}
	return card;
}

function showInstances() {
	for (const instance of state.instances) {
		if (!cards.has(instance.id)) {
			cards.set(instance.id, newCard(instance));
			const after = [...cards.keys()].filter((id) => id > instance.id).sort()[0];
			$('instances').insertBefore(cards.get(instance.id), after ? cards.get(after) : null);
		}
		showInstance(cards.get(instance.id), instance);
	}
	for (const [id, card] of cards) {
		if (!state.instances.some((instance) => instance.id === id)) {
			card.remove();
			cards.delete(id);
		}
	}
}

function showInstance(card, instance) {
	const now = stateOf(instance);
	const title = card.querySelector('h3');
	if (title.textContent !== instance.id || title.dataset.port !== String(instance.port)) {
		const link = document.createElement('a');
		link.href = `${location.protocol}//${location.hostname}:${instance.port}/`;
		link.textContent = instance.id;
		title.dataset.port = instance.port;
		title.replaceChildren(link);
	}
	card.classList.toggle('away', now.away);
	put(card.querySelector('.state'), now.text);
	put(card.querySelector('.pid'), instance.pid);
	const held = state.locks.filter((lock) => lock.held && lock.acquirer === instance.id).map((lock) => lock.name);
	fill(card.querySelector('.holds'), held.join(', '));
	fill(card.querySelector('.waits'), now.gone ? '' : instance.waiting
		.map((wait) => `for ${wait.name}, ${Math.max(0, Math.round((state.now - wait.since) / 1000))} s`).join('; '));
	for (const button of card.querySelectorAll('button')) {
		const impossible = button.dataset.command === 'PAUSE' && !instance.canBePaused;
		button.disabled = now.away || impossible;
	}
	const why = card.querySelector('.why');
	why.hidden = instance.canBePaused;
	put(why, instance.hostsServer ? 'It hosts the embedded server: paused, all would stand still.'
		: instance.canBePaused ? '' : 'This system has no signals to pause a process with.');
}

function fill(element, text) {
	put(element, text || 'nothing');
	element.classList.toggle('nothing', !text);
}

async function send(path, body) {
	const response = await fetch(base + path, {
		method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
	});
	if (!response.ok) {
		announce(`The server refused it: ${response.status}`);
	}
	return response;
}

// ---------------------------------------------------------------- time line

const SVG = 'http://www.w3.org/2000/svg';
const LANE = 13;
const GAP = 3;

function svg(tag, attributes, text) {
	const element = document.createElementNS(SVG, tag);
	for (const [key, value] of Object.entries(attributes)) {
		element.setAttribute(key, value);
	}
	if (text !== undefined) {
		element.textContent = text;
	}
	return element;
}

/** Stretches in which an instance was stopped by a signal or is not heard of. */
function absences(id) {
	const found = [];
	let since = null;
	for (const event of inOrder().filter((one) => one.instance === id)) {
		if (event.kind === 'PAUSED') {
			since = event.at;
		}
		else if (since !== null && ['RESUMED', 'STARTED'].includes(event.kind)) {
			found.push([since, event.at]);
			since = null;
		}
	}
	const instance = state.instances.find((one) => one.id === id);
	if (since === null && instance && stateOf(instance).away && instance.state !== 'STOPPING') {
		since = state.now - instance.silentMillis;
	}
	if (since !== null) {
		found.push([since, state.now]);
	}
	return found;
}

const GROUPS = [['report', (name) => name === 'report'], ['invoice-run', (name) => name === 'invoice-run'],
	['account-…', (name) => name.startsWith('account-')]];

function showTime() {
	const width = $('time').clientWidth - 32;
	const narrow = width < 560;
	const span = narrow ? 40_000 : 90_000;
	const left = narrow ? 86 : 104;
	const right = width - 8;
	const now = state.now;
	const x = (at) => left + (right - left) * Math.max(0, Math.min(1, 1 - (now - at) / span));
	const visible = (start, end) => (end ?? now) > now - span && start <= now;
	const ids = state.instances.map((instance) => instance.id);
	const root = svg('svg', { role: 'img', 'aria-label': describeTime() });
	const pattern = svg('pattern', { id: 'away', width: 6, height: 6, patternUnits: 'userSpaceOnUse',
		patternTransform: 'rotate(45)' });
	pattern.append(svg('line', { x1: 2, y1: 0, x2: 2, y2: 6, class: 'gap' }));
	pattern.append(svg('line', { x1: 2, y1: 0, x2: 2, y2: 6, class: 'hatch' }));
	root.append(svg('defs', {}));
	root.firstChild.append(pattern);
	const grid = svg('g', {});
	root.append(grid);
	let y = 4;
	for (const [title, matches] of GROUPS) {
		root.append(svg('text', { x: 0, y: y + 11, class: 'name' }, title));
		y += 17;
		for (const id of ids) {
			root.append(svg('text', { x: 0, y: y + LANE - 3 }, id));
			root.append(svg('rect', { x: left, y, width: right - left, height: LANE, rx: 2, class: 'lane' }));
			const over = [];
			for (const grant of grants.filter((one) => one.instance === id && matches(one.name))) {
				if (visible(grant.start, Math.max(grant.end ?? now, grant.lost ?? 0))) {
					drawGrant(root, over, grant, x, y);
				}
			}
			for (const [from, to] of absences(id).filter(([from, to]) => visible(from, to))) {
				root.append(svg('rect', { x: x(from), y: y - 1, width: Math.max(0, x(to) - x(from)), height: LANE + 2,
					class: 'away' }));
			}
			for (const event of events.values()) {
				if (event.kind === 'WRITE_REFUSED' && event.instance === id && matches(event.name) && visible(event.at)
						&& event.at > now - span) {
					over.push(svg('text', { x: Math.min(x(event.at) + 13, right - 6), y: y + LANE - 1, class: 'mark' }, '⊘'));
				}
			}
			root.append(...over);
			y += LANE + GAP;
		}
		y += 8;
	}
	for (let back = 0; back <= span; back += narrow ? 10_000 : 15_000) {
		grid.append(svg('line', { x1: x(now - back), x2: x(now - back), y1: 0, y2: y, class: 'grid' }));
		grid.append(svg('text', { x: x(now - back), y: y + 13, 'text-anchor': back === 0 ? 'end' : 'middle' },
			back === 0 ? 'now' : `−${back / 1000} s`));
	}
	root.setAttribute('height', y + 18);
	root.setAttribute('viewBox', `0 0 ${width} ${y + 18}`);
	$('time').replaceChildren(root);
}

function drawGrant(root, over, grant, x, y) {
	const unknown = grant.end === null && grant.next !== undefined;
	const end = grant.end ?? (unknown ? grant.next.start : state.now);
	const bar = svg('rect', { x: x(grant.start), y, width: Math.max(1.5, x(end) - x(grant.start)), height: LANE, rx: 2,
		class: unknown ? 'unknown' : '', 'data-lock': grant.name, 'data-token': grant.token });
	bar.style.fill = colours.get(grant.instance);
	bar.append(svg('title', {}, `${grant.name}, ${grant.instance}, token ${grant.token}: ${clock(grant.start)} to `
		+ `${grant.end ? clock(grant.end) : 'now'}${grant.expired ? ', lease over' : ''}`));
	root.append(bar);
	if (grant.expired) {
		over.push(svg('line', { x1: x(grant.expired), x2: x(grant.expired), y1: y - 2, y2: y + LANE + 2, class: 'over' }));
	}
	if (grant.lost) {
		over.push(svg('text', { x: Math.min(x(grant.lost), x(state.now) - 19), y: y + LANE - 1, class: 'mark' }, '✕'));
	}
}

function describeTime() {
	return state.locks.filter((lock) => lock.held).map((lock) => `${lock.acquirer} holds ${lock.name}`).join(', ')
		|| 'no lock is held';
}

// ---------------------------------------------------------------- events in words

function inWords(event) {
	const takenFrom = () => {
		const before = grants.findLast((grant) => grant.name === event.name && grant.token < event.token);
		return before?.expired ? before.instance : null;
	};
	switch (event.kind) {
		case 'STARTED': return [` started as ${event.text}`];
		case 'STOPPING': return [' is stopping: it finishes its work'];
		case 'STOPPED': return [' has stopped'];
		case 'PAUSED': return [` is stopped by SIGSTOP for ${event.text}`, 'bad'];
		case 'RESUMED': return [' resumes'];
		case 'ACQUIRED': {
			const from = takenFrom();
			return from ? [` takes over ${event.name}, because the lease of ${from} has ended`, 'bad']
				: event.name === LONG_JOB ? [` holds ${event.name}`] : null;
		}
		case 'RELEASED': return event.name === LONG_JOB ? [` releases ${event.name}`] : null;
		case 'UNAVAILABLE': return event.name === LONG_JOB ? [` was refused ${event.name}: ${event.text} holds it`] : null;
		case 'RENEWED_LATE': return [` renewed ${event.name} late, with ${event.text} left`];
		case 'EXPIRED': return [`'s lease on ${event.name} has ended`, 'bad'];
		case 'LOST': return [` lost ${event.name}: ${event.text}`, 'bad'];
		case 'WRITE_REFUSED': return [` could not write ${event.text}`, 'bad'];
		case 'JOB_FAILED': return [`: ${event.name} failed: ${event.text}`, 'bad'];
		case 'JOB_REPEATED': return [` repeats the run of ${event.name} that was planned for ${clock(Date.parse(event.text))}`];
		case 'JOB_MISSED': return [`: ${event.name} missed its planned time ${clock(Date.parse(event.text))}`, 'bad'];
		default: return null;
	}
}

let logged = '';

function showLog() {
	const told = inOrder().map((event) => ({ event, words: inWords(event) })).filter(({ words }) => words).slice(-60);
	const version = told.map(({ event, words }) => event.id + words[0]).join();
	if (version === logged) {
		return;
	}
	logged = version;
	$('log').replaceChildren(...told.toReversed().map(({ event, words }) => {
		const line = document.createElement('li');
		line.dataset.kind = event.kind;
		line.className = words[1] ?? '';
		const time = document.createElement('time');
		time.textContent = clock(event.at);
		const text = document.createElement('span');
		const what = document.createElement('em');
		what.style.fontStyle = 'normal';
		what.textContent = words[0];
		text.append(bold(event.instance, colours.get(event.instance)), what);
		line.append(time, text);
		return line;
	}));
	for (const { event, words } of told) {
		if (words[1] && !announced.has(event.id)) {
			announced.add(event.id);
			if (event.at > state.now - 10_000) {
				announce(event.instance + words[0]);
			}
		}
	}
}

function announce(text) {
	$('announce').textContent = text;
}

// ---------------------------------------------------------------- begin

$('order').addEventListener('click', async () => {
	const customers = ['alder', 'birch', 'cedar', 'elm', 'hazel'];
	for (let order = 0; order < 10; order++) {
		await send('/orders', { customer: customers[order % customers.length], cents: 1000 + order });
	}
});
connect('');
setInterval(changeFeed, 500);
addEventListener('resize', () => state && showTime());
