/*
 * Work that its holder runs once more on request. Each caller makes one call: it acquires
 * the lock and runs the work, or asks the holder that it has read. A lease can end at any
 * time, a holder can crash at any time, and the answer to the request that closes the
 * requests can be lost. Exclusion is left to lock.pml.
 */

#define CALLERS 3
#define NOBODY 0

#define line(...) #__VA_ARGS__
#define say(...) printf(line(- %c __VA_ARGS__\n), 'A' + id - 1)

/* The document. */
byte holder;
bool live;
byte asked;
bool closed;

/* Which holder a call was passed on to, until a run begins. */
byte passedOn[CALLERS + 1];

byte i;

inline runBegins(id) {
	d_step {
		say(begins a run);
		/* A run of a holder that has lost the lock may run beside another. */
		i = ((holder == id) -> 1 : CALLERS + 1);
		do
		:: i <= CALLERS -> passedOn[i] = NOBODY; i++
		:: else -> break
		od;
		i = 0
	}
}

/* A holder that has ended its work must have served all that were passed on to it. */
inline hasEnded(id) {
	d_step {
		say(has ended its work);
		i = 1;
		do
		:: i <= CALLERS ->
			if
			:: passedOn[i] == id -> printf(line(broken: served: a holder ended though it was asked to run once more\n)); assert(false)
			:: else -> skip
			fi;
			i++
		:: else -> break
		od;
		i = 0
	}
}

inline ask(id, read, done) {
	d_step {
		if
#ifdef CLOSED_IS_ASKED
		:: holder == read && live ->
#else
		:: holder == read && live && !closed ->
#endif
			asked = id;
			passedOn[id] = holder;
			done = true;
			say(asks the holder)
		:: else -> say(cannot ask)
		fi
	}
}

active [CALLERS] proctype caller() {
	byte id = _pid + 1;
	byte read = NOBODY;
	byte seen = NOBODY;
	byte found = NOBODY;
	bool done = false;

	do
	:: done -> goto end
	:: d_step { !done && (holder == NOBODY || !live) ->
		holder = id;
		live = true;
		asked = NOBODY;
		closed = false;
		say(is granted the lock) }
		break
	:: d_step { !done && holder != NOBODY && live -> read = holder }
		ask(id, read, done)
	od;

running:
	runBegins(id);
	if
	:: say(crashes); goto end
	:: skip
	fi;
closing:
	skip;
#ifdef LOOK_BEFORE_RELEASE
	d_step { found = ((holder == id) -> asked : seen) };
#else
	d_step {
		found = seen;
		if
#ifdef NEW_REQUEST_CLOSED
		:: holder == id -> closed = true; say(closes the requests)
#else
		:: holder == id && asked == seen -> closed = true; say(closes the requests)
		:: holder == id && asked != seen -> found = asked
#endif
		:: holder != id -> skip
		fi
	};
	if
	:: say(gets no answer); goto closing
	:: skip
	fi;
#endif
	if
	:: found != seen -> seen = found; goto running
	:: else -> skip
	fi;
	if
	:: say(crashes); goto end
	:: d_step { holder == id -> holder = NOBODY; say(releases the lock) }
		hasEnded(id)
	:: holder != id -> say(has lost the lock)
	fi;
end:
	skip
}

active proctype server() {
end:
	do
	:: d_step { holder != NOBODY && live -> live = false; printf(line(- the lease ends\n)) }
	od
}
