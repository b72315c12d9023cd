/* Opens a library and prints the digest of its source and the hashes of some words: the same line on each processor. */

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 64 };

typedef const char *(*Source)(void);
typedef int64_t (*Count)(const uint8_t *, uint64_t);
typedef int64_t (*Cut)(const uint8_t *, uint64_t, int64_t *, int64_t *);
typedef int64_t (*Hash)(const uint8_t *, const int64_t *, const int64_t *, uint64_t, uint64_t *, uint64_t *);

static const char TEXT[] = "the shareholders of calloway shipping approved the merger with northern freight on tuesday "
                           "zwangsversteigerungsverfahren 2300 \xc3\xa9\xc3\xa9 a        ";

int main(int count, char **arguments) {
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    Source source = library ? (Source)dlsym(library, "ibidem_source") : NULL;
    Count number = library ? (Count)dlsym(library, "ibidem_count") : NULL;
    Cut cut = library ? (Cut)dlsym(library, "ibidem_cut") : NULL;
    Hash hash = library ? (Hash)dlsym(library, "ibidem_hash") : NULL;
    if (!source || !number || !cut || !hash || source()[0] == '\0') {
        fprintf(stderr, "cannot load %s: %s\n", arguments[count - 1], library ? "it lacks a function" : dlerror());
        return 1;
    }
    int64_t starts[WORDS], ends[WORDS];
    uint64_t hashes[WORDS], leading[WORDS];
    const uint8_t *text = (const uint8_t *)TEXT;
    int64_t words = number(text, strlen(TEXT));
    if (words < 1 || words > WORDS || cut(text, strlen(TEXT), starts, ends) < 0) {
        fprintf(stderr, "%s: it finds %lld words\n", arguments[1], (long long)words);
        return 1;
    }
    hash(text, starts, ends, words, hashes, leading);
    printf("%s", source());
    for (int64_t word = 0; word < words; word++)
        printf(" %016llx", (unsigned long long)hashes[word]);
    printf("\n");
    return 0;
}
