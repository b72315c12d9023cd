/* Opens a library and asks it for the digest of its source: 0 where both work. */

#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    const char *(*source)(void) = library ? (const char *(*)(void))dlsym(library, "ibidem_source") : NULL;
    if (source == NULL || source()[0] == '\0') {
        fprintf(stderr, "cannot load %s: %s\n", arguments[count - 1], library ? "it names no source" : dlerror());
        return 1;
    }
    return 0;
}
