/* The loops of signing that numpy takes many passes for, one function each; what each makes is defined by the numpy
 * version beside which it stands, and the tests run over both. Arrays come from numpy, contiguous and large enough;
 * what a function needs for itself it takes and gives back. A function returns a number,
 * -1 where memory is short.
 *
 * Tables are addressed by a hash times `salt`, odd and different in each process: nobody can write a text whose words
 * all fall into one place.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are read as little-endian"
#endif

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

enum { AHEAD = 12 }; /* places of a table that are fetched before they are looked at */

#ifndef SOURCE
#define SOURCE ""
#endif
const char *ibidem_source(void) { return SOURCE; }

/* word_hash.py */

static const u64 C1 = 0x9E3779B97F4A7C15, C2 = 0xC2B2AE3D27D4EB4F, C3 = 0xFF51AFD7ED558CCD, C4 = 0xC4CEB9FE1A85EC53;

static inline u64 finish(u64 mixed) {
    mixed *= C3;
    return mixed ^ mixed >> 29;
}

/* The next eight bytes of a token, zeros behind its end: eight bytes follow the last token of a buffer. */
static inline u64 eight(const u8 *at, i64 left) {
    u64 word;
    memcpy(&word, at, 8);
    return left >= 8 ? word : word & (((u64)1 << 8 * left) - 1);
}

i64 ibidem_hash(const u8 *buffer, const i64 *starts, const i64 *ends, i64 tokens, u64 *hashes, u64 *leading) {
    for (i64 token = 0; token < tokens; token++) {
        const u8 *at = buffer + starts[token];
        i64 left = ends[token] - starts[token];
        u64 first = eight(at, left), mixed = first * C1;
        leading[token] = first;
        mixed ^= mixed >> 32;
        for (at += 8, left -= 8; left > 0; at += 8, left -= 8) {
            mixed *= C4;
            mixed ^= mixed >> 29;
            mixed = (mixed ^ eight(at, left)) * C2;
            mixed ^= mixed >> 31;
        }
        hashes[token] = finish(mixed);
    }
    return 0;
}

/* tokens.py: what stands between spaces; the buffer begins and ends with one. */

WIDE i64 ibidem_count(const u8 *buffer, i64 size) {
    i64 tokens = 0;
    for (i64 at = 1; at < size; at++) tokens += (buffer[at] != ' ') & (buffer[at - 1] == ' ');
    return tokens;
}

/* One bit for each of 64 bytes: set where it is no space. */
static inline u64 letters_of(const u8 *at) {
#ifdef __SSE2__
    u64 mask = 0;
    for (int part = 0; part < 4; part++) {
        __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(at + 16 * part)), _mm_set1_epi8(' '));
        mask |= (u64)(u32)_mm_movemask_epi8(equal) << 16 * part;
    }
    return ~mask;
#else
    u64 mask = 0;
    for (int place = 0; place < 64; place++) mask |= (u64)(at[place] != ' ') << place;
    return mask;
#endif
}

i64 ibidem_cut(const u8 *buffer, i64 size, i64 *starts, i64 *ends) {
    u8 rest[64];
    u64 before = 0;
    for (i64 at = 0; at < size; at += 64) {
        const u8 *block = buffer + at;
        if (size - at < 64) {
            memset(rest, ' ', sizeof rest);
            memcpy(rest, block, (size_t)(size - at));
            block = rest;
        }
        u64 mask = letters_of(block), shifted = mask << 1 | before, begin = mask & ~shifted, end = ~mask & shifted;
        before = mask >> 63;
        for (; begin; begin &= begin - 1) *starts++ = at + __builtin_ctzll(begin);
        for (; end; end &= end - 1) *ends++ = at + __builtin_ctzll(end);
    }
    return 0;
}

/* Where the first hyphen is that a blank follows, behind a small letter or above; -2 where none is. */
i64 ibidem_hyphen(const u8 *buffer, i64 size) {
    for (const u8 *at = buffer; (at = memchr(at, '-', (size_t)(buffer + size - at))); at++)
        if (at > buffer && at + 1 < buffer + size && at[1] <= ' ' && at[-1] >= 'a') return at - buffer;
    return -2;
}

/* The tokens of each document with one space behind each. */
i64 ibidem_join(const u8 *buffer, const i64 *starts, const i64 *ends, const i64 *offsets, i64 documents, u8 *joined,
                 i64 *bounds) {
    u8 *at = joined;
    bounds[0] = 0;
    for (i64 document = 0; document < documents; document++) {
        for (i64 token = offsets[document]; token < offsets[document + 1]; token++) {
            const u8 *from = buffer + starts[token];
            i64 size = ends[token] - starts[token];
            for (i64 done = 0; done < size; done += 8) memcpy(at + done, from + done, 8);
            at += size;
            *at++ = ' ';
        }
        bounds[document + 1] = at - joined;
    }
    return 0;
}

/* term_groups.py */

typedef struct {
    u64 hash;
    i32 word, document, group;
} Entry;

static int unlike(const u8 *buffer, const i64 *starts, const i64 *ends, i64 a, i64 b) {
    i64 size = ends[a] - starts[a];
    return size != ends[b] - starts[b] || memcmp(buffer + starts[a], buffer + starts[b], size);
}

static inline int bits_for(i64 entries) {
    int bits = 4;
    while (((i64)1 << bits) < 2 * entries) bits++;
    return bits;
}

/* Returns the number of groups; `words` becomes that of the words, `one` an occurrence of each. */
i64 ibidem_groups(const u8 *buffer, const i64 *starts, const i64 *ends, const u64 *hashes, const i64 *offsets,
                  i64 documents, u64 salt, i64 *word, i64 *document, i64 *first, i64 *count, i64 *one, i64 *words) {
    i64 tokens = offsets[documents], groups = 0, known = 0, numbered = 0;
    int bits = bits_for(tokens);
    u64 mask = ((u64)1 << bits) - 1;
    i32 *table = calloc((size_t)1 << bits, sizeof(i32));
    Entry *entries = malloc((size_t)(tokens ? tokens : 1) * sizeof(Entry));
    if (!table || !entries) {
        free(table);
        free(entries);
        return -1;
    }
    for (i64 owner = 0; owner < documents; owner++) {
        for (i64 token = offsets[owner]; token < offsets[owner + 1]; token++) {
            u64 hash = hashes[token], place = hash * salt >> (64 - bits);
            if (token + AHEAD < tokens) __builtin_prefetch(table + (hashes[token + AHEAD] * salt >> (64 - bits)), 1);
            while (table[place] && entries[table[place] - 1].hash != hash) place = (place + 1) & mask;
            Entry *entry;
            if (!table[place]) {
                entry = entries + known++;
                table[place] = (i32)known;
                *entry = (Entry){hash, -1, -1, -1};
            } else {
                entry = entries + table[place] - 1;
                if (entry->document == (i32)owner) {
                    count[entry->group]++;
                    continue;
                }
            }
            if (entry->group < 0 || unlike(buffer, starts, ends, token, first[entry->group])) {
                one[numbered] = token;
                entry->word = (i32)numbered++;
            }
            word[groups] = entry->word;
            document[groups] = owner;
            first[groups] = token;
            count[groups] = 1;
            entry->document = (i32)owner;
            entry->group = (i32)groups++;
        }
    }
    free(table);
    free(entries);
    *words = numbered;
    return groups;
}

/* token_classes.py: of tokens in ASCII; returns in `high` which hold other bytes. */
i64 ibidem_shapes(const u8 *buffer, const i64 *starts, const i64 *ends, i64 tokens, u8 *digit, u8 *high) {
    for (i64 token = 0; token < tokens; token++) {
        u8 any = 0, figures = 0;
        for (i64 at = starts[token]; at < ends[token]; at++) {
            any |= buffer[at];
            figures |= (u8)(buffer[at] - '0') < 10;
        }
        high[token] = any >> 7;
        digit[token] = figures;
    }
    return 0;
}

/* shingles.py */

static const u64 SA = 0x6649C8876CE98251, SB = 0xC2D84E846D2B8989, SC = 0xE249EB2067D24289;

static inline u64 shingle(u64 h1, u64 h2, u64 h3, u64 h4, u64 h5) {
    u64 mixed = ((h1 * SA + h2) * SB + (h3 * SA + h4)) * SC + h5;
    return finish(mixed ^ mixed >> 32);
}

i64 ibidem_shingles(const u64 *hashes, const i64 *offsets, i64 documents, u64 *out) {
    for (i64 document = 0; document < documents; document++) {
        i64 start = offsets[document], end = offsets[document + 1], size = end - start;
        const u64 *h = hashes + start;
        if (!size) continue;
        i64 last = size < 5 ? 0 : size - 5;
        if (size < 5)
            out[start] = shingle(h[0], size > 1 ? h[1] : 0, size > 2 ? h[2] : 0, size > 3 ? h[3] : 0, 0);
        else
            for (i64 at = 0; at <= last; at++) out[start + at] = shingle(h[at], h[at + 1], h[at + 2], h[at + 3], h[at + 4]);
        for (i64 at = last + 1; at < size; at++) out[start + at] = out[start + last];
    }
    return 0;
}

/* How many different shingles each document has; a hash of 0 is counted by itself. */
i64 ibidem_distinct(const u64 *hashes, const i64 *offsets, i64 documents, u64 salt, i64 *counts) {
    i64 longest = 0;
    for (i64 document = 0; document < documents; document++) {
        i64 size = offsets[document + 1] - offsets[document];
        if (size > longest) longest = size;
    }
    u64 *table = malloc(sizeof(u64) << bits_for(longest));
    if (!table) return -1;
    for (i64 document = 0; document < documents; document++) {
        i64 start = offsets[document], end = offsets[document + 1], distinct = 0, zero = 0;
        int bits = bits_for(end - start);
        u64 mask = ((u64)1 << bits) - 1;
        memset(table, 0, sizeof(u64) << bits);
        for (i64 at = start; at < end; at++) {
            u64 hash = hashes[at], place = hash * salt >> (64 - bits);
            if (!hash) {
                zero = 1;
                continue;
            }
            while (table[place] && table[place] != hash) place = (place + 1) & mask;
            distinct += !table[place];
            table[place] = hash;
        }
        counts[document] = distinct + zero;
    }
    free(table);
    return 0;
}

/* table.py: the rank of each term, `absent` where there is none. */
i64 ibidem_ranks(const u64 *slots, i64 bits, const u64 *hashes, i64 terms, i64 absent, i64 *ranks) {
    for (i64 term = 0; term < terms; term++) {
        u64 wanted = hashes[term] << 24, rank = (u64)absent;
        const u64 *slot = slots + (hashes[term] >> (64 - bits));
        if (term + AHEAD < terms) __builtin_prefetch(slots + (hashes[term + AHEAD] >> (64 - bits)));
        for (; *slot; slot++)
            if ((*slot ^ wanted) <= (u64)absent) {
                rank = (*slot & (u64)absent) - 1;
                break;
            }
        ranks[term] = (i64)rank;
    }
    return 0;
}

/* rarest_terms.py: groups are document by document. Keys are a rank above 40 bits and the place of a token below. */
static void order_keys(u64 *keys, u64 *spare, i64 size) {
    if (size <= 32) {
        for (i64 at = 1; at < size; at++) {
            u64 one = keys[at];
            i64 to = at;
            for (; to && keys[to - 1] > one; to--) keys[to] = keys[to - 1];
            keys[to] = one;
        }
        return;
    }
    u64 *from = keys, *into = spare;
    for (int shift = 40; shift < 64; shift += 8) {
        i64 starts[257] = {0};
        for (i64 at = 0; at < size; at++) starts[(from[at] >> shift & 0xFF) + 1]++;
        for (int digit = 0; digit < 256; digit++) starts[digit + 1] += starts[digit];
        for (i64 at = 0; at < size; at++) into[starts[from[at] >> shift & 0xFF]++] = from[at];
        u64 *last = from;
        from = into;
        into = last;
    }
    memcpy(keys, from, (size_t)size * sizeof(u64));
}

i64 ibidem_rarest(const i64 *word, const i64 *document, const i64 *first, i64 groups, i64 documents, const i64 *ranks,
                  const u8 *term, const u64 *hashes, i64 allowed, i64 absent, i64 *rank, i64 *place, i64 *offsets,
                  u64 *strange, i64 *strange_offsets) {
    u64 *keys = malloc((size_t)(2 * groups + 1) * sizeof(u64));
    if (!keys) return -1;
    i64 known = 0, unknown = 0, group = 0;
    offsets[0] = strange_offsets[0] = 0;
    for (i64 owner = 0; owner < documents; owner++) {
        i64 size = 0;
        for (; group < groups && document[group] == owner; group++) {
            i64 its = ranks[word[group]];
            if (its == absent) {
                strange[unknown] = hashes[word[group]];
                unknown += term[word[group]];
            } else {
                keys[size] = (u64)its << 40 | (u64)first[group];
                size += its >= allowed;
            }
        }
        order_keys(keys, keys + groups, size);
        for (i64 at = 0; at < size; at++, known++) {
            rank[known] = (i64)(keys[at] >> 40);
            place[known] = (i64)(keys[at] & (((u64)1 << 40) - 1));
        }
        offsets[owner + 1] = known;
        strange_offsets[owner + 1] = unknown;
    }
    free(keys);
    return 0;
}

/* minhash.py */

static const u64 EMPTY = ~(u64)0;

static void drop(const u64 *hashes, i64 size, u64 multiplier, u64 number, i64 k, u64 *slots) {
    u64 top = number << 61;
    for (i64 at = 0; at < size; at++) {
        u64 mixed = hashes[at];
        if (number) {
            mixed *= multiplier;
            mixed ^= mixed >> 29;
            mixed *= C4;
            mixed ^= mixed >> 32;
        }
        u64 *slot = slots + ((mixed >> 32) * (u64)k >> 32), value = top | mixed >> 3;
        if (value < *slot) *slot = value;
    }
}

static u64 own_minimum(const u64 *hashes, i64 size, u64 multiplier) {
    u64 least = EMPTY;
    for (i64 at = 0; at < size; at++) {
        u64 mixed = hashes[at] * multiplier;
        mixed ^= mixed >> 32;
        mixed *= C2;
        if (mixed < least) least = mixed;
    }
    return (u64)7 << 61 | least >> 3;
}

i64 ibidem_sketch(const u64 *hashes, const i64 *offsets, i64 documents, i64 k, const u64 *rounds, i64 last,
                   const u64 *multipliers, u64 *slots) {
    for (i64 document = 0; document < documents; document++, slots += k) {
        const u64 *its = hashes + offsets[document];
        i64 size = offsets[document + 1] - offsets[document], open = k;
        for (i64 slot = 0; slot < k; slot++) slots[slot] = EMPTY;
        if (!size) continue;
        for (i64 number = 0; number <= last && open; number++) {
            drop(its, size, number ? rounds[number - 1] : 1, (u64)number, k, slots);
            open = 0;
            for (i64 slot = 0; slot < k; slot++) open += slots[slot] == EMPTY;
        }
        for (i64 slot = 0; slot < k && open; slot++)
            if (slots[slot] == EMPTY) slots[slot] = own_minimum(its, size, multipliers[slot]);
    }
    return 0;
}

/* noise.py */

enum { RUNS = 64, SHORTEST = 50, SHORT_RUN = 5, LONG_RUN = 7, LONG = 1000, ROUNDS = 8, CHUNK = 1024 };
static const u32 A = 0x9E3779B1, M1 = 0x85EBCA6B, M2 = 0xC2B2AE35;

/* Code points of a stretch of UTF-8, without spaces. */
static i64 spell(const u8 *at, const u8 *end, u32 *letters) {
    u32 *out = letters;
    while (at < end) {
        u32 c = *at++;
        if (c < 0x80) {
            *out = c;
            out += c != ' ';
        } else if (c < 0xE0) {
            *out++ = (c & 0x1F) << 6 | (at[0] & 0x3F);
            at += 1;
        } else if (c < 0xF0) {
            *out++ = (c & 0x0F) << 12 | (u32)(at[0] & 0x3F) << 6 | (at[1] & 0x3F);
            at += 2;
        } else {
            *out++ = (c & 7) << 18 | (u32)(at[0] & 0x3F) << 12 | (u32)(at[1] & 0x3F) << 6 | (at[2] & 0x3F);
            at += 3;
        }
    }
    return out - letters;
}

WIDE static void hash_runs(const u32 *c, i64 runs, int run, u32 *hashes) {
    if (run == SHORT_RUN)
        for (i64 at = 0; at < runs; at++)
            hashes[at] = (((c[at] * A + c[at + 1]) * A + c[at + 2]) * A + c[at + 3]) * A + c[at + 4];
    else
        for (i64 at = 0; at < runs; at++)
            hashes[at] =
                (((((c[at] * A + c[at + 1]) * A + c[at + 2]) * A + c[at + 3]) * A + c[at + 4]) * A + c[at + 5]) * A +
                c[at + 6];
}

WIDE static void mix_runs(const u32 *hashes, i64 size, u32 number, u32 *mixed) {
    for (i64 at = 0; at < size; at++) {
        u32 x = hashes[at] + number * A;
        x ^= x >> 16;
        x *= M1;
        x ^= x >> 13;
        x *= M2;
        mixed[at] = x ^ x >> 16;
    }
}

static void sketch_runs(const u32 *hashes, i64 runs, u8 *slots) {
    u32 mixed[CHUNK], kept[RUNS], least[RUNS];
    memset(kept, 0xFF, sizeof kept);
    for (u32 number = 0, open = RUNS; number < ROUNDS && open; number++) {
        memset(least, 0xFF, sizeof least);
        for (i64 done = 0; done < runs; done += CHUNK) {
            i64 size = runs - done < CHUNK ? runs - done : CHUNK;
            mix_runs(hashes + done, size, number, mixed);
            for (i64 at = 0; at < size; at++) {
                u32 value = mixed[at] & 0x3FFFFFF, *slot = least + (mixed[at] >> 26);
                if (value < *slot) *slot = value;
            }
        }
        open = 0;
        for (int slot = 0; slot < RUNS; slot++) {
            if (kept[slot] == 0xFFFFFFFF) kept[slot] = least[slot];
            open += kept[slot] == 0xFFFFFFFF;
        }
    }
    for (int slot = 0; slot < RUNS; slot++) slots[slot] = kept[slot] == 0xFFFFFFFF ? 0 : (u8)kept[slot];
}

/* `run`: the length of a document's runs, 0 where it is too short; `counts`: its letters. */
i64 ibidem_noise(const u8 *buffer, const i64 *starts, const i64 *ends, const i64 *offsets, i64 documents, u8 *slots,
                 i64 *run, i64 *counts) {
    i64 longest = 0;
    for (i64 document = 0; document < documents; document++) {
        i64 size = offsets[document + 1] - offsets[document];
        size = size ? ends[offsets[document + 1] - 1] - starts[offsets[document]] : 0;
        if (size > longest) longest = size;
    }
    u32 *letters = malloc((size_t)(longest + LONG_RUN) * sizeof(u32));
    u32 *hashes = malloc((size_t)(longest + LONG_RUN) * sizeof(u32));
    if (!letters || !hashes) {
        free(letters);
        free(hashes);
        return -1;
    }
    memset(slots, 0, (size_t)documents * RUNS);
    for (i64 document = 0; document < documents; document++) {
        i64 first = offsets[document], end = offsets[document + 1], size = end - first;
        run[document] = counts[document] = 0;
        if (size < SHORTEST) continue;
        i64 spelled = spell(buffer + starts[first], buffer + ends[end - 1], letters);
        i64 wide = size < LONG ? SHORT_RUN : LONG_RUN;
        counts[document] = spelled;
        if (spelled < wide) continue;
        run[document] = wide;
        hash_runs(letters, spelled - wide + 1, (int)wide, hashes);
        sketch_runs(hashes, spelled - wide + 1, slots + document * RUNS);
    }
    free(letters);
    free(hashes);
    return 0;
}

/* numbers.py: groups are document by document; `sketch` has 16 places for each, of which `sizes` are filled. */
i64 ibidem_numbers(const i64 *word, const i64 *document, i64 groups, const u8 *digit, const u64 *hashes, i64 *counts,
                    u16 *sketch, i64 *sizes) {
    for (i64 group = 0; group < groups; group++) {
        if (!digit[word[group]]) continue;
        i64 owner = document[group], size = sizes[owner], at = 0;
        u16 *its = sketch + 16 * owner, hash = (u16)(hashes[word[group]] >> 48);
        counts[owner]++;
        while (at < size && its[at] < hash) at++;
        if (at == 16 || (at < size && its[at] == hash)) continue;
        if (size < 16) sizes[owner] = ++size;
        memmove(its + at + 1, its + at, (size_t)(size - 1 - at) * sizeof(u16));
        its[at] = hash;
    }
    return 0;
}

/* text_profile.py */

typedef struct {
    i64 value, size;
    u64 leading;
    const u8 *at;
} Line;

static inline int is_before(const Line *a, const Line *b) {
    if (a->value != b->value) return a->value > b->value;
    if (a->leading != b->leading) return a->leading < b->leading;
    i64 size = a->size < b->size ? a->size : b->size;
    int differ = memcmp(a->at, b->at, (size_t)size);
    return differ ? differ < 0 : a->size < b->size;
}

/* Merge sort, from runs of eight that are put in order by insertion. */
static void order(Line *lines, Line *spare, i64 size) {
    for (i64 run = 0; run < size; run += 8)
        for (i64 at = run + 1; at < size && at < run + 8; at++) {
            Line one = lines[at];
            i64 to = at;
            for (; to > run && is_before(&one, lines + to - 1); to--) lines[to] = lines[to - 1];
            lines[to] = one;
        }
    for (i64 wide = 8; wide < size; wide *= 2) {
        for (i64 run = 0; run < size; run += 2 * wide) {
            i64 middle = run + wide < size ? run + wide : size, end = run + 2 * wide < size ? run + 2 * wide : size;
            i64 left = run, right = middle;
            for (i64 at = run; at < end; at++) {
                int from_right = left == middle || (right < end && is_before(lines + right, lines + left));
                spare[at] = lines[from_right ? right++ : left++];
            }
        }
        memcpy(lines, spare, (size_t)size * sizeof(Line));
    }
}

static u8 *write_line(const Line *line, u8 *at) {
    u8 digits[20];
    int size = 0;
    memcpy(at, line->at, (size_t)line->size);
    at += line->size;
    *at++ = ' ';
    for (i64 value = line->value; value || !size; value /= 10) digits[size++] = (u8)('0' + value % 10);
    while (size) *at++ = digits[--size];
    *at++ = '\n';
    return at;
}

static i64 value_of(i64 count, i64 highest, int log) {
    if (log) return highest > 1 ? 63 - __builtin_clzll((u64)count) : 1;
    i64 step = (highest + 50) / 100, least = highest > 1 ? 2 : 1;
    step = step > least ? step : least;
    return count / step * step;
}

/* Groups are document by document; `characters` of each word; `bounds` become those of each document's lines. */
i64 ibidem_profiles(const u8 *buffer, const i64 *starts, const i64 *ends, const u64 *leading, const i64 *characters,
                    const i64 *word, const i64 *document, const i64 *count, i64 groups, i64 documents, int log,
                    u8 *text, i64 *bounds, i64 *kept) {
    Line *lines = malloc((size_t)(2 * groups + 1) * sizeof(Line));
    if (!lines) return -1;
    u8 *at = text;
    bounds[0] = 0;
    for (i64 owner = 0, first = 0; owner < documents; owner++) {
        i64 highest = 0, size = 0, group = first;
        for (; group < groups && document[group] == owner; group++)
            if (characters[word[group]] >= 3 && count[group] > highest) highest = count[group];
        for (i64 each = first; each < group; each++) {
            i64 its = word[each], value = characters[its] >= 3 ? value_of(count[each], highest, log) : 0;
            if (!value) continue;
            lines[size++] = (Line){value, ends[its] - starts[its], __builtin_bswap64(leading[its]), buffer + starts[its]};
        }
        first = group;
        kept[owner] = size;
        order(lines, lines + groups, size);
        for (i64 line = 0; line < size; line++) at = write_line(lines + line, at);
        bounds[owner + 1] = at - text;
    }
    free(lines);
    return 0;
}

/* fingerprint.py: of each document up to six terms, in the order of their rarity, at the tokens `first`; what is hashed
 * of the strict fingerprint, then of the binned one. */
static u8 *write_term(const u8 *from, i64 size, i64 place, u8 *at) {
    u8 digits[20];
    int figures = 0;
    memcpy(at, from, (size_t)size);
    at += size;
    *at++ = ':';
    do digits[figures++] = (u8)('0' + place % 10);
    while (place /= 10);
    while (figures) *at++ = digits[--figures];
    *at++ = ' ';
    return at;
}

i64 ibidem_fingerprints(const u8 *buffer, const i64 *starts, const i64 *ends, const i64 *first, const i64 *offsets,
                         i64 documents, i64 most, i64 bin, u8 *text, i64 *bounds) {
    u8 *at = text;
    *bounds++ = 0;
    for (i64 document = 0; document < documents; document++) {
        i64 begin = offsets[document], end = offsets[document + 1], origin = 0;
        if (end - begin > most) end = begin + most;
        for (i64 term = begin; term < end; term++)
            if (term == begin || first[term] < origin) origin = first[term];
        for (i64 wide = 1;; wide = bin) {
            for (i64 term = begin; term < end; term++) {
                i64 token = first[term], place = (token - origin + wide - 1) / wide * wide;
                at = write_term(buffer + starts[token], ends[token] - starts[token], place, at);
            }
            *bounds++ = at - text;
            if (wide == bin) break;
        }
    }
    return 0;
}
