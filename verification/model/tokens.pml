/*
 * The tokens of one name across the clean-up of its document, which takes the last token
 * along. Here time is counted from the beginning, since tokens are made of it: one tick is
 * the server's millisecond, which has fewer tokens than a grant may reserve. So a name that
 * is taken often has tokens that are ahead of the clock.
 */

#define END 8
#define GRANTS 5
#define LEASE 1
#define TOKENS_PER_TICK 2

/* How many tokens a grant reserves. */
#define BLOCK 3

/* By how much the clock of one member is ahead of the other's. */
#define DIFFERENCE 1

#ifdef RETENTION_BELOW_DIFFERENCE
#define RETENTION 0
#else
#define RETENTION 2
#endif

#define max(a, b) (((a) > (b)) -> (a) : (b))

#define line(...) #__VA_ARGS__

/* The document in dblock_locks; without a token it is not there. */
byte token;
byte cleanUpAt;

byte time;
byte ahead;
#define now (time + ahead)

byte grants;
byte newest;

/* The last token of the next block. */
#ifdef COUNTER_ONLY
#define nextToken (token + BLOCK)
#else
#define nextToken max(token + BLOCK, now * TOKENS_PER_TICK + BLOCK - 1)
#endif

#ifdef CLEAN_UP_BY_EXPIRY
#define lastUse (now + LEASE)
#else
#define lastUse max(now + LEASE, token / TOKENS_PER_TICK)
#endif

inline grant() {
	grants++;
	token = nextToken;
	cleanUpAt = lastUse + RETENTION;
	printf("%d granted, tokens %d to %d\n", time, token - BLOCK + 1, token);
	if
	:: token - BLOCK + 1 > newest -> skip
	:: else -> printf(line(broken: rising tokens: a grant has no higher token than an earlier one\n)); assert(false)
	fi;
	newest = token
}

active proctype world() {
	do
	:: d_step { time < END -> time++ }
	:: d_step { ahead = DIFFERENCE - ahead; printf("%d another member becomes primary, its clock %d ahead\n", time, ahead) }
	/* A release leaves cleanUpAt as it is, so a name may be free at any time. */
	:: d_step { grants < GRANTS -> grant() }
	:: d_step { token > 0 -> cleanUpAt = max(cleanUpAt, now + LEASE + RETENTION) }
	:: d_step { token > 0 && cleanUpAt <= now ->
		token = 0;
		cleanUpAt = 0;
		printf("%d the document is cleaned up\n", time) }
	od
}
