"""Text: tokens and their classes, hyphenation, hashes of words, shingles, groups of terms."""
