/*
 * One lock: its document, its fence, those who want it, and the network between them.
 *
 * An acquisition is one attempt to get the lock, with an id of its own (here its number).
 * What was sent is delivered at any time, in any order, as often as the network likes, or
 * never. Between any two steps any time may pass, so everybody may be paused anywhere and
 * for ever. Times are kept as what is left of them, in ticks; so the clock has no end.
 *
 * The promises stand below under their name. A weakened form is chosen by one of the macros
 * in capitals; verification/model/check lists them with what each of them breaks. verification/model/README.md says what
 * is left out.
 */

#ifndef ACQUISITIONS
#define ACQUISITIONS 3
#endif

#ifndef LEASE
#define LEASE 3
#endif

#ifdef NO_ALLOWANCE
#define ALLOWANCE 0
#else
#define ALLOWANCE 1
#endif

/* By how much the clock of one member is ahead of the other's. */
#ifdef CLOCKS_BEYOND_ALLOWANCE
#define DIFFERENCE 2
#else
#define DIFFERENCE 1
#endif

/* For so long an operation may wait between reading $$NOW and being applied. */
#ifndef LAG
#define LAG 2
#endif

/* The server recognises a request that a driver repeats, and answers it from memory. */
#ifdef ACQUIRE_EXECUTED_AGAIN
#define EXECUTIONS 2
#else
#define EXECUTIONS 1
#endif

/* Each grant reserves a block of tokens, so that a hand-over has one of its own. */
#define BLOCK 2

#define NOBODY 255

#define max(a, b) (((a) > (b)) -> (a) : (b))
#define less(a, b) (((a) > (b)) -> ((a) - (b)) : 0)

mtype:handle = { idle, asking, raising, held, over };
mtype:transaction = { none, open, fenced };

/* --- the server ----------------------------------------------------------------------- */

/* The document in dblock_locks. */
byte holder = NOBODY;
byte token;                     /* the last one reserved */
bit fencePending;
byte expiresAt;                 /* ticks until then by the slower member's clock; 0: not later than now, or absent */

/* The primary's clock is ahead of the slower member's by that much. */
byte ahead;

/* The document in dblock_fences: the token that was committed, and whose transaction has written to it. */
byte fence;
byte fenceWriter = NOBODY;

/* --- the network: what was sent may be delivered at any time, and any number of times --- */

typedef Sent {
	bit acquire;
	bit renew;              /* before the raise was acknowledged */
	bit renewAndClear;      /* after it: clears fencePending */
	bit release;            /* keeps fencePending */
	bit releaseAndClear;
	bit releaseAndSet;      /* the outcome of a transaction is not known */
	bit raise;
	byte renewAge;          /* of the first renewal, up to LAG */
	byte acquireAge;        /* of the acquire, up to LAG */
	byte acquired           /* how many times the acquire was executed */
};

Sent sent[ACQUISITIONS];

/* --- the acquisitions ------------------------------------------------------------------- */

typedef Acquisition {
	mtype:handle handle = idle;
	byte left;              /* of the lease as the client counts it, from before the first send */
	byte slept;             /* ticks since then that only the wall clock has seen */
	byte proofLeft;         /* the same two for the renewal that is under way */
	byte proofSlept;
	bit renewed;            /* that renewal was answered */
	byte granted;           /* the answer to the acquire: the token, 0 for none yet */
	bit grantPending;       /* its fencePending */
	bit raised;             /* the raise was acknowledged */
	byte token;             /* of the handle that the caller has */
	bit handedOver;
	mtype:transaction transaction = none;
	byte transactionToken;
	bit unknown             /* the client has given up waiting for the outcome of a commit */
};

Acquisition acquisition[ACQUISITIONS];

/* The highest token that a caller was given. */
byte newest;

byte i;

/* Only a trail that is shown counts the ticks from its beginning: they would make every state another one. */
#ifdef SHOW
byte time;
#define advance time++
#else
#define time 0
#define advance skip
#endif

#define A acquisition[me]
#define S sent[me]
#define who ('A' + me)

/* --- Promises ------------------------------------------------------------------------------ */

#define line(...) #__VA_ARGS__
#define promise(condition, ...) \
	if \
	:: (condition) -> skip \
	:: else -> printf(line(broken: __VA_ARGS__\n)); assert(false) \
	fi

#ifdef NO_WALL_CLOCK
#define believes(n) ((acquisition[n].handle == held || acquisition[n].handle == raising) && acquisition[n].left > 0)
#else
#define believes(n) ((acquisition[n].handle == held || acquisition[n].handle == raising) \
	&& acquisition[n].left > 0 && acquisition[n].slept == 0)
#endif

#define another(n) (me != n && believes(n))

#if ACQUISITIONS == 2
#define anotherBelieves (another(0) || another(1))
#else
#define anotherBelieves (another(0) || another(1) || another(2))
#endif

#define exclusion promise(!(believes(me) && anotherBelieves), exclusion: two believe in an unexpired lease)
#define risingTokens promise(A.token > newest, rising tokens: a grant has no higher token than an earlier one)
#define noStaleCommit promise(A.transactionToken >= newest, no stale commit: a later holder was at work already)
#define noRevival(lag) promise(!expired(lag), no revival: an expired lease was renewed)

/* --- Fewer states: what cannot matter any more is forgotten ---------------------------------- */

inline forget() {
	if
	:: A.handle == over && A.transaction == none ->
		A.left = 0;
		A.slept = 0;
		A.proofLeft = 0;
		A.proofSlept = 0;
		A.renewed = 0;
		A.token = 0;
		A.handedOver = 0;
		A.unknown = 0;
		A.grantPending = 0;
		A.granted = (S.raise -> A.granted : 0)
	:: else -> skip
	fi
}

#if defined(RELEASE_BY_NAME) || defined(NO_OWNER_CHECK)
#define without(n) false
#else
#define without(n) (sent[n].acquired == EXECUTIONS && holder != n)
#endif

/* Requests by an id that the document does not have, and will not have again. */
inline drop(n) {
	if
	:: without(n) ->
		sent[n].acquire = 0;
		sent[n].acquireAge = 0;
		sent[n].renew = 0;
		sent[n].renewAndClear = 0;
		sent[n].renewAge = 0;
		sent[n].release = 0;
		sent[n].releaseAndClear = 0;
		sent[n].releaseAndSet = 0
	:: else -> skip
	fi
}

inline dropAll() {
	drop(0);
	drop(1);
#if ACQUISITIONS > 2
	drop(2)
#else
	skip
#endif
}

/* --- what a client does ---------------------------------------------------------------------- */

#define say(...) printf(line(%d %c __VA_ARGS__\n), time, who)

inline give() {
	A.handle = held;
	A.token = A.granted;
	printf("%d %c has the lock, token %d\n", time, who, A.token);
	exclusion;
	risingTokens;
	newest = A.token
}

inline ask() {
	A.handle = asking;
	A.left = LEASE;
	S.acquire = 1;
	say(sends acquire)
}

/* A driver that repeats its request, and a deadline that is counted from there. */
inline askAgain() {
	A.left = LEASE;
	A.slept = 0;
	say(sends acquire again, and counts its lease from here)
}

inline readGrant() {
#ifdef DEADLINE_FROM_ANSWER
	A.left = LEASE;
	A.slept = 0;
#endif
	if
	:: A.left > 0 && A.slept == 0 ->
		if
#ifdef RAISE_AFTER_GRANT
		:: A.grantPending -> S.raise = 1; give()
#else
		:: A.grantPending && !A.raised -> A.handle = raising; S.raise = 1; say(reads its grant, and sends the raise of the fence); exclusion
#endif
		:: else -> give()
		fi
	:: else -> say(reads its grant too late); giveUp()
	fi
}

/* In doubt: nothing is known of the grant, so its id is given back. */
inline giveUp() {
	A.handle = over;
	S.release = 1;
	say(gives up, and sends a release by its id);
	forget();
	drop(me)
}

inline readRaise() {
	say(reads that the fence was raised);
	give()
}

inline sendRenewal() {
	A.proofLeft = LEASE;
	A.proofSlept = 0;
	A.renewed = 0;
	if
#ifdef CLEAR_BEFORE_RAISE
	:: true -> S.renewAndClear = 1
#else
	:: A.handle == held -> S.renewAndClear = 1
	:: else -> S.renew = 1
#endif
	fi;
	say(sends a renewal);
	drop(me)
}

/* LeaseDeadline.merge: the later proof, or what the earlier one still reaches. */
inline readRenewal() {
	A.left = less(A.left, less(A.slept, A.proofSlept));
	A.left = max(A.left, A.proofLeft);
	A.slept = A.proofSlept;
	A.proofLeft = 0;
	A.proofSlept = 0;
	A.renewed = 0;
	say(reads that it was renewed);
	exclusion
}

inline sendRelease() {
	A.handle = over;
	if
#if !defined(UNKNOWN_OUTCOME_FORGOTTEN) && !defined(RELEASE_IN_TRANSACTION)
	:: A.unknown || A.transaction != none -> S.releaseAndSet = 1; say(sends a release that sets fencePending)
#endif
	:: else -> S.releaseAndClear = 1; say(sends a release)
	fi;
	forget();
	drop(me)
}

inline handOver() {
	A.handedOver = 1;
	A.token = A.token + 1;
	printf("%d %c hands over to another thread, token %d\n", time, who, A.token);
	risingTokens;
	newest = A.token
}

#if defined(HAND_OVER_IN_TRANSACTION)
#define mayHandOver true
#else
#define mayHandOver (A.transaction == none && !A.unknown)
#endif

#if defined(RELEASE_IN_TRANSACTION)
#define mayRelease true
#elif defined(UNKNOWN_OUTCOME_FORGOTTEN)
#define mayRelease (A.transaction == none || A.unknown)
#else
#define mayRelease (A.transaction == none || A.unknown || A.left == 0)
#endif

#ifdef ONE_WRITER
#define mayWrite (me == 0)
#else
#define mayWrite true
#endif

/* Those that are no different come in the order of their numbers. */
#if defined(ONE_WRITER) || defined(SUSPENSION)
#define itsTurn (me <= 1 || acquisition[me - 1].handle != idle)
#else
#define itsTurn (me == 0 || acquisition[me - 1].handle != idle)
#endif

active [ACQUISITIONS] proctype client() {
	byte me = _pid;
	do
	:: d_step { A.handle == idle && itsTurn -> ask() }
#ifdef DEADLINE_FROM_RETRY
	:: d_step { A.handle == asking && A.left < LEASE -> askAgain() }
#endif
	:: d_step { A.handle == asking && A.granted > 0 -> readGrant() }
	:: d_step { A.handle == asking -> giveUp() }
	:: d_step { A.handle == raising && A.raised && A.left > 0 && A.slept == 0 -> readRaise() }
	:: d_step { A.handle == raising -> giveUp() }
	:: d_step { (A.handle == raising || A.handle == held) && A.proofLeft < LEASE -> sendRenewal() }
	:: d_step { (A.handle == raising || A.handle == held) && A.renewed -> readRenewal() }
	:: d_step { A.handle == held && mayRelease -> sendRelease() }
	:: d_step { A.handle == held && A.left > 0 && A.slept == 0 && !A.handedOver && mayHandOver -> handOver() }
#ifdef TRANSACTIONS
	/* Held when its transaction is about to commit; then its process may be paused. */
	:: d_step { mayWrite && A.handle == held && A.transaction == none && !A.unknown && A.left > 0 && A.slept == 0 ->
		A.transaction = open;
		A.transactionToken = A.token;
		say(finds its lock held for a transaction) }
#ifndef NO_FENCE
	:: d_step { A.transaction == open && fenceWriter == NOBODY && fence <= A.transactionToken ->
		A.transaction = fenced;
		fenceWriter = me;
		say(has written the fence in its transaction) }
#endif
	:: d_step { A.transaction == fenced && !A.unknown && A.handle == held ->
		A.unknown = 1;
		say(gets no answer to its commit) }
#endif
	od
}

/* --- what the network delivers, and the server does with it ------------------------------------ */

/* By the clock of an operation that has read it some ticks ago. */
#define expired(lag) (expiresAt + lag <= ahead)
#define inALease(lag) (ahead + LEASE + ALLOWANCE - lag)

inline executeAcquire(lag) {
	S.acquired++;
	if
	:: holder == me && !expired(lag) -> say(still holds it: its acquire was repeated)
	:: else ->
		fencePending = (holder != NOBODY) || fencePending;
		holder = me;
		token = token + BLOCK;
		expiresAt = inALease(lag);
		printf("%d %c is granted the lock by the server, token %d, fencePending %d\n", time, who, token - 1, fencePending)
	fi;
	if
	:: A.handle == asking -> A.granted = token - 1; A.grantPending = fencePending
	:: else -> skip
	fi;
	if
	:: S.acquired == EXECUTIONS -> S.acquire = 0; S.acquireAge = 0
	:: else -> skip
	fi;
	dropAll()
}

#ifdef NO_OWNER_CHECK
#define renews(lag) (holder != NOBODY && !expired(lag))
#elif defined(EXPIRED_REVIVED)
#define renews(lag) (holder == me)
#else
#define renews(lag) (holder == me && !expired(lag))
#endif

inline executeRenew(lag) {
	noRevival(lag);
#ifdef RENEWAL_SHORTENS
	expiresAt = inALease(lag);
#else
	expiresAt = max(expiresAt, inALease(lag));
#endif
	printf("%d %c is renewed by the server, for %d\n", time, who, expiresAt - ahead);
	/* An operation that began before the last renewal was sent is an earlier one: nobody waits for its answer. */
	A.renewed = A.renewed || (A.proofLeft > 0 && A.proofLeft + lag <= LEASE)
}

#ifdef RELEASE_BY_NAME
#define releases (holder != NOBODY)
#else
#define releases (holder == me)
#endif

inline executeRelease(pending) {
	holder = NOBODY;
	expiresAt = 0;
	fencePending = pending;
	say(is released by the server);
	dropAll()
}

#ifdef NO_FENCE
#define COMMITTING open
#else
#define COMMITTING fenced
#endif

inline endTransaction() {
	A.transaction = none;
	A.transactionToken = 0;
	if
	:: fenceWriter == me -> fenceWriter = NOBODY
	:: else -> skip
	fi;
	forget()
}

#define mayAcquire(lag) (S.acquire && S.acquired < EXECUTIONS && S.acquireAge >= lag && (holder == me || expired(lag)))
#define mayRenew(lag) (S.renewAge >= lag && renews(lag))

active [ACQUISITIONS] proctype network() {
	byte me = _pid - ACQUISITIONS;
	do
	:: d_step { mayAcquire(0) -> executeAcquire(0) }
	:: d_step { mayAcquire(1) -> executeAcquire(1) }
	:: d_step { mayAcquire(2) -> executeAcquire(2) }
	:: d_step { S.renew && mayRenew(0) -> executeRenew(0) }
	:: d_step { S.renew && mayRenew(1) -> executeRenew(1) }
	:: d_step { S.renew && mayRenew(2) -> executeRenew(2) }
	:: d_step { S.renewAndClear && mayRenew(0) -> fencePending = 0; executeRenew(0) }
	:: d_step { S.renewAndClear && mayRenew(1) -> fencePending = 0; executeRenew(1) }
	:: d_step { S.renewAndClear && mayRenew(2) -> fencePending = 0; executeRenew(2) }
#ifdef RELEASE_CLEARS
	:: d_step { S.release && releases -> executeRelease(0) }
#else
	:: d_step { S.release && releases -> executeRelease(fencePending) }
#endif
	:: d_step { S.releaseAndClear && releases -> executeRelease(0) }
	:: d_step { S.releaseAndSet && releases -> executeRelease(1) }
	/* A raise waits for a transaction that has written the fence. */
	:: d_step { S.raise && fenceWriter == NOBODY && !A.raised ->
		fence = max(fence, A.granted); A.raised = 1; S.raise = 0; printf("%d %c has the fence raised by the server, to %d\n", time, who, fence); forget() }
#ifdef TRANSACTIONS
	:: d_step { A.transaction == COMMITTING ->
		say(commits);
		noStaleCommit;
		if
		:: fenceWriter == me -> fence = A.transactionToken
		:: else -> skip
		fi;
		endTransaction() }
	/* By the client, by the server at its limit, or by a conflict. */
	:: d_step { A.transaction != none ->
		say(has its transaction rolled back);
		endTransaction() }
#endif
	od
}

/* --- the clocks and the operator ------------------------------------------------------------------ */

#define age(x) x = ((x < LAG) -> x + 1 : LAG)

inline tick(sleeper) {
	advance;
	expiresAt = less(expiresAt, 1);
	i = 0;
	do
	:: i < ACQUISITIONS ->
		if
		:: i == sleeper ->
			if
			:: acquisition[i].left > 0 && acquisition[i].slept < LEASE -> acquisition[i].slept++
			:: else -> skip
			fi;
			if
			:: acquisition[i].proofLeft > 0 && acquisition[i].proofSlept < LEASE -> acquisition[i].proofSlept++
			:: else -> skip
			fi
		:: else ->
			acquisition[i].left = less(acquisition[i].left, 1);
			acquisition[i].proofLeft = less(acquisition[i].proofLeft, 1)
		fi;
		if
		:: sent[i].acquire -> age(sent[i].acquireAge)
		:: else -> skip
		fi;
		if
		:: sent[i].renew || sent[i].renewAndClear -> age(sent[i].renewAge)
		:: else -> skip
		fi;
		i++
	:: else -> break
	od;
	i = 0
}

active proctype world() {
	do
	:: d_step { tick(NOBODY) }
#ifdef SUSPENSION
	:: d_step { tick(0); printf("%d A's machine was suspended for the last tick\n", time) }
#endif
#ifdef FAILOVER
	:: d_step { ahead = DIFFERENCE - ahead; printf("%d - another member becomes primary, its clock %d ahead\n", time, ahead) }
#endif
	/* An operator takes the lock away: the holder goes, expiresAt stays. */
	:: d_step { holder != NOBODY -> holder = NOBODY; fencePending = 1; printf("%d - an operator forces the release\n", time); dropAll() }
	od
}
