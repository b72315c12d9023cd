/* Preloaded into a process: makes the regular files that it writes slow, or refuses to write them as a full disk does,
   as long as the file $IBIDEM_DISK.slow or $IBIDEM_DISK.full is there. The first time that it does, it leaves the file
   $IBIDEM_DISK.felt. No right to mount anything is needed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE_MICROSECONDS = 2000, SYNC_MICROSECONDS = 300000 };

/* Writes the path of a file next to the disk; returns whether there is a disk. */
static int name_file(char path[4096], const char *suffix) {
    const char *base = getenv("IBIDEM_DISK");
    return base && snprintf(path, 4096, "%s.%s", base, suffix) < 4096;
}

static int is_there(const char *suffix) {
    char path[4096];
    return name_file(path, suffix) && access(path, F_OK) == 0;
}

static void note(void) {
    char path[4096];
    int descriptor = is_there("felt") || !name_file(path, "felt") ? -1 : open(path, O_CREAT | O_WRONLY, 0600);
    if (descriptor >= 0) close(descriptor);
}

/* Waits where the disk is slow. */
static void drag(int microseconds) {
    if (is_there("slow")) {
        note();
        usleep(microseconds);
    }
}

static int is_file(int descriptor) {
    struct stat status;
    return descriptor > 2 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/* Returns whether a write is refused. */
static int in_trouble(int descriptor) {
    int error = errno, refused = 0;
    if (is_file(descriptor)) {
        drag(WRITE_MICROSECONDS);
        refused = is_there("full");
        if (refused) note();
    }
    errno = refused ? ENOSPC : error;
    return refused;
}

#define WRITER(name, parameters, arguments)                                        \
    ssize_t name parameters {                                                      \
        static ssize_t(*next) parameters;                                          \
        if (!next) next = (ssize_t(*) parameters) dlsym(RTLD_NEXT, #name);         \
        return in_trouble(descriptor) ? -1 : next arguments;                       \
    }

WRITER(write, (int descriptor, const void *data, size_t size), (descriptor, data, size))
WRITER(pwrite, (int descriptor, const void *data, size_t size, off_t at), (descriptor, data, size, at))
WRITER(pwrite64, (int descriptor, const void *data, size_t size, off64_t at), (descriptor, data, size, at))
WRITER(writev, (int descriptor, const struct iovec *parts, int count), (descriptor, parts, count))

#define SYNC(name)                                                                 \
    int name(int descriptor) {                                                     \
        static int (*next)(int);                                                   \
        if (!next) next = (int (*)(int)) dlsym(RTLD_NEXT, #name);                  \
        drag(SYNC_MICROSECONDS);                                                   \
        return next(descriptor);                                                   \
    }

SYNC(fsync)
SYNC(fdatasync)
