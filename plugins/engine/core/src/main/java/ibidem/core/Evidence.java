package ibidem.core;

import java.util.Map;

/**
 * What puts a pair at its level.
 *
 * @param level the strongest level that the pair reaches
 * @param signature which signature tells it
 * @param score 0 to 1
 * @param why the signature, its figures and the values of the guards, as an answer shows them
 */
public record Evidence(Level level, String signature, double score, Map<String, Object> why) {}
