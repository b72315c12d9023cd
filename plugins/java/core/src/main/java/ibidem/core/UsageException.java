package ibidem.core;

/** An invalid request, with the problem and the remedy. */
public final class UsageException extends IllegalArgumentException {
    public UsageException(String wrong, String right) {
        super(wrong + "; " + right);
    }
}
