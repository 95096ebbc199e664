/**
 * Tests as an application writes them, with the starter and the test support. What
 * {@code docs/testing.md} shows is taken from here.
 */
package com.acme;
