package ibidem.core;

/** The name of a document: its index and id. */
public record Name(String index, String id) implements Comparable<Name> {
    /** Returns the id of the document's entry in an index of signatures. */
    public String key() {
        return index + "/" + id;
    }

    @Override
    public int compareTo(Name other) {
        int byIndex = index.compareTo(other.index);
        return byIndex != 0 ? byIndex : id.compareTo(other.id);
    }
}
