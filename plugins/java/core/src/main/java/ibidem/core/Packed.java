package ibidem.core;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * One packed value: the values of one document for grouping. Its layout is described in {@code packed.py}.
 *
 * <p>Min-hash slots and the id stay where they are, in the bytes, since most are never looked at.
 */
public final class Packed {
    static final int WEAK = 1;
    static final int NO_SET = 2;
    static final int NO_MINHASH = 4;
    static final int NO_WORDS = 8;
    static final int FULL = 16;
    static final int LONG = 32;
    static final int NO_DATE = Integer.MIN_VALUE;
    static final int SLOTS = 100;
    static final int BANDS = 33;
    static final int BAND_ROWS = 3;
    static final int FULL_SET = 60;
    static final int SKETCH = 16;

    /** All days that a date can name, the years 1 to 9999, counted from 1980-01-01. */
    private static final int FIRST_DAY = -722_814;

    private static final int LAST_DAY = 2_929_244;
    private static final int KNOWN_FLAGS = WEAK | NO_SET | NO_MINHASH | NO_WORDS | FULL | LONG;
    private static final int SCHEME = 2;
    /** The scheme without title and noise, which is read and no longer written. */
    private static final int EARLIER = 1;

    private static final int CONTENT_AT = 26;
    private static final int TITLE_AT = 74;
    private static final int NOISE = 76;
    /** Bytes that scheme 2 has more than scheme 1. */
    private static final int EXTRA_BYTES = 4 + NOISE;

    private static final int HEAD = 107;
    /** All bits of four slots but the highest of each. */
    private static final long LOW_OF_SLOTS = 0x7FFF_7FFF_7FFF_7FFFL;

    private static final int TERM_BYTES = 3;
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle WIDE = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    final int scheme;
    final int flags;
    final long length;
    /** Distinct five-token shingles. */
    final long shingles;

    final int dateFrom;
    final int dateTo;
    final long idf;
    final long contentLow;
    final long contentHigh;
    final long fingerprint;
    final long profile;
    final int source;
    final int guard;
    /** Hash of a short text's title; 0 for a longer text or without a title. */
    final int title;

    final int numbers;
    /** How many hashes of the numbers' sketch ascend; the rest is filling. */
    final int sketchSize;
    /** The feature set, ascending. */
    final int[] terms;
    /** The noise block, which shows misread words; null if it is empty. */
    final Noise noise;
    /** One bit of 512 for each term, to rule out pairs cheaply. */
    final Bits bits;

    private final byte[] bytes;
    private final int numbersAt;
    private final int slotCount;
    private final int slotsAt;
    private final String id;

    private Packed(byte[] bytes, int slotsAt, int[] terms, String id) {
        this.bytes = bytes;
        this.slotsAt = slotsAt + 1;
        this.slotCount = bytes[slotsAt] & 0xFF;
        this.terms = terms;
        this.id = id;
        scheme = bytes[0];
        numbersAt = TITLE_AT + extraBytes(scheme);
        flags = bytes[1] & 0xFF;
        length = u32(bytes, 2);
        shingles = u32(bytes, 6);
        dateFrom = (int) INT.get(bytes, 10);
        dateTo = (int) INT.get(bytes, 14);
        idf = (long) WIDE.get(bytes, 18);
        contentLow = (long) WIDE.get(bytes, 26);
        contentHigh = (long) WIDE.get(bytes, 34);
        fingerprint = (long) WIDE.get(bytes, 42);
        profile = (long) WIDE.get(bytes, 58);
        source = (int) INT.get(bytes, 66);
        guard = (int) INT.get(bytes, 70);
        title = scheme == EARLIER ? 0 : (int) INT.get(bytes, TITLE_AT);
        numbers = bytes[numbersAt] & 0xFF;
        sketchSize = sketchSize();
        noise = scheme == EARLIER ? null : Noise.read(bytes, TITLE_AT + 4);
        bits = Bits.of(terms);
    }

    /**
     * Reads a packed value; null when it is damaged, impossible or of an unknown scheme: its document then counts as
     * unsigned.
     */
    public static Packed read(byte[] bytes) {
        int nameAt = nameAt(bytes);
        if (nameAt < 0 || (bytes[1] & 0xFF & ~KNOWN_FLAGS) != 0) {
            return null;
        }
        int head = HEAD + extraBytes(bytes[0]);
        int terms = bytes[head] & 0xFF;
        int slotsAt = head + 1 + terms * TERM_BYTES;
        if (!fits(bytes, terms, bytes[slotsAt] & 0xFF)) {
            return null;
        }
        int[] codes = codes(bytes, head + 1, terms);
        String id = text(bytes, nameAt);
        Packed packed = codes == null || id == null ? null : new Packed(bytes, slotsAt, codes, id);
        return packed != null && packed.isPossible() ? packed : null;
    }

    /**
     * Returns the id that a packed value claims, which only the engine can confirm; null where none can be found.
     *
     * @param bytes the value, maybe a damaged one
     */
    public static String id(byte[] bytes) {
        int nameAt = nameAt(bytes);
        return nameAt < 0 ? null : text(bytes, nameAt);
    }

    /** Returns where the id begins; -1 where the parts do not add up to the whole. */
    private static int nameAt(byte[] bytes) {
        int head = bytes.length == 0 ? 0 : HEAD + extraBytes(bytes[0]);
        if (bytes.length <= head || bytes[0] != SCHEME && bytes[0] != EARLIER) {
            return -1;
        }
        int slotsAt = head + 1 + (bytes[head] & 0xFF) * TERM_BYTES;
        int slots = slotsAt < bytes.length ? bytes[slotsAt] & 0xFF : 0;
        int nameAt = slotsAt + 1 + slots * 2 + 2;
        return nameAt < bytes.length && u16(bytes, nameAt - 2) == bytes.length - nameAt ? nameAt : -1;
    }

    /** Returns whether a text can have these figures. */
    private boolean isPossible() {
        return hasWords() == (shingles > 0)
                && hasWords() == ((contentLow | contentHigh) != 0)
                && hasWords() == hasSlots()
                && (hasWords() || terms.length == 0)
                && Math.max(shingles, numbers) <= length
                && (dateFrom == NO_DATE && dateTo == NO_DATE
                        || FIRST_DAY <= dateFrom && dateFrom <= dateTo && dateTo <= LAST_DAY);
    }

    private static int extraBytes(int scheme) {
        return scheme == EARLIER ? 0 : EXTRA_BYTES;
    }

    private static boolean fits(byte[] bytes, int terms, int slots) {
        int flags = bytes[1];
        return terms <= FULL_SET
                && (slots == 0 || slots == SLOTS)
                && ((flags & NO_SET) != 0) == (terms == 0)
                && ((flags & NO_MINHASH) != 0) == (slots == 0)
                && ((flags & NO_WORDS) != 0) == (u32(bytes, 2) == 0)
                && ((flags & FULL) == 0 || terms == FULL_SET);
    }

    /** Reads the terms; null where they do not ascend. */
    private static int[] codes(byte[] bytes, int from, int count) {
        int[] codes = new int[count];
        int before = -1;
        for (int i = 0, at = from; i < count; i++, at += TERM_BYTES) {
            int code = u16(bytes, at) | (bytes[at + 2] & 0xFF) << 16;
            if (code <= before) {
                return null;
            }
            codes[i] = before = code;
        }
        return codes;
    }

    /** Reads the id at the end; null where it is no UTF-8. */
    private static String text(byte[] bytes, int at) {
        int size = bytes.length - at;
        for (int i = at; i < bytes.length; i++) {
            if (bytes[i] < 0) {
                return decode(ByteBuffer.wrap(bytes, at, size));
            }
        }
        return new String(bytes, at, size, StandardCharsets.ISO_8859_1);
    }

    private static String decode(ByteBuffer name) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(name)
                    .toString();
        } catch (CharacterCodingException damaged) {
            return null;
        }
    }

    private int sketchSize() {
        int most = Math.min(numbers, SKETCH);
        int size = Math.min(numbers, 1);
        while (size > 0 && size < most && number(size) > number(size - 1)) {
            size++;
        }
        return size;
    }

    public String id() {
        return id;
    }

    /** Returns the name of the idf table. */
    String table() {
        return HexFormat.of().formatHex(bytes, 18, 26);
    }

    /** Returns whether there are words: without any a document is a group of its own. */
    boolean hasWords() {
        return length > 0;
    }

    /** Returns whether its text is long: it has signatures of its parts as well. */
    boolean isLong() {
        return (flags & LONG) != 0;
    }

    boolean hasSlots() {
        return slotCount > 0;
    }

    int slot(int at) {
        return u16(bytes, slotsAt + 2 * at);
    }

    /** Returns whether its text has many unknown words. */
    boolean noisy() {
        return noise != null && noise.noisy;
    }

    /** Writes a key for each slot, its number and its value; returns where they end. */
    int putSlots(long[] into, int at) {
        for (int slot = 0; slot < slotCount; slot++) {
            into[at + slot] = (long) slot << Short.SIZE | slot(slot);
        }
        return at + slotCount;
    }

    /** Writes the keys of the bands; returns where they end. */
    int putBands(long[] into, int at) {
        int bands = hasSlots() ? BANDS : 0;
        for (int band = 0; band < bands; band++) {
            into[at + band] = band(band);
        }
        return at + bands;
    }

    /** Counts the slots that both have alike, four at once; both have slots. */
    int equalSlots(Packed other) {
        int equal = 0;
        for (int at = 0; at < 2 * SLOTS; at += Long.BYTES) {
            long differ = (long) WIDE.get(bytes, slotsAt + at) ^ (long) WIDE.get(other.bytes, other.slotsAt + at);
            equal += Long.bitCount(~((differ & LOW_OF_SLOTS) + LOW_OF_SLOTS | differ | LOW_OF_SLOTS));
        }
        return equal;
    }

    /** Returns the key of a band: three slots and the band's number. */
    long band(int band) {
        int at = slotsAt + 2 * BAND_ROWS * band;
        return ((int) INT.get(bytes, at) & 0xFFFFFFFFL) | (long) u16(bytes, at + 4) << 32 | (long) band << 48;
    }

    /** Returns one of the ascending hashes of the numbers. */
    int number(int at) {
        return u16(bytes, numbersAt + 1 + 2 * at);
    }

    boolean strongFingerprint() {
        return fingerprint != 0 && (flags & WEAK) == 0;
    }

    boolean sameContent(Packed other) {
        return scheme == other.scheme && contentLow == other.contentLow && contentHigh == other.contentHigh;
    }

    /** Returns the prefix of content hashes of this value's scheme. */
    String contentScheme() {
        return "ch" + scheme + ":";
    }

    /** Compares by content hash, then by id. */
    int compareText(Packed other) {
        int byContent =
                Arrays.compareUnsigned(bytes, CONTENT_AT, CONTENT_AT + 16, other.bytes, CONTENT_AT, CONTENT_AT + 16);
        return byContent != 0
                ? byContent
                : Arrays.compareUnsigned(
                        id.getBytes(StandardCharsets.UTF_8), other.id.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the content hash as it is written in an index. */
    public String content() {
        return contentScheme() + (hasWords() ? HexFormat.of().formatHex(bytes, 26, 42) : "none:" + id);
    }

    private static int u16(byte[] bytes, int at) {
        return (short) SHORT.get(bytes, at) & 0xFFFF;
    }

    private static long u32(byte[] bytes, int at) {
        return (int) INT.get(bytes, at) & 0xFFFFFFFFL;
    }
}
