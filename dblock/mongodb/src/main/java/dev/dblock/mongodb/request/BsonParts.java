package dev.dblock.mongodb.request;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.BsonValueCodecProvider;
import org.bson.codecs.ValueCodecProvider;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.configuration.CodecRegistry;

/**
 * Factory methods for the parts of statements, and the codecs that encode them.
 */
public final class BsonParts {

	public static final CodecRegistry CODECS = CodecRegistries.fromProviders(new BsonValueCodecProvider(),
			new ValueCodecProvider());

	/** The condition that a field is absent. */
	public static final BsonDocument IS_ABSENT = new BsonDocument("$exists", BsonBoolean.FALSE);

	private BsonParts() {
	}

	/**
	 * Create a document with one field, such as an operator and its operand.
	 * @param field the name of the field
	 * @param value its value
	 * @return the document
	 */
	public static BsonDocument doc(String field, BsonValue value) {
		return new BsonDocument(field, value);
	}

	/**
	 * Create a document with one field that contains an array, such as an operator and
	 * its operands.
	 * @param field the name of the field
	 * @param values the elements of the array
	 * @return the document
	 */
	public static BsonDocument doc(String field, BsonValue... values) {
		return new BsonDocument(field, new BsonArray(Arrays.asList(values)));
	}

	/**
	 * Encode a part that is the same in each request, so that it is encoded only once.
	 * @param part the part
	 * @return the part, which is immutable
	 */
	static BsonDocument encoded(BsonDocument part) {
		return new RawBsonDocument(part, new BsonDocumentCodec());
	}

	/**
	 * Create a text that is evaluated as an expression: a field path or a variable. Never
	 * for text from a caller.
	 * @param expression the expression
	 * @return the expression
	 */
	public static BsonString ref(String expression) {
		return new BsonString(expression);
	}

	/**
	 * Create a literal text inside an expression. Only a text that starts with a dollar
	 * sign would be evaluated; any other text needs no marker.
	 * @param text any text
	 * @return the expression
	 */
	public static BsonValue literal(String text) {
		BsonString value = new BsonString(text);
		return text.startsWith("$") ? new BsonDocument("$literal", value) : value;
	}

	/**
	 * Create an array of literal texts. A server parses it as one expression instead of
	 * one for each text.
	 * @param texts the texts
	 * @return the expression
	 */
	public static BsonDocument literals(String... texts) {
		return new BsonDocument("$literal", new BsonArray(Stream.of(texts).map(BsonString::new).toList()));
	}

	public static BsonString text(String text) {
		return new BsonString(text);
	}

	public static BsonInt64 number(long number) {
		return new BsonInt64(number);
	}

	public static BsonDateTime date(long millis) {
		return new BsonDateTime(millis);
	}

	static <T> BsonDocument anyOf(Collection<T> things, Function<T, String> property) {
		List<BsonString> texts = things.stream().map(property).map(BsonString::new).toList();
		return new BsonDocument("$in", new BsonArray(texts));
	}

}
