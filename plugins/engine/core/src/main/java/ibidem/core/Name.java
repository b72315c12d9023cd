package ibidem.core;

/** What names a document everywhere. */
public record Name(String index, String id) implements Comparable<Name> {
    @Override
    public int compareTo(Name other) {
        int byIndex = index.compareTo(other.index);
        return byIndex != 0 ? byIndex : id.compareTo(other.id);
    }
}
