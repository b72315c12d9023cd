/* The loops of signing and grouping, one function each. What each makes is defined by the plain version in the module named
 * above it, and tests compare the two. Arrays come from numpy, contiguous and large enough;
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

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
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

/* tokens.py: of ASCII letters and digits, letters as small ones; a space for each other byte. */
WIDE i64 ibidem_fold(const u8 *buffer, i64 size, u8 *folded) {
    for (i64 at = 0; at < size; at++) {
        u8 octet = buffer[at], small = octet | 0x20, other = (u8)(octet - '0') < 10 ? octet : ' ';
        folded[at] = (u8)(small - 'a') < 26 ? small : other;
    }
    return 0;
}

/* One bit for each of 64 bytes: set where it is neither a space nor below one. */
static inline u64 letters_of(const u8 *at) {
    u64 mask = 0;
#ifdef __SSE2__
    for (int part = 0; part < 4; part++) {
        __m128i octets = _mm_loadu_si128((const __m128i *)(at + 16 * part)), space = _mm_set1_epi8(' ');
        mask |= (u64)(u32)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(octets, space), space)) << 16 * part;
    }
    return ~mask;
#else
    for (int place = 0; place < 64; place++) mask |= (u64)(at[place] > ' ') << place;
    return mask;
#endif
}

/* The same, set where it is no letter, digit or blank of ASCII; letters and digits that are beyond are not asked for. */
static inline u64 others_of(const u8 *at) {
    u64 mask = 0;
#ifdef __SSE2__
    const __m128i below = _mm_set1_epi8((char)0x80);
    for (int part = 0; part < 4; part++) {
        __m128i octets = _mm_loadu_si128((const __m128i *)(at + 16 * part));
        __m128i small = _mm_sub_epi8(_mm_or_si128(octets, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
        __m128i digit = _mm_sub_epi8(octets, _mm_set1_epi8('0'));
        __m128i plain = _mm_cmplt_epi8(_mm_xor_si128(small, below), _mm_set1_epi8((char)(0x80 + 26)));
        plain = _mm_or_si128(plain, _mm_cmplt_epi8(_mm_xor_si128(digit, below), _mm_set1_epi8((char)(0x80 + 10))));
        plain = _mm_or_si128(plain, _mm_cmpeq_epi8(octets, _mm_set1_epi8(' ')));
        mask |= (u64)(u32)_mm_movemask_epi8(plain) << 16 * part;
    }
    return ~mask;
#else
    for (int place = 0; place < 64; place++) {
        u8 octet = at[place], small = octet | 0x20;
        mask |= (u64)((u8)(small - 'a') >= 26 && (u8)(octet - '0') >= 10 && octet != ' ') << place;
    }
    return mask;
#endif
}

/* The block of 64 bytes at a place, its end filled with spaces. */
static const u8 *block_of(const u8 *text, i64 at, i64 size, u8 *rest) {
    if (size - at >= 64) return text + at;
    memset(rest, ' ', 64);
    return memcpy(rest, text + at, (size_t)(size - at));
}

i64 ibidem_cut(const u8 *buffer, i64 size, i64 *starts, i64 *ends) {
    u8 rest[64];
    u64 before = 0;
    const i64 *first = starts;
    for (i64 at = 0; at < size; at += 64) {
        u64 mask = letters_of(block_of(buffer, at, size, rest)), shifted = mask << 1 | before;
        u64 begin = mask & ~shifted, end = ~mask & shifted;
        before = mask >> 63;
        for (; begin; begin &= begin - 1) *starts++ = at + __builtin_ctzll(begin);
        for (; end; end &= end - 1) *ends++ = at + __builtin_ctzll(end);
    }
    return starts - first;
}

/* Texts with three single letters or eight rising numbers; two bytes are before the first, 64 blanks behind the last. */
i64 ibidem_layout(const u8 *text, const i64 *begins, i64 texts, u8 *found) {
    for (i64 each = 0; each < texts; each++) {
        u8 run[65] = {0}, may = 0; /* numbers of a run before each */
        for (i64 block = begins[each] - 1; block < begins[each + 1]; block += 64)
            for (u64 blanks = ~letters_of(text + block); blanks; blanks &= blanks - 1) {
                const u8 *at = text + block + __builtin_ctzll(blanks);
                int digits = 0, value = 0;
                for (; digits < 4 && (u8)(at[digits + 1] - '0') < 10; digits++) value = 10 * value + at[digits + 1] - '0';
                if (!digits) may |= at[2] == ' ' && at[1] > '>' && at[3] > '>' && at[-1] > '>' && (u8)((at[4] | 32) - 'a') > 25;
                if (digits && value < 64 && run[value + 1] <= run[value]) may |= (run[value + 1] = run[value] + 1) >= 8;
            }
        found[each] = may;
    }
    return 0;
}

/* Where the first hyphen is that a blank follows, behind a small letter or above; -2 where none is. */
i64 ibidem_hyphen(const u8 *buffer, i64 size) {
    for (const u8 *at = buffer; (at = memchr(at, '-', (size_t)(buffer + size - at))); at++)
        if (at > buffer && at + 1 < buffer + size && at[1] <= ' ' && at[-1] >= 'a') return at - buffer;
    return -2;
}

/* signs.py. Shapes that are letters or digits; and those that begin no sign, most characters of a text. */

typedef struct {
    const u8 *text, *shapes;
    i64 size;
} Shapes;

static inline u8 at_(const Shapes *its, i64 at) { return at < 0 || at >= its->size ? '\n' : its->shapes[its->text[at]]; }
static inline int digit_(u8 shape) { return shape == '0' || shape == '^'; }
static inline int word_(u8 shape) { return shape == 'a' || digit_(shape); }

/* Whether a figure follows, behind what may stand before one. */
static int figure_at(const Shapes *its, i64 at, int compared) {
    if (compared && at_(its, at) == '=') at++;
    if (at_(its, at) == ' ') at++;
    if (compared && at_(its, at) == '$') at++;
    if (at_(its, at) == '-') at++;
    if (at_(its, at) == '.') at++;
    return digit_(at_(its, at));
}

static int closed_figure(const Shapes *its, i64 at) {
    int marks = -1;
    if (at_(its, at) == '$') at++;
    for (;; at++) {
        i64 begin = at;
        while (digit_(at_(its, at)) && at - begin < 10) at++;
        if (at == begin || at - begin > 9 || ++marks > 4) return 0;
        if (at_(its, at) != '.') break;
    }
    return marks && at_(its, at + (at_(its, at) == '%')) == ')';
}

static int angle(const Shapes *its, i64 at, u8 before) {
    i64 next = at + 1 + (at_(its, at + 1) == '=');
    if (before != '-' && before != '=' && before != '<' && before != '>' && figure_at(its, at + 1, 1)) return 1;
    if (word_(before)) return word_(at_(its, next));
    return before == ' ' && word_(at_(its, at - 2)) && at_(its, next) == ' ' && word_(at_(its, next + 1));
}

static int plus(const Shapes *its, i64 at, u8 before) {
    u8 next = at_(its, at + 1), after = at_(its, at + 2);
    if (before == '+') return word_(at_(its, at - 2)) && !word_(next) && next != '+';
    return word_(before) && !word_(next) && (next != '+' || (!word_(after) && after != '+'));
}

static int is_sign(const Shapes *its, i64 at, u8 shape, u8 before) {
    u8 next = at_(its, at + 1);
    switch (shape) {
    case '/': return digit_(before) && digit_(next);
    case '-':
        if (digit_(before)) return at_(its, at - 2) == 'a' && strchr(" .)\n", next);
        return before != 'a' && before != '-' && digit_(next == '$' || next == '.' ? at_(its, at + 2) : next);
    case '$':
        if (figure_at(its, at + 1, 0)) return 1; /* fall through */
    case '%': return digit_(before == ' ' ? at_(its, at - 2) : before);
    case '*': return figure_at(its, at + 1, 1);
    case '<':
    case '>': return angle(its, at, before);
    case '=': return before == '<' || before == '>' || before == '!';
    case '+': return plus(its, at, before);
    case '#': return word_(before) && !word_(next);
    case '^': return before == '0';
    case '!': return next == '=' || (next == 'a' && !word_(before) && before != '!' && before != '<');
    case '(': return closed_figure(its, at + 1);
    }
    return shape == '~' || shape == '@';
}

/* Where the signs of a text are, whose bytes have these shapes. A `>` that only others and blanks precede in its line is
 * a quote mark, and counts as nothing. */
i64 ibidem_signs(const u8 *text, i64 size, const u8 *shapes, i64 *positions) {
    Shapes its = {text, shapes, size};
    u8 rest[64];
    i64 found = 0, quoted = -1;
    for (i64 block = 0; block < size; block += 64) {
        for (u64 others = others_of(block_of(text, block, size, rest)); others; others &= others - 1) {
            i64 at = block + __builtin_ctzll(others);
            u8 shape = shapes[text[at]];
            if (shape == '_') continue;
            if (shape == '.') { /* most of all, and few within a figure */
                if (digit_(at_(&its, at + 1)) && digit_(at_(&its, at - 1))) positions[found++] = at;
                continue;
            }
            if (shape == '>') {
                i64 back = at - 1;
                while (at_(&its, back) == ' ') back--;
                if (at_(&its, back) == '\n' || (quoted >= 0 && back == quoted)) {
                    quoted = at;
                    continue;
                }
            }
            if (is_sign(&its, at, shape, at && quoted == at - 1 ? '_' : at_(&its, at - 1))) positions[found++] = at;
        }
    }
    return found;
}

static u8 *write_number(u8 *out, i64 number) {
    u8 digits[20];
    int size = 0;
    do digits[size++] = (u8)('0' + number % 10);
    while (number /= 10);
    while (size) *out++ = digits[--size];
    return out;
}

static u8 *write_utf8(u8 *out, u32 point) {
    int more = (point >= 0x80) + (point >= 0x800) + (point >= 0x10000);
    *out++ = (u8)((more ? 0xFF00 >> (more + 1) : 0) | point >> 6 * more);
    while (more--) *out++ = (u8)(0x80 | (point >> 6 * more & 0x3F));
    return out;
}

/* The signs of each document with the number of its words that begin before, one space behind each. */
i64 ibidem_write_signs(const i64 *starts, i64 tokens, const i64 *positions, const u32 *characters, i64 signs,
                       const i64 *begins, const i64 *offsets, i64 documents, u8 *text, i64 *bounds) {
    enum { STRIDE = 16 };
    u8 *out = text;
    i64 sign = 0, token = 0;
    bounds[0] = 0;
    for (i64 document = 0; document < documents; document++) {
        for (; sign < signs && positions[sign] < begins[document + 1]; sign++) {
            while (token + STRIDE <= tokens && starts[token + STRIDE - 1] < positions[sign]) token += STRIDE;
            while (token < tokens && starts[token] < positions[sign]) token++;
            out = write_utf8(write_number(out, token - offsets[document]), characters[sign]);
            *out++ = ' ';
        }
        bounds[document + 1] = out - text;
    }
    return 0;
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

/* terms.py: groups of equal tokens */

typedef struct {
    u64 hash;
    i32 word, document, group, size;
} Entry;

/* Tokens of eight bytes and fewer are equal where their hashes are: no look at their letters, which are far away. */
static int unlike(const u8 *buffer, const i64 *starts, i64 size, i64 its_size, i64 a, i64 b) {
    return size != its_size || (size > 8 && memcmp(buffer + starts[a], buffer + starts[b], (size_t)size));
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
                *entry = (Entry){hash, -1, -1, -1, 0};
            } else {
                entry = entries + table[place] - 1;
                if (entry->document == (i32)owner) {
                    count[entry->group]++;
                    continue;
                }
            }
            i64 size = ends[token] - starts[token];
            if (entry->group < 0 || unlike(buffer, starts, size, entry->size, token, first[entry->group])) {
                one[numbered] = token;
                entry->word = (i32)numbered++;
                entry->size = (i32)size;
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

/* terms.py: of tokens in ASCII; returns in `high` which hold other bytes. */
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

/* word_hash.py */

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
    u64 *table = malloc(sizeof(u64) << (1 + bits_for(longest)));
    if (!table) return -1;
    for (i64 document = 0; document < documents; document++) {
        i64 start = offsets[document], end = offsets[document + 1], distinct = 0, zero = 0;
        int bits = 1 + bits_for(end - start); /* a quarter full at most: few hashes meet */
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

/* Put keys in order by their bits from `low` on; those below are in order already, or do not matter. */
static void order_keys(u64 *keys, u64 *spare, i64 size, int low) {
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
    for (int shift = low; shift < 64; shift += 8) {
        i64 starts[257] = {0};
        for (i64 at = 0; at < size; at++) starts[(from[at] >> shift & 0xFF) + 1]++;
        if (starts[(from[0] >> shift & 0xFF) + 1] == size) continue;
        for (int digit = 0; digit < 256; digit++) starts[digit + 1] += starts[digit];
        for (i64 at = 0; at < size; at++) into[starts[from[at] >> shift & 0xFF]++] = from[at];
        u64 *last = from;
        from = into;
        into = last;
    }
    if (from != keys) memcpy(keys, from, (size_t)size * sizeof(u64));
}

/* feature_set.py: groups are document by document. Keys are a rank above 40 bits and the place of a token below. */
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
        order_keys(keys, keys + groups, size, 40);
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

/* feature_set.py: of each document the first `most` ranks, where it has `least`; where it has fewer than `most`, the lowest
 * codes of its terms that are not in the table follow, `size` and above. Returns how many codes there are. */
i64 ibidem_features(const i64 *rank, const i64 *offsets, const u64 *strange, const i64 *strange_offsets, i64 documents,
                    i64 size, i64 range, i64 least, i64 most, i64 *codes, i64 *counts) {
    u64 *keys = malloc((size_t)(2 * strange_offsets[documents] + 1) * sizeof(u64));
    i64 *out = codes;
    if (!keys) return -1;
    for (i64 document = 0; document < documents; document++) {
        const i64 *its = rank + offsets[document], *begin = out;
        i64 known = offsets[document + 1] - offsets[document], pads = 0;
        if (known > most) known = most;
        if (known < least) known = 0;
        memcpy(out, its, (size_t)known * sizeof(i64));
        out += known;
        if (known && known < most)
            for (i64 at = strange_offsets[document]; at < strange_offsets[document + 1]; at++)
                keys[pads++] = (u64)size + strange[at] % (u64)(range - size);
        order_keys(keys, keys + pads, pads, 0);
        for (i64 at = 0; at < pads && out - begin < most; at++)
            if (!at || keys[at] != keys[at - 1]) *out++ = (i64)keys[at];
        counts[document] = out - begin;
    }
    free(keys);
    return out - codes;
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
        u64 *slot = slots + ((mixed >> 32) * (u64)k >> 32), value = top | mixed >> 3, smallest = *slot;
        *slot = value < smallest ? value : smallest;
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

enum { RUNS = 64, SHORTEST = 50, DENSE_RUN = 3, SHORT_RUN = 5, LONG_RUN = 7, LONG = 1000, ROUNDS = 8, CHUNK = 1024 };
static const u32 A = 0x9E3779B1, M1 = 0x85EBCA6B, M2 = 0xC2B2AE35;

/* bigrams.py: letters that are a syllable or a word. */
static inline int is_hangul(u32 c) { return c - 0xAC00 < 0xD7A4 - 0xAC00; }

static inline int is_dense(u32 c) {
    return c >= 0xE00 &&
           (c - 0x3400 < 0x4DC0 - 0x3400 || c - 0x4E00 < 0xA000 - 0x4E00 || is_hangul(c) || c - 0x3040 < 0x3100 - 0x3040 ||
            c < 0xF00 || c - 0x1000 < 0x10A0 - 0x1000 || c - 0x1780 < 0x1800 - 0x1780 || c - 0x3005 < 0x3008 - 0x3005 ||
            c - 0x31F0 < 0x3200 - 0x31F0 || c - 0xF900 < 0xFB00 - 0xF900 || c - 0x20000 < 0x32400 - 0x20000);
}

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
    if (run == DENSE_RUN)
        for (i64 at = 0; at < runs; at++) hashes[at] = (c[at] * A + c[at + 1]) * A + c[at + 2];
    else if (run == SHORT_RUN)
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
                u32 value = mixed[at] & 0x3FFFFFF, *slot = least + (mixed[at] >> 26), smallest = *slot;
                *slot = value < smallest ? value : smallest; /* no branch: it would be mispredicted */
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
        i64 wide = size < LONG ? SHORT_RUN : LONG_RUN, dense = 0;
        for (i64 at = 0; at < spelled; at++) dense += is_dense(letters[at]);
        if (6 * dense > spelled) wide = DENSE_RUN;
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

/* A letter of an alphabet, which a digit is not. */
static inline int is_alphabetic(u32 c) { return c < 0x530 && c != ' ' && !(c - '0' < 10); }

/* The hash of a bigram where the list lacks it; one place further on. */
static inline i64 keep_unknown(u32 before, u32 letter, const u8 *known, i64 shift, u64 *hash) {
    u64 value = ((u64)before | (u64)letter << 32) * C1;
    value = finish(value ^ value >> 32);
    u64 bit = value >> shift;
    *hash = value;
    return !(known[bit >> 3] >> (bit & 7) & 1);
}

/* bigrams.py: hashes of the bigrams of dense documents that the list lacks, each once, ascending. */
i64 ibidem_bigrams(const u8 *buffer, const i64 *starts, const i64 *ends, const i64 *offsets, i64 documents,
                   const u8 *dense, const u8 *known, i64 shift, u64 *hashes, i64 *bounds) {
    i64 longest = 0, written = 0;
    for (i64 token = 0; token < offsets[documents]; token++)
        if (ends[token] - starts[token] > longest) longest = ends[token] - starts[token];
    u32 *letters = malloc((size_t)(longest + 1) * sizeof(u32));
    i64 most = 0;
    for (i64 document = 0; document < documents; document++) {
        i64 first = offsets[document], end = offsets[document + 1];
        if (dense[document] && end > first && ends[end - 1] - starts[first] > most) most = ends[end - 1] - starts[first];
    }
    u64 *spare = malloc((size_t)(most + 1) * sizeof(u64));
    bounds[0] = 0;
    if (!letters || !spare) {
        free(letters);
        free(spare);
        return -1;
    }
    for (i64 document = 0; document < documents; document++) {
        u64 *its = hashes + written;
        i64 size = 0;
        u32 first = ' ', before = ' ';
        for (i64 token = offsets[document]; dense[document] && token < offsets[document + 1]; token++) {
            i64 spelled = spell(buffer + starts[token], buffer + ends[token], letters);
            for (i64 at = 0; at < spelled; at++) {
                u32 letter = letters[at];
                int joined = at || !(is_hangul(before) || is_hangul(letter));
                if (!joined) before = ' ';
                if (is_dense(letter)) {
                    if (is_dense(before)) {
                        size += keep_unknown(before, letter, known, shift, its + size);
                    } else if (is_dense(first) && is_alphabetic(before)) {
                        size += keep_unknown(first, before, known, shift, its + size);
                        size += keep_unknown(before, letter, known, shift, its + size);
                    }
                }
                first = before;
                before = letter;
            }
        }
        order_keys(its, spare, size, 0);
        i64 kept = 0;
        for (i64 at = 0; at < size; at++)
            if (!kept || its[at] != its[kept - 1]) its[kept++] = its[at];
        written += kept;
        bounds[document + 1] = written;
    }
    free(letters);
    free(spare);
    return written;
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

/* Counts are rounded down to multiples of this; what is below it is dropped. */
static i64 step_of(i64 highest) {
    i64 step = (highest + 50) / 100, least = highest > 1 ? 2 : 1;
    return step < least ? least : step;
}

/* Groups are document by document; `characters` of each word; `bounds` become those of each document's lines. */
i64 ibidem_profiles(const u8 *buffer, const i64 *starts, const i64 *ends, const u64 *leading, const i64 *characters,
                    const i64 *word, const i64 *document, const i64 *count, i64 groups, i64 documents,
                    u8 *text, i64 *bounds, i64 *kept) {
    Line *lines = malloc((size_t)(2 * groups + 1) * sizeof(Line));
    if (!lines) return -1;
    u8 *at = text;
    bounds[0] = 0;
    for (i64 owner = 0, first = 0; owner < documents; owner++) {
        i64 highest = 0, size = 0, group = first;
        for (; group < groups && document[group] == owner; group++)
            if (count[group] > highest && characters[word[group]] >= 3) highest = count[group];
        i64 step = step_of(highest);
        for (i64 each = first; each < group; each++) {
            i64 its = word[each];
            if (count[each] < step || characters[its] < 3) continue;
            i64 value = count[each] - count[each] % step;
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

/* feature_set.py: what is hashed of each document: up to six terms, in the order of their rarity, at the tokens `first`. */
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
                         i64 documents, i64 most, u8 *text, i64 *bounds) {
    u8 *at = text;
    *bounds++ = 0;
    for (i64 document = 0; document < documents; document++) {
        i64 begin = offsets[document], end = offsets[document + 1], origin = 0;
        if (end - begin > most) end = begin + most;
        for (i64 term = begin; term < end; term++)
            if (term == begin || first[term] < origin) origin = first[term];
        for (i64 term = begin; term < end; term++) {
            i64 token = first[term];
            at = write_term(buffer + starts[token], ends[token] - starts[token], token - origin, at);
        }
        *bounds++ = at - text;
    }
    return 0;
}

/* candidates.py */

/* The keys of groups of slots of each row: of a place, and of the slots so far behind it, round about. A row has `width`
 * numbers of `wide` bytes, of which the first `slots` are its slots. */
i64 ibidem_slot_keys(const u8 *numbers, i64 wide, i64 width, i64 slots, const i64 *rows, i64 size, const i64 *places,
                     i64 groups, const i64 *offsets, i64 several, u64 *keys) {
    for (i64 at = 0; at < size; at++) {
        const u8 *its = numbers + rows[at] * width * wide;
        for (i64 group = 0; group < groups; group++, keys++) {
            *keys = (u64)places[group];
            for (i64 one = 0; one < several; one++) {
                i64 slot = places[group] + offsets[one];
                if (slot >= slots) slot -= slots;
                *keys = *keys << 16 | (wide == 1 ? its[slot] : ((const u16 *)its)[slot]);
            }
        }
    }
    return 0;
}

enum { HELD = 1, SHARED = 2, MARKED = 4 };

/* The entries whose key another entry may have, and a marked one too where `marks` are given: most keys stand alone, and
 * a table of bytes that the cache holds tells so of most of them. */
static i64 sieve(const u64 *keys, const u8 *marks, i64 entries, u64 salt, i32 *kept) {
    int bits = bits_for(entries) + 1;
    u8 *seen = calloc((size_t)1 << bits, 1), both = marks ? SHARED | MARKED : SHARED;
    i64 size = 0;
    if (!seen) return -1;
    for (i64 at = 0; at < entries; at++) {
        u8 *place = seen + (keys[at] * salt >> (64 - bits));
        *place |= (u8)((*place & HELD ? SHARED : HELD) | (marks && marks[at] ? MARKED : 0));
    }
    for (i64 at = 0; at < entries; at++) {
        kept[size] = (i32)at;
        size += (seen[keys[at] * salt >> (64 - bits)] & both) == both;
    }
    free(seen);
    return size;
}

typedef struct {
    u64 key;
    i32 holders, mark;
    i64 number;
} Key;

/* Give each entry that is kept the place of its key among `known`; returns how many keys there are. */
static i64 collect(const u64 *keys, const u8 *marks, const i32 *kept, i64 size, u64 salt, Key *known, i32 *table,
                   int bits, i32 *own) {
    u64 mask = ((u64)1 << bits) - 1;
    i64 several = 0;
    for (i64 at = 0; at < size; at++) {
        u64 key = keys[kept[at]], place = key * salt >> (64 - bits);
        while (table[place] && known[table[place] - 1].key != key) place = (place + 1) & mask;
        if (!table[place]) {
            known[several] = (Key){key, 0, !marks, -1};
            table[place] = (i32)++several;
        }
        Key *its = known + table[place] - 1;
        its->holders++;
        its->mark |= marks && marks[kept[at]];
        own[at] = table[place] - 1;
    }
    return several;
}

/* Number the keys that several hold, in their order, and return how many entries these have. */
static i64 number_keys(Key *known, i64 several, u64 salt, const i32 *table, int bits, u64 *order, u64 *spare) {
    u64 mask = ((u64)1 << bits) - 1;
    i64 shared = 0, entries = 0;
    for (i64 at = 0; at < several; at++)
        if (known[at].holders > 1 && known[at].mark) order[shared++] = known[at].key;
    order_keys(order, spare, shared, 0);
    for (i64 number = 0; number < shared; number++) {
        u64 place = order[number] * salt >> (64 - bits);
        while (known[table[place] - 1].key != order[number]) place = (place + 1) & mask;
        Key *its = known + table[place] - 1;
        its->number = number;
        spare[number] = (u64)entries;
        entries += its->holders;
    }
    return entries;
}

/* Of entries, ascending by row: those whose key several hold, one of them with a mark where `marks` are given; by key,
 * then row. Returns how many they are. */
i64 ibidem_shared_keys(const u64 *keys, const i64 *rows, const u8 *marks, i64 entries, u64 salt, i32 *numbers,
                       i32 *holders) {
    size_t room = (size_t)(entries ? entries : 1);
    i32 *kept = malloc(room * sizeof(i32));
    i64 size = kept ? sieve(keys, marks, entries, salt, kept) : -1, written = -1;
    int bits = bits_for(size > 0 ? size : 0);
    room = (size_t)(size > 0 ? size : 1);
    i32 *table = calloc((size_t)1 << bits, sizeof(i32)), *own = malloc(room * sizeof(i32));
    Key *known = malloc(room * sizeof(Key));
    u64 *order = malloc(2 * room * sizeof(u64));
    if (size >= 0 && table && own && known && order) {
        u64 *starts = order + size;
        i64 several = collect(keys, marks, kept, size, salt, known, table, bits, own);
        written = number_keys(known, several, salt, table, bits, order, starts);
        for (i64 at = 0; at < size; at++) {
            i64 number = known[own[at]].number;
            if (number < 0) continue;
            numbers[starts[number]] = (i32)number;
            holders[starts[number]++] = (i32)rows[kept[at]];
        }
    }
    free(kept);
    free(table);
    free(own);
    free(known);
    free(order);
    return written;
}

static i64 size_of(const i32 *terms, i64 width, i64 filling) {
    i64 size = 0;
    while (size < width && terms[size] < filling) size++;
    return size;
}

/* How many rows have a term: in a table of as many places as there may be terms, or, where few rows have few, in one
 * that the cache holds, addressed by a hash. */
typedef struct {
    i32 *counts, *terms;
    int bits;
} Counts;

enum { SMALL = 20 };

static int make_counts(Counts *made, i64 entries, i64 filling) {
    int bits = bits_for(entries), small = bits <= SMALL;
    size_t room = small ? (size_t)1 << bits : (size_t)filling;
    *made = (Counts){calloc(room, sizeof(i32)), small ? calloc(room, sizeof(i32)) : NULL, small ? bits : 0};
    return made->counts && (!small || made->terms);
}

static inline i32 *count_of(const Counts *known, i32 term) {
    if (!known->bits) return known->counts + term;
    u32 mask = ((u32)1 << known->bits) - 1, place = (u32)term * M2 >> (32 - known->bits);
    while (known->terms[place] && known->terms[place] != term + 1) place = (place + 1) & mask;
    known->terms[place] = term + 1;
    return known->counts + place;
}

/* Those of some terms that several rows have, as their number of rows above 32 bits and the term below, in order. */
static i64 order_terms(const i32 *terms, i64 size, const Counts *known, u64 *keys) {
    i64 several = 0;
    for (const i32 *its = terms; its < terms + size; its++) {
        i32 count = *count_of(known, *its);
        if (count == 1) continue;
        u64 key = (u64)(u32)count << 32 | (u32)*its;
        i64 to = several++;
        for (; to && keys[to - 1] > key; to--) keys[to] = keys[to - 1];
        keys[to] = key;
    }
    return several;
}

/* Of each row's terms the first `prefix[row]` in the order of how many rows have them, without those that no other row
 * has; a row's terms end at the first that is `filling`, which comes last in the order. Returns how many they are. */
i64 ibidem_prefixes(const i32 *terms, i64 width, const i64 *rows, i64 size, const i64 *prefix, i64 filling, i64 *term,
                    i64 *holder) {
    Counts known;
    u64 *keys = malloc((size_t)width * sizeof(u64));
    i64 written = make_counts(&known, size * width, filling) && keys ? 0 : -1;
    for (i64 at = 0; !written && at < size; at++) {
        const i32 *its = terms + rows[at] * width;
        for (i64 one = size_of(its, width, filling); one--;) ++*count_of(&known, its[one]);
    }
    for (i64 at = 0; written >= 0 && at < size; at++) {
        const i32 *its = terms + rows[at] * width;
        i64 own = size_of(its, width, filling), several = order_terms(its, own, &known, keys);
        i64 left = prefix[at] - (own - several), all = several + width - own;
        for (i64 one = 0; one < all && one < left; one++) {
            term[written] = one < several ? (i64)(u32)keys[one] : filling;
            holder[written++] = rows[at];
        }
    }
    free(known.counts);
    free(known.terms);
    free(keys);
    return written;
}

/* pairs.py */

/* The entries that have partners, in the order of their rows. Returns how many they are. */
i64 ibidem_by_row(const i32 *row, const i64 *times, i64 entries, i64 size, i64 *order) {
    i64 *starts = calloc((size_t)size + 1, sizeof(i64));
    if (!starts) return -1;
    for (i64 at = 0; at < entries; at++) starts[row[at] + 1] += times[at] > 0;
    for (i64 at = 0; at < size; at++) starts[at + 1] += starts[at];
    i64 all = starts[size];
    for (i64 at = 0; at < entries; at++)
        if (times[at] > 0) order[starts[row[at]]++] = at;
    free(starts);
    return all;
}

/* Write down which bits are set below `size`, and clear them; `summary` has one for each word of them. */
static i64 *take_bits(u64 *bits, u64 *summary, i64 size, i64 above, i64 *out) {
    for (i64 part = 0; part <= size >> 12; part++)
        for (; summary[part]; summary[part] &= summary[part] - 1) {
            i64 word = part << 6 | __builtin_ctzll(summary[part]);
            for (; bits[word]; bits[word] &= bits[word] - 1) *out++ = above + (word << 6 | __builtin_ctzll(bits[word]));
        }
    return out;
}

/* Entries are ascending by row; each has `times` partners in `others` from `first` on. A row and a partner are a pair
 * where they share a key that is not faint, or `least` that are. Returns how many pairs there are, each written once as
 * row * size + partner, ascending. */
i64 ibidem_pairs(const i64 *row, const u8 *faint, const i64 *first, const i64 *times, i64 entries, const i32 *others,
                 i64 size, i64 least, i64 *pairs) {
    u32 *counts = calloc((size_t)size + 1, sizeof(u32));
    u64 *bits = calloc((size_t)(size >> 6) + 1, sizeof(u64)), *summary = calloc((size_t)(size >> 12) + 1, sizeof(u64));
    i64 *out = pairs;
    if (!counts || !bits || !summary) out = pairs - 1;
    for (i64 at = 0, end = 0; out >= pairs && at < entries; at = end) {
        for (; end < entries && row[end] == row[at]; end++) {
            u32 weight = faint[end] ? 1 : (u32)least;
            for (const i32 *one = others + first[end], *last = one + times[end]; one < last; one++) {
                u32 count = counts[*one];
                counts[*one] = count + weight;
                if (count < (u32)least && count + weight >= (u32)least) {
                    bits[*one >> 6] |= (u64)1 << (*one & 63);
                    summary[*one >> 12] |= (u64)1 << (*one >> 6 & 63);
                }
            }
        }
        for (i64 entry = at; entry < end; entry++)
            for (const i32 *one = others + first[entry], *last = one + times[entry]; one < last; one++) counts[*one] = 0;
        out = take_bits(bits, summary, size, row[at] * size, out);
    }
    free(counts);
    free(bits);
    free(summary);
    return out - pairs;
}

/* decision.py */

/* Which rows have `least` equal slots, and all `high` of one of the first `bands`. */
WIDE i64 ibidem_equal_slots(const u16 *slots, i64 width, const i64 *a, const i64 *b, i64 pairs, i64 least, i64 bands,
                            i64 high, u8 *similar) {
    for (i64 pair = 0; pair < pairs; pair++) {
        const u16 *one = slots + a[pair] * width, *other = slots + b[pair] * width;
        u16 equal = 0;
        for (i64 slot = 0; slot < width; slot++) equal = (u16)(equal + (one[slot] == other[slot]));
        u8 band = 0;
        if (equal >= least)
            for (i64 slot = 0; slot < high * bands && !band; slot += high)
                band = one[slot] == other[slot] && one[slot + 1] == other[slot + 1] &&
                       (high < 3 || one[slot + 2] == other[slot + 2]);
        similar[pair] = band;
    }
    return 0;
}

static i64 shared_of(const i32 *one, const i32 *other, i64 size, i64 its_size) {
    i64 both = 0, at = 0, its = 0;
    while (at < size && its < its_size) {
        i32 left = one[at], right = other[its];
        both += left == right;
        at += left <= right;
        its += right <= left;
    }
    return both;
}

/* How many values two rows share; each row ascends to where its filling begins. */
i64 ibidem_shared_values(const i32 *values, i64 width, const i64 *a, const i64 *b, i64 pairs, i64 filling, i64 *shared) {
    for (i64 pair = 0; pair < pairs; pair++) {
        const i32 *one = values + a[pair] * width, *other = values + b[pair] * width;
        shared[pair] = shared_of(one, other, size_of(one, width, filling), size_of(other, width, filling));
    }
    return 0;
}

/* The same among the `width` smallest of the values of both, and how many these are. */
i64 ibidem_shared_smallest(const i32 *values, i64 width, const i64 *a, const i64 *b, i64 pairs, i64 filling, i64 *shared,
                           i64 *together) {
    for (i64 pair = 0; pair < pairs; pair++) {
        const i32 *one = values + a[pair] * width, *other = values + b[pair] * width;
        i64 both = 0, distinct = 0, left = 0, right = 0;
        while (distinct < width) {
            i32 its = left < width ? one[left] : (i32)filling, that = right < width ? other[right] : (i32)filling;
            if (its >= filling && that >= filling) break;
            both += its == that;
            left += its <= that;
            right += that <= its;
            distinct++;
        }
        shared[pair] = both;
        together[pair] = distinct;
    }
    return 0;
}

static inline u64 turn(u64 bits, int by) { return bits >> by | bits << (64 - by); }

static const u64 EVEN = 0x5555555555555555;

/* One bit for each of 64 bytes: set where both have the same. */
static inline u64 equal_bytes(const u8 *one, const u8 *other) {
    u64 same = 0;
#ifdef __SSE2__
    for (int part = 0; part < 64; part += 16) {
        __m128i left = _mm_loadu_si128((const __m128i *)(one + part));
        __m128i right = _mm_loadu_si128((const __m128i *)(other + part));
        same |= (u64)(u32)_mm_movemask_epi8(_mm_cmpeq_epi8(left, right)) << part;
    }
#else
    for (int slot = 0; slot < 64; slot++) same |= (u64)(one[slot] == other[slot]) << slot;
#endif
    return same;
}

/* Which slots of the runs of characters are equal: how many, how many pairs of slots, and whether a band is. */
i64 ibidem_equal_runs(const u8 *blocks, i64 width, const i64 *a, const i64 *b, i64 pairs, i64 second, i64 third,
                      i64 *equal, i64 *two, u8 *band) {
    for (i64 pair = 0; pair < pairs; pair++) {
        const u8 *one = blocks + a[pair] * width, *other = blocks + b[pair] * width;
        u64 same = equal_bytes(one, other), twice = same & turn(same, (int)second);
        equal[pair] = __builtin_popcountll(same);
        two[pair] = __builtin_popcountll(twice & EVEN);
        band[pair] = (twice & turn(same, (int)third)) != 0;
    }
    return 0;
}

/* What pairs of rows are screened by. Rules that do not count have 0 in their first figure; those that ask for equal
 * slots have one more there than they ask for. */
typedef struct {
    const u64 *content, *fingerprint, *profile, *idf;
    const i64 *length;
    const u8 *slot_count, *term_count, *noise;
    const double *runs_by_code;
    const u16 *slots;
    const i32 *terms;
    const i64 *needed;
    i64 equal, fingerprints, profiles, sets, runs, two, second, third;
    double set_lengths, run_lengths, misread, misread_dense, runs_of_a_word, runs_of_a_bigram;
} Screen;

static double lengths_of(const Screen *by, i64 a, i64 b) {
    i64 one = by->length[a], other = by->length[b], longer = one > other ? one : other;
    return (double)(one < other ? one : other) / (double)(longer > 1 ? longer : 1);
}

/* Slots are compared in two parts: a pair that has too few equal in the first needs no second. */
static int have_equal_slots(const Screen *by, i64 a, i64 b) {
    enum { ALL = 100, PART = 64 };
    if (!by->equal || !by->slot_count[a] || !by->slot_count[b]) return 0;
    const u16 *one = by->slots + a * ALL, *other = by->slots + b * ALL;
    u16 equal = 0;
    for (int slot = 0; slot < PART; slot++) equal = (u16)(equal + (one[slot] == other[slot]));
    if (equal + ALL - PART < by->equal - 1) return 0;
    for (int slot = PART; slot < ALL; slot++) equal = (u16)(equal + (one[slot] == other[slot]));
    return equal >= by->equal - 1;
}

static int share_terms(const Screen *by, i64 a, i64 b) {
    enum { WIDTH = 60 };
    if (!by->sets || by->idf[a] != by->idf[b] || lengths_of(by, a, b) < by->set_lengths) return 0;
    i64 size = by->term_count[a] < by->term_count[b] ? by->term_count[a] : by->term_count[b];
    return shared_of(by->terms + a * WIDTH, by->terms + b * WIDTH, by->term_count[a], by->term_count[b]) >=
           by->needed[size];
}

/* Whether a text has many unknown words for its length, or pairs of letters in a dense text. */
static int is_misread(const Screen *by, const u8 *noise) {
    int dense = noise[RUNS] == DENSE_RUN, unknown = noise[RUNS + 2] | noise[RUNS + 3] << 8;
    double share = dense ? by->misread_dense : by->misread, lost = dense ? by->runs_of_a_bigram : by->runs_of_a_word;
    return unknown * lost >= share * by->runs_by_code[noise[RUNS + 1]];
}

static int have_equal_runs(const Screen *by, i64 a, i64 b) {
    enum { WIDTH = 76 };
    const u8 *one = by->noise + a * WIDTH, *other = by->noise + b * WIDTH;
    if (!by->runs || one[RUNS] != other[RUNS] || !one[RUNS]) return 0;
    if (!is_misread(by, one) && !is_misread(by, other)) return 0;
    if ((by->idf[a] != by->idf[b] && one[RUNS] != DENSE_RUN) || lengths_of(by, a, b) < by->run_lengths) return 0;
    u64 same = equal_bytes(one, other), twice = same & turn(same, (int)by->second);
    return (twice & turn(same, (int)by->third)) && __builtin_popcountll(same) >= by->runs - 1 &&
           __builtin_popcountll(twice & EVEN) >= by->two;
}

/* Rows of pairs lie anywhere, so that most are not in the cache when their turn comes. */
static inline void fetch(const Screen *by, i64 row) {
    const u16 *slots = by->slots + row * 100;
    __builtin_prefetch(by->content + 2 * row);
    __builtin_prefetch(by->length + row);
    __builtin_prefetch(by->idf + row);
    if (by->fingerprints) __builtin_prefetch(by->fingerprint + row);
    if (by->runs) __builtin_prefetch(by->noise + row * 76), __builtin_prefetch(by->noise + row * 76 + RUNS);
    if (by->equal) __builtin_prefetch(slots), __builtin_prefetch(slots + 32), __builtin_prefetch(slots + 63);
}

/* Which pairs may be duplicates by hashes of the whole text, or by figures that numpy then looks at more closely. */
i64 ibidem_screen(const Screen *by, const i64 *a, const i64 *b, i64 pairs, u8 *pass) {
    for (i64 pair = 0; pair < pairs; pair++) {
        i64 one = a[pair], other = b[pair];
        if (pair + AHEAD < pairs) fetch(by, b[pair + AHEAD]);
        pass[pair] = (by->content[2 * one] == by->content[2 * other]) ||
                     (by->fingerprints && by->fingerprint[one] == by->fingerprint[other]) ||
                     (by->profiles && by->profile[one] == by->profile[other]) || have_equal_slots(by, one, other) ||
                     have_equal_runs(by, one, other) || share_terms(by, one, other);
    }
    return 0;
}
