/** What a shard stores and ranks, for both engines: compiled with the older Lucene of the two, which both run. */
package ibidem.lucene;
