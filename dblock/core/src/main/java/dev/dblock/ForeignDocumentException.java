package dev.dblock;

/**
 * Thrown if the collection contains a document with the name of the lock that dblock did
 * not write. Such a document is never overwritten.
 */
public class ForeignDocumentException extends LockException {

	private static final long serialVersionUID = 1L;

	public ForeignDocumentException(String name, String collection) {
		super(name,
				("The collection '%s' contains a document with the _id '%s' that is not a dblock lock. dblock did not"
						+ " change it. Give dblock its own collection (dblock.mongodb.collection), or remove the"
						+ " document if nothing else uses it")
					.formatted(collection, name));
	}

}
