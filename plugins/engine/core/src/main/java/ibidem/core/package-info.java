/** Grouping of a window of hits by their packed signatures: what the Python layer does, without any engine's class. */
package ibidem.core;
