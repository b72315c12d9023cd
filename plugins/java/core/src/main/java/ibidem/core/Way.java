package ibidem.core;

import java.util.Map;

/**
 * How a search is grouped: by stored groups, by equal texts, or by a window; {@code grouped_search/pages.py}.
 *
 * @param rule whose figures decide: {@code request}, or the origin of the index's own
 * @param why why the default took the window; empty if it did not
 * @param request the request with the figures that decide
 */
public record Way(String by, String rule, String why, Request request, State state) {
    public static final String STORED = "stored";
    public static final String CONTENT = "content";
    public static final String WINDOW = "window";
    /** Why groups are not used where signatures are in another index. */
    public static final String BESIDE = "signatures are beside the index, and may be late";

    private static final String OF_REQUEST = "request";
    /** Share of documents without a settled group above which groups are not used unasked. */
    private static final double LACKING = 0.01;

    /** What an index says of its groups. */
    public record State(
            Map<String, ?> checkpoint, // the record of settling; empty where groups were never settled
            long documents,
            long ungrouped, // documents that have no group
            long unsettled, // documents that were written after the last settled write
            int decisions, // manual ones
            boolean hasContent, // whether the index has content hashes
            Policy policy) { // the index's own figures
        /** What an index says that was never settled, or several that were settled apart. */
        public static final State NONE = new State(Map.of(), 0, 0, 0, 0, false, Policy.DEFAULT);

        /** Reads what is kept of an index; null where it is none. */
        @SuppressWarnings("unchecked") // an object in JSON
        static State of(Map<String, ?> entry) {
            Map<String, ?> checkpoint = (Map<String, ?>) entry.get("checkpoint");
            return new State(
                    checkpoint,
                    (Long) entry.get("documents"),
                    (Long) entry.get("ungrouped"),
                    (Long) entry.get("unsettled"),
                    0,
                    (Boolean) entry.get("has_content"),
                    checkpoint.get("policy") instanceof Map<?, ?> figures ? Policy.of(figures) : Policy.DEFAULT);
        }

        /** Returns the same with a number of manual decisions. */
        public State with(int words) {
            return new State(checkpoint, documents, ungrouped, unsettled, words, hasContent, policy);
        }

        boolean is(String name) {
            return Boolean.TRUE.equals(checkpoint.get(name));
        }

        /** Returns how many documents have no settled group. */
        long lacking() {
            return ungrouped + unsettled;
        }

        /** Returns the last settled write of each shard, by its name. */
        public Map<?, ?> done() {
            return checkpoint.get("done") instanceof Map<?, ?> done ? done : Map.of();
        }
    }

    /** Returns how a request is grouped, by the index's own figures where it names none; a lack rules groups out. */
    public static Way choose(Request request, State state, String lack) {
        if (request.by().equals(STORED) && !lack.isEmpty()) {
            throw new UsageException("by=stored is unavailable: " + lack, "use by=window, ibidem.wrap or the gateway");
        }
        Policy own = state.policy;
        Policy policy = request.policy(own);
        Object origin = state.checkpoint.get("origin");
        String rule = !policy.equals(own) ? OF_REQUEST : origin == null ? "default" : origin.toString();
        if (request.by().equals(STORED) && !policy.equals(own)) {
            throw new UsageException(
                    "by=stored cannot be combined with other figures than those that groups are stored with",
                    "leave them out, or use by=window");
        }
        boolean isNamed = !request.by().equals("auto");
        String why = isNamed ? "" : reasonForWindow(request, state, policy, own, lack);
        String by = isNamed ? request.by() : !why.isEmpty() ? WINDOW : policy.near() ? STORED : CONTENT;
        return new Way(by, rule, why, request.with(policy), state).check();
    }

    /** Refuses a window by a learned rule, which has no twin in Java. */
    private Way check() {
        boolean isLearned = state.checkpoint.get("policy") instanceof Map<?, ?> stored && stored.get("learned") != null;
        if (isWindow() && isLearned && !rule.equals(OF_REQUEST)) {
            throw new UsageException(
                    "the rule of the index was learned from labels, which the plugin follows by stored groups alone",
                    "name a preset, or use ibidem.wrap or the gateway");
        }
        return this;
    }

    private static String reasonForWindow(Request request, State state, Policy policy, Policy own, String lack) {
        if (request.values().containsKey("window")) {
            return "window=" + request.values().get("window") + " is given";
        }
        if (!lack.isEmpty()) {
            return lack;
        }
        if (WINDOW.equals(state.checkpoint.get("by"))) {
            return "the index is set to window";
        }
        if (state.done().isEmpty()) {
            return "groups were never settled";
        }
        if (!policy.near()) {
            return reasonAgainstContent(state);
        }
        if (state.is("everything")) {
            return "all documents are being settled again";
        }
        if (!policy.equals(own)) {
            return "groups are stored by other figures";
        }
        return state.lacking() > LACKING * state.documents
                ? state.lacking() + " of " + state.documents + " documents have no settled group"
                : "";
    }

    private static String reasonAgainstContent(State state) {
        if (state.decisions > 0) {
            return "the index has manual decisions";
        }
        if (state.is("guarded")) {
            return "the index has fields that must not differ";
        }
        return state.hasContent ? "" : "the index has no content hashes";
    }

    /** Returns whether a record says that an index was settled. */
    public static boolean isSettled(Object entry) {
        return entry instanceof Map<?, ?> record && record.get("done") instanceof Map<?, ?> done && !done.isEmpty();
    }

    /** Returns the same, or a window where a part of the search cannot be combined with groups of all matches. */
    public Way unless(String part) {
        if (isWindow() || part.isEmpty()) {
            return this;
        }
        if (request.by().equals(STORED)) {
            throw new UsageException(part + " cannot be combined with by=stored", "leave one of them out");
        }
        return new Way(WINDOW, rule, "groups cannot be combined with " + part, request, state).check();
    }

    public boolean isWindow() {
        return by.equals(WINDOW);
    }

    /** Returns the values that the account says of it. */
    public Map<String, Object> account() {
        Map<String, Object> account = Members.of("by", by, "rule", rule);
        if (!why.isEmpty()) {
            account.put("why", why);
        }
        if (!isWindow()) {
            Map<String, Object> counts = Members.of("documents", state.documents, "ungrouped", state.ungrouped);
            counts.put("unsettled", state.unsettled);
            account.put("index", counts);
            if (state.lacking() > 0) {
                account.put("remedy", "settle groups with: ibidem regroup");
            }
        }
        return account;
    }
}
