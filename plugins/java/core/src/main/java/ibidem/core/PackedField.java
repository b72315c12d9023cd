package ibidem.core;

import java.util.Arrays;
import java.util.Base64;

/** The field that holds packed values, as engines store it and give it out. */
public final class PackedField {
    public static final String NAME = "ibidem.packed";
    /** The field of stored groups. */
    public static final String GROUP = "ibidem.group";
    /** Under which name a hit carries the groups that its shard found. */
    public static final String GROUPS = "ibidem.groups";
    /** The field of content hashes. */
    public static final String CONTENT = "ibidem.content";
    /** Where an index of ibidem's holds ids. */
    public static final String ID = "ibidem.id";

    private PackedField() {}

    /** Reads the first value of a stored field: a count, then each value's length and bytes; null where there is none. */
    public static byte[] first(byte[] bytes, int from, int size) {
        int[] at = {from};
        int count = number(bytes, at);
        int length = count > 0 ? number(bytes, at) : 0;
        boolean fits = length > 0 && at[0] + length <= from + size;
        return fits ? Arrays.copyOfRange(bytes, at[0], at[0] + length) : null;
    }

    private static int number(byte[] bytes, int[] at) {
        int value = 0;
        for (int shift = 0; shift < Integer.SIZE; shift += 7) {
            byte next = bytes[at[0]++];
            value |= (next & 0x7F) << shift;
            if (next >= 0) {
                break;
            }
        }
        return value;
    }

    /** Reads a hit's value: bytes, or base64 with either alphabet; null where it is neither. */
    public static byte[] read(Object value) {
        if (value == null || value instanceof byte[]) {
            return (byte[]) value;
        }
        try {
            return Base64.getDecoder().decode(value.toString().replace('-', '+').replace('_', '/'));
        } catch (IllegalArgumentException damaged) {
            return null;
        }
    }
}
