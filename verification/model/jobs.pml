/*
 * The planned times of one job: its record in the lock's document, and firings that ask for
 * them. Two firings are for the first planned time and one is for the second.
 *
 * Each request has an id of its own, here its number: a firing sends it again under another
 * one. What was sent is delivered at any time, in any order, or never; a release as often as
 * the network likes. A client may be paused anywhere, or die, so that its lease ends at any
 * time; it may even begin its work after that. That two never have the lock at the same time
 * is checked by lock.pml.
 *
 * RERUN repeats what crashed. SETTLED lets each planned time become too late, which is then
 * recorded. The weakened forms are macros in capitals, as in lock.pml.
 */

#ifndef TRIES
#define TRIES 2
#endif
#define REQUESTS 6
#define FIRINGS (REQUESTS / TRIES)

/* In dblock there are three. */
#define MOST_ATTEMPTS 2

#define NOBODY 255

mtype:state = { idle, asking, running, late, over, done };
mtype:outcome = { none, succeeded, failed, lost, crashed, abandoned, missed };

/* --- the document: the lock, and the last run of the job --------------------------------- */

byte holder = NOBODY;
bit leased;                     /* expiresAt is later than now */

byte lastPlanned;               /* 0: there was no run */
byte lastAttempt;
byte lastFiring;
mtype:outcome lastAgain = none; /* how that firing's last run of it ended that began; none: there was none */
mtype:outcome lastOutcome = none;

/* --- the firings and their requests ------------------------------------------------------- */

typedef Firing {
	byte id                 /* of its next request, the same for all its requests for one planned time */
};

typedef Request {
	mtype:state state = idle;
	bit acquire;            /* sent, and not delivered yet */
	byte id;                /* of the firing, while it is not delivered */
	mtype:outcome sent = none;      /* the release: how the work ended, abandoned if it never began */
	byte planned;           /* what was granted; 0 for nothing */
	byte attempt;
#ifdef EXPIRED_NOT_COMPARED
	bit decided;            /* that it is too late, when it was refused */
#endif
	bit expiry              /* sent, and the last one not delivered yet */
};

Firing firing[FIRINGS];
Request request[REQUESTS];

#define firingOf(n) ((n) / TRIES)
#define asked(n) ((firingOf(n) == FIRINGS - 1) -> 2 : 1)

/* --- what happened, for the promises -------------------------------------------------------- */

typedef Planned {
	byte begunBy[4];        /* the firing that began an attempt, plus 1 */
	byte finished;          /* the attempt that succeeded, as the server knows; 0 for none */
	byte owed;              /* the attempt that has to follow a crashed one; 0 for none */
	bit doubt;              /* a lease ended, or an operator ended it, before there was an outcome */
	bit tooLate;            /* startWithin is over by the server's clock */
	bit recorded;           /* recorded as missed */
	bit passed;             /* settled by the grant of a later one, without a run */
	byte reports            /* how often it was reported as missed */
};

Planned plan[3];
byte missedBy[3];               /* the firing that recorded it, plus 1 */
bit forced;                     /* an operator ended the last run, which was not granted again since */
byte owedBefore;                /* owed by the last planned time before its last grant */

byte p;
byte a;
bit due;
bit expires;
mtype:outcome again = none;

#define line(...) #__VA_ARGS__
#define promise(condition, ...) \
	if \
	:: (condition) -> skip \
	:: else -> printf(line(broken: __VA_ARGS__\n)); assert(false) \
	fi
#define say(...) printf(line(- %c%d __VA_ARGS__\n), 'A' + firingOf(me), me % TRIES + 1)

/* --- the decision ---------------------------------------------------------------------------- */

/* How the last run ended that began: none if there was none, so that the planned time is open. */
#define lastEnd (lastOutcome == none -> crashed : (lastOutcome == abandoned -> lastAgain : lastOutcome))
#ifdef AGAIN_REOPENED
#define isOpen (lastOutcome == abandoned)
#else
#define isOpen (lastEnd == none)
#endif
#define isByFiring (lastPlanned > 0 && lastFiring == request[me].id)
#ifdef LATE_NOT_REFUSED
#define isLate false
#else
#define isLate (plan[asked(me)].tooLate)
#endif
#ifdef LATE_RETRY_GRANTED
#define isBegun true
#else
#define isBegun (lastAgain != none || (lastOutcome != none && lastOutcome != abandoned))
#endif
#ifdef MISSED_GRANTED_AGAIN
#define isMissed false
#else
#define isMissed (lastOutcome == missed)
#endif
#ifdef RETRY_AFTER_SUCCESS
#define isSame isByFiring
#else
#define isSame (isByFiring && lastOutcome != succeeded && !isMissed && (!isLate || isBegun))
#endif
#define isRunning (leased && lastOutcome == none && holder != NOBODY)
#ifdef FINISHED_REPEATED
#define isCrashed (!isRunning && lastEnd != failed)
#else
#ifdef AGAIN_DONE
#define isCrashed (!isRunning && lastOutcome != abandoned && (lastEnd == crashed || lastEnd == lost))
#else
#define isCrashed (!isRunning && (lastEnd == crashed || lastEnd == lost))
#endif
#endif

#ifdef NO_ATTEMPT_LIMIT
#define mayRepeat true
#else
#define mayRepeat (lastAttempt < MOST_ATTEMPTS)
#endif

#ifdef RERUN
#ifdef REPETITION_STAYS
#define isRepetitionOpen false
#else
#define isRepetitionOpen (isOpen && lastAttempt > 1)
#endif
#define repeats (lastPlanned > 0 && ((isCrashed && mayRepeat) || isRepetitionOpen))
#else
#define repeats false
#endif

#ifdef ABANDONED_STAYS
#define isReopened false
#else
#define isReopened (isOpen && asked(me) == lastPlanned)
#endif

#ifdef PLANNED_NOT_COMPARED
#define isLater true
#else
#define isLater (asked(me) > lastPlanned)
#endif

/* What the holder sends from now on changes nothing: that leaves fewer states. */
inline leave() {
	if
	:: holder != NOBODY -> request[holder].sent = none
	:: else -> skip
	fi;
	holder = NOBODY
}

/* Too late for a run, and neither run nor missed. */
#ifdef ABANDONED_NOT_EXPIRED
#define isUnsettled false
#else
#define isUnsettled (isReopened && lastAttempt == 1)
#endif
#ifdef RUNNING_EXPIRED
#define isBusy false
#else
#define isBusy isRunning
#endif
#define isTooLate (isLate && (isUnsettled || (isLater && !isBusy)))

inline decide() {
	due = 1;
	if
	:: lastPlanned > 0 && (isSame || repeats || (isReopened && !isLate)) ->
		p = lastPlanned;
		a = lastAttempt;
		if
		:: repeats && !isSame && !isOpen -> a++
		:: else -> skip
		fi
	:: else ->
		p = asked(me);
		a = 1;
		due = isLater && !isLate;
		expires = isTooLate
	fi
}

inline deliverAcquire() {
	request[me].acquire = 0;
	decide();
	if
	:: due && !leased ->
#ifdef AGAIN_NOT_KEPT
		again = ((isSame && lastOutcome != abandoned) -> lastEnd : none);
#else
		again = (isSame -> lastEnd : none);
#endif
#ifdef RERUN
		promise(lastPlanned == 0 || p == lastPlanned || plan[lastPlanned].owed == 0,
			not lost: a later planned time is granted before a crashed run is repeated);
		promise(!forced || p != lastPlanned || a == lastAttempt,
			not repeated: a run that an operator ended is repeated);
#endif
		promise(!plan[p].recorded, settled once: a planned time that was recorded as missed is granted);
		promise(p != asked(me) || !plan[p].tooLate || plan[p].begunBy[1] > 0 || plan[p].doubt || repeats,
			in time: a planned time is granted although it is too late);
		owedBefore = plan[p].owed;
		forced = 0;
		plan[1].passed = plan[1].passed || (p == 2 && plan[1].begunBy[1] == 0 && (lastPlanned == 0 || (lastPlanned == 1 && isOpen)));
		lastPlanned = p;
		lastAttempt = a;
		lastFiring = request[me].id;
		lastAgain = again;
		lastOutcome = none;
		leave();
		holder = me;
		leased = 1;
		if
		:: request[me].state == asking ->
			request[me].planned = p;
			request[me].attempt = a
		:: else -> skip
		fi;
		printf("- %c%d is granted planned time %d, attempt %d, again %e\n", 'A' + firingOf(me), me % TRIES + 1, p, a, again)
	:: !due ->
		if
		:: expires ->
			say(is refused: too late);
			if
			:: request[me].state == asking ->
#ifdef EXPIRED_NOT_COMPARED
				request[me].decided = 1;
#endif
				request[me].state = late
			:: else -> skip
			fi
		:: else ->
			say(is refused: done);
			promise(lastPlanned != asked(me) || lastOutcome != abandoned || plan[asked(me)].begunBy[1] > 0 || plan[asked(me)].doubt,
				open again: a planned time that never began was refused)
		fi
	:: else -> say(is refused: the lock is held)
	fi;
	request[me].id = 0;
	p = 0;
	a = 0;
	due = 0;
	expires = 0;
	again = none
}

/* The record of a planned time that is too late, if the last run is still the one by which that
 * was decided. The answer may be lost; the firing then sends it again. */
#define hasRecorded (plan[asked(me)].recorded && missedBy[asked(me)] == firingOf(me) + 1)
#ifdef HISTORY_NOT_SEARCHED
#define hasExpired (hasRecorded && lastOutcome == missed && lastPlanned == asked(me))
#else
#define hasExpired hasRecorded
#endif

inline deliverExpiry() {
	request[me].id = firing[firingOf(me)].id;
	decide();
#ifdef EXPIRED_NOT_COMPARED
	expires = expires || request[me].decided;
#endif
#ifdef REPORTED_BY_ALL
	due = plan[asked(me)].recorded;
#else
	due = hasExpired;
#endif
	if
	:: !hasExpired && expires ->
		promise(plan[asked(me)].begunBy[1] == 0, settled once: a planned time that has begun is recorded as missed);
		promise(!(lastOutcome == none && leased && holder != NOBODY), settled once: the record of a run that is in progress moves on);
		lastPlanned = asked(me);
		lastAttempt = 0;
		lastFiring = request[me].id;
		lastAgain = none;
		lastOutcome = missed;
		leave();
		plan[asked(me)].recorded = 1;
		missedBy[asked(me)] = firingOf(me) + 1;
		due = 1;
		say(records its planned time as missed)
	:: else -> skip
	fi;
	request[me].id = 0;
	p = 0;
	a = 0;
	expires = 0;
	again = none
}

/* The answer arrives: whether this firing has made the entry. */
inline reportExpiry() {
	request[me].expiry = 0;
	if
	:: due ->
		plan[asked(me)].reports++;
		promise(plan[asked(me)].reports == 1, reported once: two firings report the same missed planned time);
		say(reports its planned time as missed)
	:: else ->
		promise(!hasRecorded, reported once: the firing that recorded a missed planned time does not report it)
	fi;
	request[me].state = done;
	due = 0
}

/* By the id of the request; another holder's release changes nothing. */
#ifdef ABANDON_BY_NAME
#define isHolder (holder != NOBODY)
#else
#define isHolder (holder == me)
#endif

inline release(how) {
	leave();
	leased = 0;
	lastOutcome = how;
	lastAgain = (how == abandoned -> lastAgain : none);
	owedBefore = 0
}

inline crash() {
#ifdef RERUN
	plan[lastPlanned].owed = (lastAttempt == MOST_ATTEMPTS -> 0 : lastAttempt + 1)
#else
	skip
#endif
}

/* --- the clients -------------------------------------------------------------------------------- */

inline begin() {
	request[me].state = running;
	printf("- %c%d begins planned time %d, attempt %d\n", 'A' + firingOf(me), me % TRIES + 1, request[me].planned, request[me].attempt);
	promise(request[me].attempt <= MOST_ATTEMPTS, few attempts: there are more than allowed);
#ifndef RERUN
	promise(request[me].attempt == 1, once: a planned time is attempted again);
#endif
	promise(plan[request[me].planned].begunBy[request[me].attempt] == 0
		|| plan[request[me].planned].begunBy[request[me].attempt] == firingOf(me) + 1,
		once: two firings began the same attempt at a planned time);
#ifdef SETTLED
	promise(!plan[request[me].planned].recorded, settled once: a planned time that was recorded as missed is begun);
	promise(!plan[request[me].planned].passed, settled once: a planned time is begun after a later one had settled it);
#endif
	promise(plan[request[me].planned].finished == 0 || request[me].attempt < plan[request[me].planned].finished,
		not repeated: a planned time that was finished is begun again);
	plan[request[me].planned].begunBy[request[me].attempt] = firingOf(me) + 1;
	if
	:: request[me].attempt >= plan[request[me].planned].owed -> plan[request[me].planned].owed = 0
	:: else -> skip
	fi
}

inline end(how) {
	request[me].sent = (holder == me -> how : none);
	/* A firing that repeated a crashed run asks for its own planned time under another id. */
	if
	:: request[me].planned != asked(me) ->
		firing[firingOf(me)].id = firingOf(me) + FIRINGS;
		request[me].state = over
	:: else -> request[me].state = (how == succeeded -> done : over)
	fi;
	request[me].planned = 0;
	request[me].attempt = 0
}

#define isFirst (me % TRIES == 0)
/* With RERUN, one firing asks once only: that leaves fewer states. */
#ifdef RERUN
#define hasTry (me != 3 || TRIES != 2)
#else
#define hasTry true
#endif
/* A further request of a firing follows one in doubt or refused, a failure, or a repetition. */
#define mayAsk (hasTry && (isFirst || request[me - 1].state == over))

active proctype world() {
	byte me;
	d_step {
		for (me : 0 .. FIRINGS - 1) { firing[me].id = me };
		me = 0
	}
	do
	:: atomic {
		select(me : 0 .. REQUESTS - 1);
		if
		:: d_step { request[me].state == idle && mayAsk ->
			request[me].state = asking;
			request[me].acquire = 1;
			request[me].id = firing[firingOf(me)].id;
			say(sends acquire) }
		:: d_step { request[me].acquire -> deliverAcquire() }
		:: d_step { request[me].state == asking && request[me].planned > 0 -> begin() }
#ifdef SETTLED
		:: d_step { request[me].state == late && !request[me].expiry ->
			request[me].expiry = 1 }
		:: d_step { request[me].expiry -> deliverExpiry(); reportExpiry() }
		:: d_step { request[me].expiry -> deliverExpiry(); due = 0; say(gets no answer) }
#endif
		/* In doubt, or refused. */
		:: d_step { request[me].state == asking ->
			request[me].state = over;
			request[me].planned = 0;
			request[me].attempt = 0;
			request[me].sent = ((request[me].acquire || holder == me) -> abandoned : none);
			say(gives up, and abandons what it may have been granted) }
		:: d_step { request[me].state == running && holder == me && leased ->
			end(succeeded);
			say(ends with success) }
		:: d_step { request[me].state == running ->
			end(failed);
			say(ends with a failure) }
		:: d_step { request[me].state == running ->
			end(lost);
			say(is interrupted, or has lost its lease) }
#ifdef ABANDONED_AFTER_BEGIN
		:: d_step { request[me].state == running ->
			end(abandoned);
			say(has begun, and is abandoned) }
#endif
		:: d_step { request[me].sent == abandoned && isHolder ->
			plan[lastPlanned].owed = owedBefore;
			release(abandoned);
			request[me].sent = none;
			say(is abandoned at the server) }
		:: d_step { request[me].sent == succeeded && holder == me ->
			plan[lastPlanned].owed = 0;
			plan[lastPlanned].finished = lastAttempt;
			release(succeeded);
			say(is released at the server, succeeded) }
		:: d_step { request[me].sent == failed && holder == me ->
			plan[lastPlanned].owed = 0;
			release(failed);
			say(is released at the server, failed) }
		:: d_step { request[me].sent == lost && holder == me ->
			crash();
			release(lost);
			say(is released at the server, lost) }
		:: else -> skip
		fi;
		me = 0
	   }
#ifdef SETTLED
	:: d_step { !plan[1].tooLate -> plan[1].tooLate = 1; printf("- it is too late for planned time 1\n") }
	:: d_step { plan[1].tooLate && !plan[2].tooLate -> plan[2].tooLate = 1; printf("- it is too late for planned time 2\n") }
#endif
	:: d_step { leased && holder != NOBODY ->
		leased = 0;
		plan[lastPlanned].doubt = plan[lastPlanned].doubt || lastOutcome == none;
		crash();
		printf("- the lease ends\n") }
	:: d_step { leased && holder != NOBODY && lastOutcome == none ->
		leave();
#ifndef FORCE_NOT_RECORDED
		lastOutcome = failed;
		lastAgain = none;
#endif
		forced = 1;
		plan[lastPlanned].doubt = 1;
		plan[lastPlanned].owed = 0;
		printf("- an operator forces the release\n") }
	:: d_step { leased && holder == NOBODY -> leased = 0; printf("- the lease ends that was released by force\n") }
	:: d_step { !leased && holder != NOBODY -> leave(); printf("- something else takes the lock, and releases it\n") }
	od
}
