/**
 * The recipes of the documentation: each runs what the page shows on several instances.
 */
package dev.dblock.recipes;
