/** The plugin for Elasticsearch: {@code ext.ibidem} groups the hits on the coordinating node. */
package ibidem.elasticsearch;
