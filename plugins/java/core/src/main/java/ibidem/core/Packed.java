package ibidem.core;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
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
    static final int TITLED = 64;
    static final int NO_DATE = Integer.MIN_VALUE;
    static final int SLOTS = 100;
    static final int BANDS = 33;
    static final int BAND_ROWS = 3;
    static final int LOW_BANDS = 50;
    private static final int LOW_BAND_ROWS = 2;
    private static final int LOW_SLOTS = 44; // equal slots below which bands of two are compared
    static final int FULL_SET = 60;
    static final int SKETCH = 16;
    /** All days that a date can name, the years 1 to 9999, counted from 1980-01-01. */
    private static final int FIRST_DAY = -722_814;

    private static final int LAST_DAY = 2_929_244;
    private static final int KNOWN_FLAGS = WEAK | NO_SET | NO_MINHASH | NO_WORDS | FULL | LONG | TITLED;
    private static final int SCHEME = 4;
    private static final int CONTENT_AT = 26;
    private static final int NUMBERS_AT = 70;
    private static final int HEAD = 103;
    /** What a noise block begins with: its name, its version and its size. */
    private static final int NOISE_BLOCK = 'n' | 1 << 8 | 76 << 16;

    private static final int BLOCK = 4; // bytes of a block before its content

    private static final long LOW_OF_SLOTS = 0x7FFF_7FFF_7FFF_7FFFL; // all bits of four slots but the highest of each
    private static final int TERM_BYTES = 3;
    private static final int BIT_WORDS = 8;
    private static final int BIT_SHIFT = 32 - 9;
    private static final int GOLDEN = 0x9E3779B1;
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle WIDE = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    final int scheme;
    final int flags;
    final long length;
    final long shingles; // distinct five-token shingles
    final int dateFrom;
    final int dateTo;
    final long idf; // the first four bytes of the idf table's name; 0 without one

    final int words; // a hash of them
    final int signs; // a hash of them
    final long contentLow;
    final long contentHigh;
    final long fingerprint;
    final long profile;
    final int source;
    final int guard;
    final int title; // hash of the title; 0 without one
    final int numbers;
    final int sketchSize; // how many hashes of the numbers' sketch ascend; the rest is filling
    final int termCount; // size of the feature set
    final Noise noise; // the noise block, which shows misread words; null if it is empty
    private final byte[] bytes;
    private final int slotCount;
    private final int slotsAt;
    private final String id;
    /** The feature set, and a bit of 512 for each of its terms; null until they are asked for, as of few rows. */
    private int[] terms;

    private long[] bits;
    private int hidden; // terms whose bit another term of the set has too

    private Packed(byte[] bytes, int slotsAt, String id, Noise noise) {
        this.bytes = bytes;
        this.slotsAt = slotsAt + 1;
        this.slotCount = bytes[slotsAt] & 0xFF;
        this.termCount = bytes[HEAD] & 0xFF;
        this.id = id;
        this.noise = noise;
        scheme = bytes[0];
        flags = bytes[1] & 0xFF;
        length = u32(bytes, 2);
        shingles = u32(bytes, 6);
        dateFrom = (int) INT.get(bytes, 10);
        dateTo = (int) INT.get(bytes, 14);
        idf = u32(bytes, 18);
        words = u16(bytes, 22);
        signs = u16(bytes, 24);
        contentLow = (long) WIDE.get(bytes, 26);
        contentHigh = (long) WIDE.get(bytes, 34);
        fingerprint = (long) WIDE.get(bytes, 42);
        profile = (long) WIDE.get(bytes, 50);
        source = (int) INT.get(bytes, 58);
        guard = (int) INT.get(bytes, 62);
        title = (int) INT.get(bytes, 66);
        numbers = bytes[NUMBERS_AT] & 0xFF;
        sketchSize = sketchSize();
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
        int terms = bytes[HEAD] & 0xFF;
        int slotsAt = HEAD + 1 + terms * TERM_BYTES;
        int blocksAt = nameAt + u16(bytes, nameAt - 2);
        int noiseAt = noiseAt(bytes, blocksAt);
        if (noiseAt < 0 || !fits(bytes, terms, bytes[slotsAt] & 0xFF)) {
            return null;
        }
        String id = ascend(bytes, terms) ? text(bytes, nameAt, blocksAt) : null;
        Noise noise = noiseAt == 0 ? null : Noise.read(bytes, noiseAt);
        Packed packed = id == null ? null : new Packed(bytes, slotsAt, id, noise);
        return packed != null && packed.isPossible() ? packed : null;
    }

    /** Returns the id that a value, maybe a damaged one, claims: only the engine can confirm it; null without one. */
    public static String id(byte[] bytes) {
        int nameAt = nameAt(bytes);
        return nameAt < 0 ? null : text(bytes, nameAt, nameAt + u16(bytes, nameAt - 2));
    }

    /** Returns where the id begins; -1 where the value ends before the id does, or is of another scheme. */
    private static int nameAt(byte[] bytes) {
        if (bytes.length <= HEAD || bytes[0] != SCHEME) {
            return -1;
        }
        int slotsAt = HEAD + 1 + (bytes[HEAD] & 0xFF) * TERM_BYTES;
        int slots = slotsAt < bytes.length ? bytes[slotsAt] & 0xFF : 0;
        int nameAt = slotsAt + 1 + slots * 2 + 2;
        if (nameAt >= bytes.length) {
            return -1;
        }
        int size = u16(bytes, nameAt - 2);
        return size > 0 && nameAt + size <= bytes.length ? nameAt : -1;
    }

    /** Returns where the noise block's content begins, behind the id; 0 where there is none, -1 if there are no blocks. */
    private static int noiseAt(byte[] bytes, int from) {
        int noiseAt = 0;
        int last = -1;
        for (int at = from; at < bytes.length; ) {
            int name = bytes[at] & 0xFF;
            int end = at + BLOCK + (at + BLOCK <= bytes.length ? u16(bytes, at + 2) : bytes.length);
            if (name <= last || end > bytes.length) {
                return -1;
            }
            if ((int) INT.get(bytes, at) == NOISE_BLOCK) {
                noiseAt = at + BLOCK;
            }
            last = name;
            at = end;
        }
        return noiseAt;
    }

    /** Returns whether a text can have these figures. */
    private boolean isPossible() {
        return hasWords() == (shingles > 0)
                && hasWords() == ((contentLow | contentHigh) != 0)
                && hasWords() == hasSlots()
                && (hasWords() || termCount == 0)
                && (!titled() || hasWords() && title != 0)
                && Math.max(shingles, numbers) <= length
                && (dateFrom == NO_DATE && dateTo == NO_DATE
                        || FIRST_DAY <= dateFrom && dateFrom <= dateTo && dateTo <= LAST_DAY);
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

    private static boolean ascend(byte[] bytes, int terms) {
        int before = -1;
        for (int i = 0; i < terms; i++) {
            int term = term(bytes, i);
            if (term <= before) {
                return false;
            }
            before = term;
        }
        return true;
    }

    private static int term(byte[] bytes, int which) {
        int at = HEAD + 1 + TERM_BYTES * which;
        return u16(bytes, at) | (bytes[at + 2] & 0xFF) << 16;
    }

    /** Reads the id; null where it is no UTF-8. */
    private static String text(byte[] bytes, int at, int end) {
        int size = end - at;
        for (int i = at; i < end; i++) {
            if (bytes[i] < 0) {
                try {
                    CharsetDecoder strict = StandardCharsets.UTF_8.newDecoder(); // which reports what is malformed
                    return strict.decode(ByteBuffer.wrap(bytes, at, size)).toString();
                } catch (CharacterCodingException damaged) {
                    return null;
                }
            }
        }
        return new String(bytes, at, size, StandardCharsets.ISO_8859_1);
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

    /** Returns the feature set, ascending. */
    int[] terms() {
        if (terms == null) {
            terms = new int[termCount];
            for (int i = 0; i < termCount; i++) {
                terms[i] = term(bytes, i);
            }
        }
        return terms;
    }

    private long[] bits() {
        if (bits == null) {
            bits = new long[BIT_WORDS];
            for (int term : terms()) {
                int bit = term * GOLDEN >>> BIT_SHIFT;
                bits[bit >>> 6] |= 1L << bit;
            }
            hidden = termCount - Arrays.stream(bits).mapToInt(Long::bitCount).sum();
        }
        return bits;
    }

    /** Returns whether two sets may share so many terms, by the bits that they share; never wrong when it says no. */
    boolean mayShare(Packed other, int least) {
        long[] ours = bits();
        long[] theirs = other.bits();
        int common = 0;
        for (int word = 0; word < BIT_WORDS; word++) {
            common += Long.bitCount(ours[word] & theirs[word]);
        }
        return common + Math.min(hidden, other.hidden) >= least;
    }

    /** Returns the beginning of an idf table's name. */
    static String table(long idf) {
        return HexFormat.of().toHexDigits(Integer.reverseBytes((int) idf));
    }

    /** Returns whether there are words: without any a document is a group of its own. */
    boolean hasWords() {
        return length > 0;
    }

    /** Returns whether its title counts, since the text is short. */
    boolean titled() {
        return (flags & TITLED) != 0;
    }

    boolean hasSlots() {
        return slotCount > 0;
    }

    int slot(int at) {
        return u16(bytes, slotsAt + 2 * at);
    }

    /** Returns whether its text has many unknown words. */
    boolean noisy(Policy.Characters rule) {
        return noise != null && noise.noisy(rule);
    }

    /** Writes the keys of the bands; returns where they end. */
    int putBands(long[] into, int at) {
        int bands = hasSlots() ? BANDS : 0;
        for (int band = 0; band < bands; band++) {
            into[at + band] = band(band);
        }
        return at + bands;
    }

    /** Returns whether bands of two slots are compared where so many equal slots are asked for; null asks for none. */
    static boolean hasLowBands(Integer least) {
        return least != null && least < LOW_SLOTS;
    }

    /** Writes the keys of the bands of two slots; returns where they end. */
    int putLowBands(long[] into, int at) {
        int bands = hasSlots() ? LOW_BANDS : 0;
        for (int band = 0; band < bands; band++) {
            into[at + band] = lowBand(band);
        }
        return at + bands;
    }

    /** Returns the key of a band of two slots, and the band's number. */
    long lowBand(int band) {
        return (int) INT.get(bytes, slotsAt + 2 * LOW_BAND_ROWS * band) & 0xFFFFFFFFL | (long) band << 48;
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
        return u16(bytes, NUMBERS_AT + 1 + 2 * at);
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
