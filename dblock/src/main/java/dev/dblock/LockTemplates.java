package dev.dblock;

/**
 * The bean for applications with several MongoDBs: a {@link LockTemplate} for each.
 *
 * <pre class="code">
 * OrderService(LockTemplates templates) {
 *     this.locks = templates.on("ordersDatabaseFactory");
 * }
 * </pre>
 *
 * A lock lies beside the data that it guards, so that transactions on that data can be
 * fenced by it. Locks of the same name in two databases have nothing in common.
 */
@FunctionalInterface
public interface LockTemplates {

	/**
	 * The locks in one database.
	 * @param databaseFactory the name of a {@code MongoDatabaseFactory} bean; empty for
	 * the one that has the locks unless somebody says otherwise
	 * ({@code dblock.mongodb.database-factory}, or else the primary or only one)
	 * @return the template, which has the same engine at every call
	 * @throws IllegalArgumentException when there is no such bean, with the names of
	 * those that there are
	 */
	LockTemplate on(String databaseFactory);

}
