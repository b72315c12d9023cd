/** The plugin for OpenSearch: {@code ext.ibidem} and search pipelines group the hits on the coordinating node. */
package ibidem.opensearch;
