package ibidem.core;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Signatures of a long text page by page, or chunk by chunk, and its unique words: {@code long_text.py}. */
final class LongSignatures {
    static final int SLOTS = 34;

    private static final byte[] SCHEME = {'l', 'g', '1', ':'};
    private static final int HEAD = 13;
    private static final int PART_BYTES = 2 * SLOTS + 8 + 4 + 4;
    private static final int CHUNKS = 1;
    private static final int ALPHABETICAL = 2;
    private static final int LEAST_TOKENS = 10;

    /** The kind of its parts: pages or chunks. */
    final String parts;
    /** How many parts there are. */
    final int size;
    /** Eight bytes of each part's profile; 0 for none. */
    final long[] profiles;
    /** Tokens of each part. */
    final long[] tokens;
    /** The part in which each unique word is. */
    final int[] partOfWord;

    final UniqueWords words;

    private final short[] sketches;

    private LongSignatures(ByteBuffer buffer, int flags, int size, int wordCount) {
        this.size = size;
        parts = (flags & CHUNKS) == 0 ? "pages" : "chunks";
        sketches = new short[size * SLOTS];
        profiles = new long[size];
        tokens = new long[size];
        buffer.asShortBuffer().get(sketches);
        buffer.position(buffer.position() + 2 * sketches.length);
        buffer.asLongBuffer().get(profiles);
        buffer.position(buffer.position() + Long.BYTES * size);
        for (int part = 0; part < size; part++) {
            tokens[part] = Integer.toUnsignedLong(buffer.getInt());
        }
        int[] wordCounts = numbers(buffer, size);
        partOfWord = new int[wordCount];
        int at = 0;
        for (int part = 0; part < size; part++) {
            Arrays.fill(partOfWord, at, at += wordCounts[part], part);
        }
        words = new UniqueWords(numbers(buffer, wordCount), (flags & ALPHABETICAL) != 0);
    }

    /** Reads a stored value; null for one that is damaged or of another scheme. */
    static LongSignatures read(byte[] bytes) {
        if (bytes.length < HEAD || Arrays.mismatch(bytes, 0, SCHEME.length, SCHEME, 0, SCHEME.length) >= 0) {
            return null;
        }
        ByteBuffer buffer =
                ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).position(SCHEME.length);
        int flags = buffer.get();
        long parts = Integer.toUnsignedLong(buffer.getInt());
        long words = Integer.toUnsignedLong(buffer.getInt());
        boolean fits = bytes.length == HEAD + parts * PART_BYTES + Integer.BYTES * words;
        if (!fits || (flags & ~(CHUNKS | ALPHABETICAL)) != 0 || countWords(buffer, (int) parts) != words) {
            return null;
        }
        return new LongSignatures(buffer, flags, (int) parts, (int) words);
    }

    /** Counts the unique words of all parts. */
    private static long countWords(ByteBuffer buffer, int parts) {
        ByteBuffer counts = buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        counts.position(buffer.position() + parts * (PART_BYTES - Integer.BYTES));
        long count = 0;
        for (int part = 0; part < parts; part++) {
            count += Integer.toUnsignedLong(counts.getInt());
        }
        return count;
    }

    private static int[] numbers(ByteBuffer buffer, int count) {
        int[] values = new int[count];
        buffer.asIntBuffer().get(values);
        buffer.position(buffer.position() + Integer.BYTES * count);
        return values;
    }

    /** Returns whether a part has signatures, and is not blank or nearly so. */
    boolean filled(int part) {
        return tokens[part] >= LEAST_TOKENS;
    }

    /** Counts the parts that have signatures. */
    int filled() {
        int filled = 0;
        for (int part = 0; part < size; part++) {
            filled += filled(part) ? 1 : 0;
        }
        return filled;
    }

    /** Returns the key of a part's slot: its number and its value. */
    long slot(int part, int slot) {
        return (long) slot << Short.SIZE | sketches[part * SLOTS + slot] & 0xFFFF;
    }
}
