package ibidem.core;

/** The numbers of two texts: a guard, since recurring notices have the same words and other figures. */
final class Numbers {
    private static final int FEW = 3;
    private static final double LEAST_SHARE = 1.0 / 3;
    private static final int FORM = 6;
    private static final double FORM_SHARE = 3.0 / 4;
    private static final int NONE = 1 << 16;

    private Numbers() {}

    /** Returns whether they agree: one text has fewer than 3, or a third of the smallest of their union is shared. */
    static boolean agree(Packed a, Packed b) {
        if (Math.min(a.numbers, b.numbers) < FEW) {
            return true;
        }
        return share(a, b) >= LEAST_SHARE;
    }

    /** Returns whether both texts are forms, one in six of whose tokens is a number of its own, and their numbers differ. */
    static boolean formsDiffer(Packed a, Packed b) {
        return isForm(a) && isForm(b) && share(a, b) < FORM_SHARE;
    }

    private static boolean isForm(Packed packed) {
        return (long) FORM * packed.numbers >= packed.length;
    }

    /** Returns the share of the smallest hashes of the union that both have; 1 when there are no numbers. */
    static double share(Packed a, Packed b) {
        int union = 0;
        int common = 0;
        for (int i = 0, j = 0; union < Packed.SKETCH && (i < a.sketchSize || j < b.sketchSize); union++) {
            int left = i < a.sketchSize ? a.number(i) : NONE;
            int right = j < b.sketchSize ? b.number(j) : NONE;
            common += left == right ? 1 : 0;
            i += left <= right ? 1 : 0;
            j += right <= left ? 1 : 0;
        }
        return union == 0 ? 1.0 : (double) common / union;
    }

    /** Returns whether they are the same by count and sketch. */
    static boolean equal(Packed a, Packed b) {
        if (a.numbers != b.numbers || a.sketchSize != b.sketchSize) {
            return false;
        }
        for (int i = 0; i < a.sketchSize; i++) {
            if (a.number(i) != b.number(i)) {
                return false;
            }
        }
        return true;
    }
}
