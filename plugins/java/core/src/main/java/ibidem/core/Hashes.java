package ibidem.core;

import com.dynatrace.hash4j.hashing.Hashing;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.commons.codec.digest.XXHash32;

/** The hashes by which a group and a source are named, the same as Python's. */
final class Hashes {
    private static final int GROUP_DIGITS = 12;

    private Hashes() {}

    /** Names a group by its first occurrence: it keeps its name while that stays the first. */
    static String group(Name first, Level level) {
        byte[] parts =
                String.join("\0", first.index(), level.word(), first.id()).getBytes(StandardCharsets.UTF_8);
        return HexFormat.of()
                .toHexDigits(Hashing.xxh3_64().hashBytesToLong(parts))
                .substring(0, GROUP_DIGITS);
    }

    /** Hashes the name of a source as packed values hold it; 0 only for an empty name. */
    static int source(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (bytes.length == 0) {
            return 0;
        }
        XXHash32 hash = new XXHash32();
        hash.update(bytes, 0, bytes.length);
        return hash.getValue() == 0 ? 1 : (int) hash.getValue();
    }
}
