package ibidem.core;

import java.util.List;
import java.util.Map;

/**
 * A manual decision on a pair of documents: it beats all evidence.
 *
 * @param same whether they were declared the same; else no duplicates
 * @param date when, ISO 8601
 * @param contentA content hash of that document at the decision, with its scheme
 */
public record Verdict(
        Name a, Name b, boolean same, String author, String reason, String date, String contentA, String contentB) {
    private static final List<String> TEXTS = List.of("author", "reason", "date", "content_a", "content_b");

    /** Reads a record of the ledger; null where it is none. */
    public static Verdict of(Map<String, ?> record) {
        Name a = name(record.get("a"));
        Name b = name(record.get("b"));
        boolean same = "same".equals(record.get("verdict"));
        boolean isDamaged = TEXTS.stream().anyMatch(each -> record.containsKey(each) && !isText(record.get(each)));
        if (isDamaged || a == null || b == null || a.equals(b) || !same && !"not".equals(record.get("verdict"))) {
            return null;
        }
        return new Verdict(
                a,
                b,
                same,
                text(record, "author"),
                text(record, "reason"),
                text(record, "date"),
                text(record, "content_a"),
                text(record, "content_b"));
    }

    private static Name name(Object pair) {
        return pair instanceof List<?> two && two.size() == 2 && isText(two.get(0)) && isText(two.get(1))
                ? new Name((String) two.get(0), (String) two.get(1))
                : null;
    }

    private static boolean isText(Object value) {
        return value instanceof String;
    }

    private static String text(Map<String, ?> record, String name) {
        return record.get(name) instanceof String text ? text : "";
    }

    /** Returns "same" as evidence at the level of the request. */
    Decision.Evidence evidence(Level level) {
        String signature = Decision.signature(Decision.OVERRIDE);
        Map<String, Object> why = Members.of("signature", signature, "author", author, "reason", reason, "date", date);
        return new Decision.Evidence(level, 1.0, why);
    }

    /** Writes it as a note on a hit. */
    String note(String name, boolean holds) {
        StringBuilder note = new StringBuilder("declared ")
                .append(same ? "the same as " : "not a duplicate of ")
                .append(name);
        String by = author.isEmpty() ? date : "by " + author + (date.isEmpty() ? "" : ", " + date);
        note.append(by.isEmpty() ? "" : " " + by).append(reason.isEmpty() ? "" : ": " + reason);
        return note.append(holds ? "" : " (stale: a text has changed since)").toString();
    }
}
