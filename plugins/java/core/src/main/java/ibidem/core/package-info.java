/**
 * Grouping of a window of hits by their packed signatures, which the Python layer does too, and the flow of a grouped
 * search, without any engine's class.
 */
package ibidem.core;
