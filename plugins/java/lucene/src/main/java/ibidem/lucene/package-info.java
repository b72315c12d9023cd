/** Stored values and ranking of a shard, for both engines: compiled with the older Lucene of the two. */
package ibidem.lucene;
