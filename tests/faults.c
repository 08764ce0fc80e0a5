/* Lets one call of the system fail, and counts the calls before it. Preloaded by tests/faults.py.

   Counted are calls about files of one folder, and allocations of at least `large` bytes. Counting starts when
   faults_arm() is called, and allocations count from the first counted call about a file on. The call number `at`
   fails with `error`; if `stays` is set, so do all later calls of a kind that needs room on the disk. The error KILL
   is no error: the process is killed before the call, or in the middle of it if the call writes. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define KILL (-1)
#define ARENA (1 << 20) /* bytes that Python asks for at once; it can do with less */

static char folder[4096];
static size_t folder_length, large;
static atomic_long calls, at;
static atomic_int armed, in_use, error, stays, full;
static char failed_call[64], failed_path[4096]; /* what failed */

void faults_arm(const char *path, long n, int code, int keep, size_t size)
{
    snprintf(folder, sizeof folder, "%s/", path);
    folder_length = strlen(folder);
    at = n; error = code; stays = keep; large = size;
    calls = 0; in_use = 0; full = 0;
    failed_call[0] = failed_path[0] = 0;
    armed = 1;
}

const char *faults_call(void) { return failed_call; }
const char *faults_path(void) { return failed_path; }

static int fails(const char *call, const char *path, int needs_room)
{
    if (full && needs_room)
        return errno = error, 1;
    if (atomic_fetch_add(&calls, 1) + 1 != at)
        return 0;
    snprintf(failed_call, sizeof failed_call, "%s", call);
    snprintf(failed_path, sizeof failed_path, "%s", path);
    full = stays;
    if (error == KILL && strcmp(call, "write"))
        kill(getpid(), SIGKILL);
    return errno = error, 1;
}

static int file_fails(const char *call, const char *path, int needs_room)
{
    if (!armed || path == NULL || strncmp(path, folder, folder_length))
        return 0;
    in_use = 1;
    return fails(call, path, needs_room);
}

static int handle_fails(const char *call, int handle, int needs_room)
{
    char link[64], path[4096];
    if (!armed)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return 0;
    path[n] = 0;
    return file_fails(call, path, needs_room);
}

static int memory_fails(const char *call, size_t size)
{
    return armed && in_use && size >= large && fails(call, "", 0);
}

#define NEXT(type, name, ...) ((type (*)(__VA_ARGS__)) dlsym(RTLD_NEXT, #name))

#define OPEN(name) \
int name(const char *path, int flags, ...) \
{ \
    va_list rest; va_start(rest, flags); int mode = va_arg(rest, int); va_end(rest); \
    return file_fails("open", path, flags & O_CREAT) ? -1 : NEXT(int, name, const char *, int, ...)(path, flags, mode); \
}
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
int name(int at_folder, const char *path, int flags, ...) \
{ \
    va_list rest; va_start(rest, flags); int mode = va_arg(rest, int); va_end(rest); \
    return file_fails("open", path, flags & O_CREAT) ? -1 \
        : NEXT(int, name, int, const char *, int, ...)(at_folder, path, flags, mode); \
}
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int handle, void *data, size_t n)
{
    return handle_fails("read", handle, 0) ? -1 : NEXT(ssize_t, read, int, void *, size_t)(handle, data, n);
}

ssize_t write(int handle, const void *data, size_t n)
{
    ssize_t (*next)(int, const void *, size_t) = NEXT(ssize_t, write, int, const void *, size_t);
    if (!handle_fails("write", handle, 1))
        return next(handle, data, n);
    if (error == KILL) {
        next(handle, data, n / 2);
        kill(getpid(), SIGKILL);
    }
    return -1;
}

int fsync(int handle) { return handle_fails("fsync", handle, 1) ? -1 : NEXT(int, fsync, int)(handle); }
int flock(int handle, int how) { return handle_fails("flock", handle, 0) ? -1 : NEXT(int, flock, int, int)(handle, how); }
int fchmod(int handle, mode_t mode) { return handle_fails("fchmod", handle, 0) ? -1 : NEXT(int, fchmod, int, mode_t)(handle, mode); }

int rename(const char *from, const char *to)
{
    return file_fails("rename", from, 1) ? -1 : NEXT(int, rename, const char *, const char *)(from, to);
}

int link(const char *from, const char *to)
{
    return file_fails("link", from, 1) ? -1 : NEXT(int, link, const char *, const char *)(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    return file_fails("link", from, 1) ? -1
        : NEXT(int, linkat, int, const char *, int, const char *, int)(a, from, b, to, flags);
}

int unlink(const char *path) { return file_fails("unlink", path, 0) ? -1 : NEXT(int, unlink, const char *)(path); }

int unlinkat(int a, const char *path, int flags)
{
    return file_fails("unlink", path, 0) ? -1 : NEXT(int, unlinkat, int, const char *, int)(a, path, flags);
}

#define MMAP(name, offset_type) \
void *name(void *address, size_t size, int protection, int flags, int handle, offset_type offset) \
{ \
    if (handle >= 0 ? handle_fails("mmap", handle, 0) : size > ARENA && memory_fails("mmap", size)) \
        return MAP_FAILED; \
    return NEXT(void *, name, void *, size_t, int, int, int, offset_type)( \
        address, size, protection, flags, handle, offset); \
}
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) { return memory_fails("malloc", size) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return memory_fails("calloc", n * size) ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return memory_fails("realloc", size) ? NULL : __libc_realloc(old, size); }

int posix_memalign(void **result, size_t alignment, size_t size)
{
    if (memory_fails("posix_memalign", size))
        return error;
    *result = __libc_memalign(alignment, size);
    return *result == NULL ? ENOMEM : 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memory_fails("aligned_alloc", size) ? NULL : __libc_memalign(alignment, size);
}
