package ibidem.core;

/** A request that cannot be answered as it is asked: what is wrong, and what would be right. */
public final class UsageException extends IllegalArgumentException {
    public UsageException(String wrong, String right) {
        super(wrong + "; " + right);
    }
}
