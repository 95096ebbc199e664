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
 * RERUN repeats what crashed. The weakened forms are macros in capitals, as in lock.pml.
 */

#define FIRINGS 3
#define TRIES 2
#define REQUESTS 6      /* FIRINGS * TRIES */

/* In dblock there are three. */
#define MOST_ATTEMPTS 2

#define NOBODY 255

mtype:state = { idle, asking, running, over };
mtype:outcome = { none, ended, abandoned, lost };

/* --- the document: the lock, and the last run of the job --------------------------------- */

byte holder = NOBODY;
bit leased;                     /* expiresAt is later than now */
bit sameToken;                  /* the token is still that of the last run */

byte lastPlanned;               /* 0: there was no run */
byte lastAttempt;
byte lastFiring;
bit lastAgain;                  /* the same firing was granted it before, and may have run it */
mtype:outcome lastOutcome = none;

/* --- the firings and their requests ------------------------------------------------------- */

typedef Firing {
	byte id                 /* the same for all its requests for one planned time */
};

typedef Request {
	mtype:state state = idle;
	bit acquire;            /* sent, and not delivered yet */
	bit abandon;            /* a release of a request whose work never began */
	bit success;            /* releases after the work */
	bit failure;
	bit loss;               /* the lease ended before the work did */
	byte planned;           /* what was granted; 0 for nothing */
	byte attempt
};

Firing firing[FIRINGS];
Request request[REQUESTS];

#define firingOf(n) ((n) / TRIES)
#define asked(n) ((firingOf(n) == 2) -> 2 : 1)

/* --- what happened, for the promises -------------------------------------------------------- */

typedef Planned {
	byte begunBy[4];        /* the firing that began an attempt, plus 1 */
	byte finished;          /* the attempt that succeeded, as the server knows; 0 for none */
	byte owed;              /* the attempt that has to follow a crashed one; 0 for none */
	bit doubt               /* a lease ended, or an operator ended it, before there was an outcome */
};

Planned plan[3];

byte p;
byte a;
bit due;
bit again;

#define line(...) #__VA_ARGS__
#define promise(condition, ...) \
	if \
	:: (condition) -> skip \
	:: else -> printf(line(broken: __VA_ARGS__\n)); assert(false) \
	fi
#define say(...) printf(line(- %c%d __VA_ARGS__\n), 'A' + firingOf(me), me % TRIES + 1)

/* --- the decision ---------------------------------------------------------------------------- */

#define isSame (lastPlanned > 0 && lastFiring == firing[firingOf(me)].id)
#ifdef AGAIN_REOPENED
#define isOpen (lastOutcome == abandoned)
#else
#define isOpen (lastOutcome == abandoned && !lastAgain)
#endif
#define isRunning (leased && lastOutcome == none && holder != NOBODY)
#define isReleased (holder == NOBODY && sameToken)
#ifdef FINISHED_REPEATED
#define isCrashed (!isRunning)
#else
#define isCrashed ((lastOutcome == none && !isRunning && !isReleased) || lastOutcome == lost)
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

inline decide() {
	due = 1;
	if
	:: lastPlanned > 0 && (isSame || repeats || isReopened) ->
		p = lastPlanned;
		a = lastAttempt;
		if
		:: repeats && !isSame && lastOutcome != abandoned -> a++
		:: else -> skip
		fi
	:: else ->
		p = asked(me);
		a = 1;
		due = isLater
	fi
}

inline deliverAcquire() {
	request[me].acquire = 0;
	decide();
	if
	:: due && !leased ->
		again = isSame && !isOpen;
#ifdef RERUN
		promise(lastPlanned == 0 || p == lastPlanned || plan[lastPlanned].owed == 0,
			not lost: a later planned time is granted before a crashed run is repeated);
#endif
		/* After a retry, the record does not show how the earlier run of the firing ended. */
		plan[p].owed = (again -> 0 : plan[p].owed);
		lastPlanned = p;
		lastAttempt = a;
		lastFiring = firing[firingOf(me)].id;
		lastAgain = again;
		lastOutcome = none;
		holder = me;
		leased = 1;
		sameToken = 1;
		request[me].planned = p;
		request[me].attempt = a;
		printf("- %c%d is granted planned time %d, attempt %d, again %d\n", 'A' + firingOf(me), me % TRIES + 1, p, a, again)
	:: !due ->
		say(is refused: done);
		promise(lastPlanned != asked(me) || lastOutcome != abandoned || plan[asked(me)].begunBy[1] > 0 || plan[asked(me)].doubt,
			open again: a planned time that never began was refused)
	:: else -> say(is refused: the lock is held)
	fi;
	p = 0;
	a = 0;
	due = 0;
	again = 0
}

/* By the id of the request; another holder's release changes nothing. */
#ifdef ABANDON_BY_NAME
#define isHolder (holder != NOBODY)
#else
#define isHolder (holder == me)
#endif

inline release(how) {
	holder = NOBODY;
	leased = 0;
	lastOutcome = how
}

inline crash() {
	plan[lastPlanned].owed = ((lastAgain || lastAttempt == MOST_ATTEMPTS) -> 0 : lastAttempt + 1)
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
	promise(plan[request[me].planned].finished == 0 || request[me].attempt < plan[request[me].planned].finished,
		not repeated: a planned time that was finished is begun again);
	plan[request[me].planned].begunBy[request[me].attempt] = firingOf(me) + 1;
	if
	:: request[me].attempt >= plan[request[me].planned].owed -> plan[request[me].planned].owed = 0
	:: else -> skip
	fi
}

/* A firing that repeated a crashed run asks for its own planned time under another id. */
inline end() {
	request[me].state = over;
#ifdef ID_KEPT_AFTER_REPETITION
	skip
#else
	if
	:: request[me].planned != asked(me) -> firing[firingOf(me)].id = firingOf(me) + FIRINGS
	:: else -> skip
	fi
#endif
}

#define isFirst (me % TRIES == 0)
/* With RERUN, one firing asks once only: that leaves fewer states. */
#ifdef RERUN
#define hasTry (me != 3)
#else
#define hasTry true
#endif
/* A further request of a firing follows one in doubt or refused, a failure, or a repetition. */
#define mayAsk (hasTry && (isFirst || request[me - 1].state == over \
	&& !(request[me - 1].success && request[me - 1].planned == asked(me))))

/*
 * An assumption: a request that was given up is not applied any more once a further request
 * of its firing has been granted and its work has ended.
 */
#ifdef RETRY_OVERTAKES
#define isOvertaken false
#else
#define isOvertaken (isFirst && (request[me + 1].success || request[me + 1].failure || request[me + 1].loss))
#endif

active proctype world() {
	byte me;
	d_step {
		firing[0].id = 0;
		firing[1].id = 1;
		firing[2].id = 2
	}
	do
	:: atomic {
		select(me : 0 .. REQUESTS - 1);
		if
		:: d_step { request[me].state == idle && mayAsk ->
			request[me].state = asking;
			request[me].acquire = 1;
			say(sends acquire) }
		:: d_step { request[me].acquire && !isOvertaken -> deliverAcquire() }
		:: d_step { request[me].state == asking && request[me].planned > 0 -> begin() }
		/* In doubt, or refused. */
		:: d_step { request[me].state == asking ->
			request[me].state = over;
			request[me].abandon = 1;
			say(gives up, and abandons what it may have been granted) }
		:: d_step { request[me].state == running && holder == me && leased ->
			request[me].success = 1;
			say(ends with success);
			end() }
		:: d_step { request[me].state == running ->
			request[me].failure = 1;
			say(ends with a failure);
			end() }
		:: d_step { request[me].state == running && !(holder == me && leased) ->
			request[me].loss = 1;
			say(ends after the loss of its lease);
			end() }
#ifdef ABANDONED_AFTER_BEGIN
		:: d_step { request[me].state == running ->
			request[me].abandon = 1;
			say(has begun, and is abandoned);
			end() }
#endif
		:: d_step { request[me].abandon && isHolder ->
			release(abandoned);
			plan[lastPlanned].owed = ((lastAgain || lastAttempt == 1) -> 0 : lastAttempt);
			say(is abandoned at the server) }
		:: d_step { request[me].success && holder == me ->
			release(ended);
			plan[lastPlanned].owed = 0;
			plan[request[me].planned].finished = request[me].attempt;
			say(is released at the server, succeeded) }
		:: d_step { request[me].failure && holder == me ->
			release(ended);
			plan[lastPlanned].owed = 0;
			say(is released at the server, failed) }
		:: d_step { request[me].loss && holder == me ->
			release(lost);
			crash();
			say(is released at the server, lost) }
		:: else -> skip
		fi;
		me = 0
	   }
	:: d_step { leased && holder != NOBODY ->
		leased = 0;
		plan[lastPlanned].doubt = plan[lastPlanned].doubt || lastOutcome == none;
		crash();
		printf("- the lease ends\n") }
	:: d_step { leased && holder != NOBODY && lastOutcome == none ->
		holder = NOBODY;
		plan[lastPlanned].doubt = 1;
		plan[lastPlanned].owed = 0;
		printf("- an operator forces the release\n") }
	:: d_step { leased && holder == NOBODY -> leased = 0; printf("- the lease ends that was released by force\n") }
	:: d_step { !leased && sameToken -> holder = NOBODY; sameToken = 0; printf("- something else takes the lock, and releases it\n") }
	od
}
