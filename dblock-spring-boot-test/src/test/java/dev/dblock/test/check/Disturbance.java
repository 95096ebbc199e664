package dev.dblock.test.check;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Date;
import java.util.function.UnaryOperator;

import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;

/**
 * Makes servers out of good ones that keep no locks.
 */
enum Disturbance implements UnaryOperator<MongoDatabase> {

	/** Updates of one document ignore all conditions, as if none was atomic. */
	WITHOUT_CONDITIONS {

		@Override
		Object call(Object target, Method method, Object[] arguments) throws ReflectiveOperationException {
			if (method.getName().equals("updateOne") && arguments[0] instanceof BsonDocument filter) {
				arguments[0] = new BsonDocument("_id", filter.get("_id"));
			}
			return method.invoke(target, arguments);
		}

	},

	/** Each lease that is read has ended long ago, and can be taken over. */
	ENDED_LEASES {

		@Override
		Object call(Object target, Method method, Object[] arguments) throws ReflectiveOperationException {
			Object result = WITHOUT_CONDITIONS.call(target, method, arguments);
			if (method.getName().equals("first") && result instanceof BsonDocument found
					&& found.containsKey("expiresAt")) {
				found.put("expiresAt", new BsonDateTime(new Date(0).getTime()));
			}
			return result;
		}

	},

	/** A take-over does not raise the fence. */
	WITHOUT_RAISED_FENCES {

		@Override
		Object call(Object target, Method method, Object[] arguments) throws ReflectiveOperationException {
			return method.getName().equals("bulkWrite") ? BulkWriteResult.unacknowledged()
					: method.invoke(target, arguments);
		}

	};

	abstract Object call(Object target, Method method, Object[] arguments) throws ReflectiveOperationException;

	@Override
	public MongoDatabase apply(MongoDatabase database) {
		return disturbed(MongoDatabase.class, database);
	}

	private <T> T disturbed(Class<T> type, Object target) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				Object result;
				try {
					result = call(target, method, arguments);
				}
				catch (InvocationTargetException ex) {
					throw ex.getTargetException();
				}
				if (result instanceof MongoDatabase) {
					return disturbed(MongoDatabase.class, result);
				}
				if (result instanceof MongoCollection<?>) {
					return disturbed(MongoCollection.class, result);
				}
				return (result instanceof FindIterable<?>) ? disturbed(FindIterable.class, result) : result;
			}));
	}

}
