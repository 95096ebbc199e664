package dev.dblock;

/**
 * Thrown if the collection contains a document with the name of the lock that dblock did
 * not write. Such a document is never overwritten.
 */
public class ForeignDocumentException extends LockException {

	private static final long serialVersionUID = 1L;

	public ForeignDocumentException(String name, String collection) {
		super(name,
				("The collection '%s' has a document with the _id '%s' that is not a lock of dblock. It was left as it is. "
						+ "Give dblock a collection of its own (dblock.mongodb.collection), "
						+ "or remove that document if nobody needs it")
					.formatted(collection, name));
	}

}
