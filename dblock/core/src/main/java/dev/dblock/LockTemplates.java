package dev.dblock;

/**
 * The bean for applications with several MongoDB databases: provides a
 * {@link LockTemplate} for each.
 *
 * <pre class="code">
 * OrderService(LockTemplates templates) {
 *     this.locks = templates.on("ordersDatabaseFactory");
 * }
 * </pre>
 *
 * A lock is stored beside the data that it protects, so that transactions on that data
 * can be fenced by it. Locks with the same name in two databases are independent of each
 * other.
 */
@FunctionalInterface
public interface LockTemplates {

	/**
	 * Return the template for the locks in one database.
	 * @param databaseFactory the name of a {@code MongoDatabaseFactory} bean; empty for
	 * the default database ({@code dblock.mongodb.database-factory}, or else the primary
	 * or only one)
	 * @return the template, which has the same engine at every call
	 * @throws IllegalArgumentException if there is no such bean, with the names of the
	 * existing ones
	 */
	LockTemplate on(String databaseFactory);

}
