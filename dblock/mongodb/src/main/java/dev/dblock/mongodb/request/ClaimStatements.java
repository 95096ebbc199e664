package dev.dblock.mongodb.request;

import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.ClaimRecord.Request;
import dev.dblock.claim.Claimed;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * What the statements of both dialects need of claims: their records, which are fields of
 * the documents of the locks, and the rules by which they are granted. Internal: can
 * change in any release.
 */
public interface ClaimStatements {

	/**
	 * Return the statements for the claims that this application can make.
	 * @return those that the {@link ServiceLoader} finds, such as those of jobs;
	 * otherwise statements that support no claims
	 * @throws IllegalStateException if there are several
	 */
	static ClaimStatements installed() {
		List<ServiceLoader.Provider<ClaimStatements>> found = ServiceLoader
			.load(ClaimStatements.class, ClaimStatements.class.getClassLoader())
			.stream()
			.toList();
		if (found.size() > 1) {
			throw new IllegalStateException("Several modules support claims, and only one can: "
					+ found.stream().map((provider) -> provider.type().getName()).toList());
		}
		return found.isEmpty() ? new NoClaims() : found.get(0).get();
	}

	/**
	 * Return the fields of a record.
	 */
	Fields fields(Claim.Key key);

	/**
	 * Return the part of a pipeline that grants a claim.
	 */
	Expressions expressions(Request request);

	/**
	 * Decide about a claim for a grant with classic operators.
	 * @param request the request
	 * @param stored the document as it was read
	 * @param lock the same document, if it is one of ours
	 * @param now milliseconds of the server's clock
	 */
	Grant grant(Request request, @Nullable BsonDocument stored, @Nullable LockDocument lock, long now);

	/**
	 * Decide whether a claim has expired.
	 * @param request the request
	 * @param lock the document
	 * @param now milliseconds of the server's clock
	 * @return how to record it; {@code null} if there is nothing to record
	 */
	@Nullable Expiry expiry(Request request, LockDocument lock, long now);

	/**
	 * Return what a grant recorded.
	 * @param request the request
	 * @param document the document after the grant
	 */
	Claimed claimed(Request request, LockDocument document);

	/**
	 * Explain why a claim was refused.
	 * @param request the request
	 * @param document the document; {@code null} if nothing is stored
	 * @param now milliseconds of the server's clock
	 */
	Refusal refusal(Request request, @Nullable LockDocument document, long now);

	/**
	 * Return the path of the first part of a stored record that no grant can use, because
	 * it was changed by hand or is too large; {@code null} if all can be used.
	 */
	@Nullable String unusable(Claim.Key key, BsonDocument stored);

	/**
	 * Return a record for operators.
	 * @param key the record
	 * @param document the document that contains it
	 * @param now milliseconds of the server's clock
	 */
	ClaimRecord.Status status(Claim.Key key, LockDocument document, long now);

	/**
	 * Return a filter that selects a document if a record is still the same.
	 * @param key the record
	 * @param document the document that contains it
	 */
	BsonDocument asRead(Claim.Key key, LockDocument document);

	/**
	 * Return a filter that selects a document if all its claims are still unpaused.
	 * @param stored the document
	 */
	BsonDocument unpaused(BsonDocument stored);

	/**
	 * Return how a release records the end of a grant.
	 */
	End end(Claim.End end);

	/**
	 * Return how a forced release records the end of a grant.
	 * @param stored the document
	 * @param holder its holder
	 * @return the end; {@code null} if the holder has no claim
	 */
	@Nullable End forced(BsonDocument stored, String holder);

	/**
	 * Return claims that use all operators of a pipeline.
	 * @param id the id of their record
	 * @param text a text that must be sent as a literal
	 * @return the claims; {@code null} if no claims are known
	 */
	@Nullable Rehearsal rehearsal(String id, String text);

	/**
	 * The part of a pipeline that grants a claim.
	 */
	interface Expressions {

		/**
		 * Add the fields that the answer needs.
		 */
		void addTo(BsonDocument projection);

		/**
		 * Add the fields that the answer needs after {@link #replacement}.
		 */
		void addEarlierGrant(BsonDocument projection);

		/**
		 * Return the document after the request.
		 * @param free whether the lock is free
		 * @param grant the fields that a grant sets, without the record
		 */
		BsonDocument replacement(BsonDocument free, BsonDocument grant);

		/**
		 * Return the document after the request in the usual case, by a shorter
		 * expression. In any other case, the claim is refused.
		 * @param free whether the lock is free
		 * @param grant the fields that a grant sets, without the record
		 * @return the expression; {@code null} if there is no shorter one
		 */
		@Nullable BsonDocument usualReplacement(BsonDocument free, BsonDocument grant);

	}

	/**
	 * The part of a grant with classic operators that concerns a claim.
	 */
	interface Grant {

		/**
		 * Return whether the rules grant the claim if the lock is free.
		 */
		boolean isGrantable();

		/**
		 * Add the condition to the filter of a grant that what it was decided by has not
		 * changed since the record was read.
		 */
		void addToFilter(BsonDocument filter);

		/**
		 * Add the record to the update of a grant.
		 * @param grant the update, with the token
		 */
		void addTo(BsonDocument grant);

	}

	/**
	 * The paths of a record's fields.
	 *
	 * @param record the record
	 * @param last what the last grant recorded
	 * @param paused the pause
	 * @param pausedBy the operator that paused the claims
	 * @param pausedAt the date of the pause
	 * @param pausedFrom the same date, which stays when the claims are resumed
	 * @param resumedAt the date at which they were last resumed
	 * @param origin the field that records with other ids share with this one;
	 * {@code null} if there is none
	 */
	record Fields(String record, String last, String paused, String pausedBy, String pausedAt, String pausedFrom,
			String resumedAt, @Nullable String origin) {
	}

	/**
	 * The end of a grant as a release records it.
	 *
	 * @param id the id of the record
	 * @param holder the path of the id of the acquisition that was granted
	 * @param texts the texts that are set, by their paths
	 * @param endedAt the path of the date of the release
	 * @param reopening how the claim is opened to records with other ids; {@code null} if
	 * it is not
	 */
	record End(String id, String holder, Map<String, String> texts, String endedAt, @Nullable Reopening reopening) {
	}

	/**
	 * The change by which a claim whose work never began is open again for records with
	 * other ids, in the same update as its release: otherwise, the next grant could
	 * already regard it as settled.
	 *
	 * @param open selects the document if work for the same claim did not begin before
	 * @param overtaken selects the document if a later claim was settled with another id
	 * since then, so that this one cannot be opened any more
	 * @param lost the end that is recorded in that case
	 * @param before the path of the date of the last claim that was settled before
	 * @param settled the path of the date of the last claim that was settled
	 */
	record Reopening(BsonDocument open, BsonDocument overtaken, End lost, String before, String settled) {
	}

	/**
	 * The record of a claim that has expired.
	 *
	 * @param filter selects the record as it was read
	 * @param fields the fields to set; none if the same claim was recorded before
	 */
	record Expiry(BsonDocument filter, BsonDocument fields) {
	}

	/**
	 * The refusal of a claim.
	 *
	 * @param verdict the reason; {@code null} if the lock is held for another purpose
	 * @param malformed whether no grant can use the record
	 * @param grantable whether the rules would have granted it
	 */
	record Refusal(Claim.@Nullable Verdict verdict, boolean malformed, boolean grantable) {
	}

	/**
	 * Claims that use all operators of a pipeline.
	 *
	 * @param first a claim
	 * @param usual a later one, which is usual
	 * @param other a claim that has no shorter expression
	 * @param end the end of the first two
	 */
	record Rehearsal(Claim first, Claim usual, Claim other, Claim.End end) {
	}

}
