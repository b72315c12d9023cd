"""Words built to have equal `wh1` hashes: what differs in no byte's upper three bits is evened out by a letter each."""

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.text.word_hash import C1, C2, C4, hash_bytes

LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
DIGITS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", np.uint8)
UPPER = np.uint64(0xE0E0E0E0E0E0E0E0)
START = None
Numbers = NDArray[np.uint64]


def stems(count: int, seed: int) -> Numbers:
    """Draw eight letters, as little-endian words."""
    return np.random.default_rng(seed).choice(LETTERS, (count, 8)).view("<u8").ravel()


def laid_over(state: int | None, stem: Numbers) -> Numbers:
    """Return the number that the eight letters after a stem are laid over."""
    if state is START:
        mixed = stem * np.uint64(C1)
        mixed ^= mixed >> np.uint64(32)
    else:
        mixed = (np.uint64(state) ^ stem) * np.uint64(C2)
        mixed ^= mixed >> np.uint64(31)
    return further(mixed)


def further(mixed: Numbers) -> Numbers:
    """Take the step between two words of eight letters."""
    mixed = mixed * np.uint64(C4)
    return mixed ^ mixed >> np.uint64(29)


def evened_out(difference: int) -> tuple[bytes, bytes]:
    """Return two times eight letters that differ by this, byte for byte."""
    letters = LETTERS.tobytes()
    letter_pairs = [
        next((first, first ^ apart) for first in letters if first ^ apart in letters)
        for apart in difference.to_bytes(8, "little")
    ]
    return bytes(first for first, _ in letter_pairs), bytes(second for _, second in letter_pairs)


def pairs(count: int, seed: int = 0, state: int | None = START) -> list[tuple[bytes, bytes]]:
    """Find pairs of sixteen letters that end in the same state of the hash."""
    samples = stems(1 << 17 if count > 1 else 1 << 14, seed)
    states = laid_over(state, samples)
    order = np.argsort(states & UPPER, kind="stable")
    places = np.flatnonzero((states[order][1:] ^ states[order][:-1]) & UPPER == 0)
    results, last = [], -1
    for at in places.tolist():
        first, second = order[at], order[at + 1]
        if at > last and samples[first] != samples[second]:
            last = at + 1
            ends = evened_out(int(states[first] ^ states[second]))
            results.append((samples[first].tobytes() + ends[0], samples[second].tobytes() + ends[1]))
    return results[:count]


def words_of_one_hash(doublings: int) -> list[str]:
    """Find very many words of one hash: each further sixteen letters can be chosen in two ways."""
    words, state = [b""], START
    for step in range(doublings):
        first, second = next(
            collisions[0] for seed in range(99) if (collisions := pairs(1, 1_000 * step + seed, state))
        )
        words = [word + end for word in words for end in (first, second)]
        state = int(further(np.array([state_after(words[0])], np.uint64))[0])
    return [word.decode() for word in words]


def state_after(word: bytes) -> int:
    """Return the hash before its last step, which can be undone."""
    steps = np.frombuffer(word, "<u8").astype(np.uint64)
    mixed = steps[:1] * np.uint64(C1)
    mixed ^= mixed >> np.uint64(32)
    for step in steps[1:]:
        mixed = (further(mixed) ^ step) * np.uint64(C2)
        mixed ^= mixed >> np.uint64(31)
    return int(mixed[0])


def another_word_for(word: str, tries: int = 1 << 24) -> str:
    """Find sixteen letters and figures of the hash of a given word: some ten million tries."""
    state = undone(hash_bytes(word.encode()))
    rng = np.random.default_rng(1)
    allowed = np.zeros(256, bool)
    allowed[DIGITS] = True
    for _ in range(0, tries, 1 << 19):
        stem = rng.choice(LETTERS, (1 << 19, 8)).view("<u8").ravel()
        end = laid_over(START, stem) ^ np.uint64(state)
        end_places = np.flatnonzero(allowed[end.view(np.uint8).reshape(-1, 8)].all(axis=1))
        if end_places.size:
            return (stem[end_places[0]].tobytes() + end[end_places[0]].tobytes()).decode()
    raise LookupError(word)


def undone(hash_: int) -> int:
    """Take back the hash's last step and the one before it, down to what eight letters were laid over."""
    mask = (1 << 64) - 1
    mixed = unshifted(hash_, 29) * pow(0xFF51AFD7ED558CCD, -1, 1 << 64) & mask
    return unshifted(mixed, 31) * pow(C2, -1, 1 << 64) & mask


def unshifted(value: int, shift: int) -> int:
    """Take back `x ⊕ (x >> shift)`."""
    result = value
    for _ in range(64 // shift + 1):
        result = value ^ result >> shift
    return result
