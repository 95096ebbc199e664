/*
 * A lock with permits. Each permit is a lock of its own for the server, and an acquire takes
 * any free one. Some callers use a larger number of permits than others, as during a rolling
 * update, and one uses a plain lock. A lease can end at any time, requests can arrive late,
 * and answers can be lost; such a request is given up, and is released without knowing its
 * permit. The lease of one permit is left to lock.pml: a caller trusts it for no longer than
 * the server.
 */

#define MOST 3
#define FEWER 2
#define CALLERS 4
#define NOBODY 0
#define CALLS(id) ((id <= 2) -> 1 : 2)

#define line(...) #__VA_ARGS__
#define say(...) printf(line(- %c __VA_ARGS__\n), 'A' + id - 1)

/* The documents: by whom a permit is held, and the number at the last grant; 0 if plain. */
byte holder[MOST + FEWER + 1];
byte number[MOST + FEWER + 1];

/* The permits that each caller trusts, the number that it uses, and whether it gave up. */
byte trusted[CALLERS + 1];
byte uses[CALLERS + 1];

/* The last permit that a caller may get. */
#ifdef DOCUMENTS_FOR_EACH_NUMBER
#define DOCUMENTS (MOST + FEWER)
#define last(id) ((uses[id] == 0) -> 1 : ((uses[id] == FEWER) -> DOCUMENTS : MOST))
#else
#define DOCUMENTS MOST
#define last(id) ((uses[id] == 0) -> 1 : uses[id])
#endif

byte i;
byte count;
byte largest;

/* No more holders than the largest number among them. */
inline begins(id) {
	d_step {
		say(begins its work);
		count = 0;
		largest = 0;
		i = 1;
		do
		:: i <= CALLERS ->
			if
			:: trusted[i] != 0 ->
				count++;
				largest = ((uses[i] > largest) -> uses[i] : largest)
			:: else -> skip
			fi;
			i++
		:: else -> break
		od;
		largest = ((largest == 0) -> 1 : largest);
		i = 0;
		if
		:: count > largest -> printf(line(broken: at most N: there are more holders than permits\n)); assert(false)
		:: else -> skip
		fi;
		count = 0;
		largest = 0
	}
}

/* What the server does with a request, whenever it arrives: takes any free permit. */
inline apply(id, got) {
	d_step {
		got = 0;
		i = 1;
		count = last(id);
#ifdef DOCUMENTS_FOR_EACH_NUMBER
		i = ((uses[id] == FEWER) -> MOST + 1 : 1);
#endif
		do
		:: i <= count && got == 0 ->
			if
#ifdef PLAIN_IGNORES_PERMITS
			:: holder[i] == NOBODY ->
#else
			:: holder[i] == NOBODY && (uses[id] != 0 || number[i] <= 1) ->
#endif
				got = i;
				holder[i] = id;
#ifdef PLAIN_IGNORES_PERMITS
				if
				:: uses[id] == 0 && number[i] > 1 -> printf(line(broken: plain: a plain lock is granted where others have permits\n)); assert(false)
				:: else -> skip
				fi;
#endif
				number[i] = uses[id];
				say(is granted a permit)
			:: else -> i++
			fi
		:: else -> break
		od;
		i = 0;
		count = 0
	}
}

/* Releases whatever permit the caller has. */
inline release(id) {
	d_step {
		i = 1;
		do
		:: i <= DOCUMENTS ->
			if
#ifdef RELEASE_FIRST_PERMIT
			:: i == 1 -> holder[i] = NOBODY
#else
			:: holder[i] == id -> holder[i] = NOBODY
#endif
			:: else -> skip
			fi;
			i++
		:: else -> break
		od;
		i = 0;
		say(releases its permit)
	}
}

active [CALLERS] proctype caller() {
	byte id = _pid + 1;
	byte got = 0;
	byte read = 0;
	byte calls = 0;

	uses[id] = ((id == 1) -> 0 : ((id == 2) -> FEWER : MOST));
	do
	:: calls < CALLS(id) ->
		calls++;
#ifdef READ_THEN_TAKE
		/* Reads which permit is free, and takes it without comparing. */
		d_step {
			read = 1;
			do
			:: read <= MOST && holder[read] != NOBODY -> read++
			:: else -> break
			od;
			count = 0
		};
		d_step {
			if
			:: read <= last(id) -> got = read; holder[read] = id; number[read] = uses[id]
			:: else -> got = 0
			fi;
			count = 0
		};
#else
		apply(id, got);
#endif
		if
		:: got == 0 || holder[got] != id -> skip
		:: got != 0 ->
			/* The answer is lost, and the request is given up. */
			say(gets no answer);
			release(id)
		/* An answer that arrives after the lease is not used. */
		:: d_step { got != 0 && holder[got] == id -> trusted[id] = got }
			begins(id);
			if
			:: trusted[id] = 0; release(id)
			:: d_step { trusted[id] = 0; say(has lost its lease) }
			fi
		fi;
		got = 0;
		read = 0
	:: else -> break
	od
}

/* Ends a lease only when its holder no longer trusts it. */
active proctype server() {
end:
	do
	:: d_step { holder[1] != NOBODY && trusted[holder[1]] != 1 -> holder[1] = NOBODY }
	:: d_step { holder[2] != NOBODY && trusted[holder[2]] != 2 -> holder[2] = NOBODY }
	:: d_step { holder[3] != NOBODY && trusted[holder[3]] != 3 -> holder[3] = NOBODY }
	od
}
