package ibidem.core;

import java.util.Map;

/**
 * The evidence for the level of a pair.
 *
 * @param level the strongest level that the pair reaches
 * @param signature the signature that gives it
 * @param score 0 to 1
 * @param why the signature, its figures and the values of the guards, as an answer shows them
 */
public record Evidence(Level level, String signature, double score, Map<String, Object> why) {}
