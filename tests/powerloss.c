/* Preloaded into a process under test: notes every change below WATCHED in the order in which it was asked for,
   with the data, the syncs, and what the process said on stdout. tests/powerloss.py plays the notes back.
   A synced folder is noted with its names and file numbers, for some renames bypass the C library.
   With FAULT="CALL:ERRNO:N" the Nth such call below WATCHED, and every later one, fails instead. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int notes = -2;
static const char *watched;
static size_t watched_length;
static char fault_call[16];
static int fault_error;
static long fault_after = -1, fault_count;

static void begin(void) {
    if (notes != -2) return;
    watched = getenv("WATCHED");
    watched_length = watched ? strlen(watched) : 0;
    const char *file = getenv("NOTES"), *fault = getenv("FAULT");
    notes = file ? (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fault) sscanf(fault, "%15[^:]:%d:%ld", fault_call, &fault_error, &fault_after);
}

static int is_watched(const char *path) {
    return watched && path[0] && !strncmp(path, watched, watched_length);
}

static void path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = 0;
}

static void path_at(int dir, const char *name, char *path) {
    if (name[0] == '/' || dir == AT_FDCWD) {
        snprintf(path, PATH_MAX, "%s", name);
    } else {
        path_of(dir, path);
        size_t length = strlen(path);
        snprintf(path + length, PATH_MAX - length, "/%s", name);
    }
}

static void note(char kind, const char *path, const char *other, int64_t offset, const void *data, uint64_t size) {
    if (notes < 0) return;
    struct stat s;
    uint32_t a = (uint32_t)strlen(path), b = (uint32_t)strlen(other);
    uint64_t number = path[0] && !lstat(path, &s) ? s.st_ino : 0;
    char head[33];
    head[0] = kind;
    memcpy(head + 1, &a, 4); memcpy(head + 5, &b, 4); memcpy(head + 9, &number, 8);
    memcpy(head + 17, &offset, 8); memcpy(head + 25, &size, 8);
    struct iovec parts[] = {{head, 33}, {(void *)path, a}, {(void *)other, b}, {(void *)data, size}};
    syscall(SYS_writev, notes, parts, 4);
}

static void note_sync(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) { note('S', path, "", 0, "", 0); return; }
    char *names = malloc(1 << 20), *to = names;
    for (struct dirent *each; (each = readdir(folder)) && to < names + (1 << 20) - 512;)
        if (each->d_name[0] != '.' || (each->d_name[1] && each->d_name[1] != '.'))
            to += snprintf(to, 512, "%s/%lu\n", each->d_name, (unsigned long)each->d_ino);
    closedir(folder);
    note('L', path, "", 0, names, (uint64_t)(to - names));
    free(names);
}

static int fails(const char *call, const char *path) {
    if (fault_after < 0 || strcmp(call, fault_call) || !is_watched(path)) return 0;
    if (__sync_add_and_fetch(&fault_count, 1) < fault_after) return 0;
    errno = fault_error;
    return 1;
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name); begin()
#define LOCKED(code) do { pthread_mutex_lock(&lock); code; pthread_mutex_unlock(&lock); } while (0)

static int opened(int fd, int existed, int flags) {
    if (fd < 0) return fd;
    char path[PATH_MAX];
    path_of(fd, path);
    if (is_watched(path)) {
        if (!existed && (flags & O_CREAT)) note('C', path, "", 0, "", 0);
        if (existed && (flags & O_TRUNC)) note('T', path, "", 0, "", 0);
    }
    return fd;
}

#define OPENING(name, dir)                                                     \
    mode_t mode = 0;                                                           \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list a; va_start(a, flags); mode = va_arg(a, mode_t); va_end(a); } \
    char full[PATH_MAX];                                                       \
    path_at(dir, path, full);                                                  \
    if ((flags & O_CREAT) && fails("open", full)) return -1;                   \
    int result, saved;                                                         \
    LOCKED(int existed = !faccessat(AT_FDCWD, full, F_OK, 0); result = opened(name, existed, flags); saved = errno); \
    errno = saved;                                                             \
    return result

int open(const char *path, int flags, ...) { REAL(open); OPENING(real(path, flags, mode), AT_FDCWD); }
int open64(const char *path, int flags, ...) { REAL(open64); OPENING(real(path, flags, mode), AT_FDCWD); }
int openat(int dir, const char *path, int flags, ...) { REAL(openat); OPENING(real(dir, path, flags, mode), dir); }
int openat64(int dir, const char *path, int flags, ...) { REAL(openat64); OPENING(real(dir, path, flags, mode), dir); }

static void written(int fd, const char *path, off_t at, const void *data, ssize_t count) {
    if (count <= 0) return;
    if (fd == 1) note('A', "", "", 0, data, (uint64_t)count);
    else if (is_watched(path)) note('W', path, "", at, data, (uint64_t)count);
}

#define WRITING(call, at_, data_)                                              \
    char path[PATH_MAX] = "";                                                  \
    if (fd > 2) path_of(fd, path);                                             \
    if (fails("write", path)) return -1;                                       \
    ssize_t result; int saved;                                                 \
    LOCKED(off_t at = at_; result = call; saved = errno; written(fd, path, at, data_, result)); \
    errno = saved;                                                             \
    return result

static off_t place(int fd) {
    if (fcntl(fd, F_GETFL) & O_APPEND) { struct stat s; return fstat(fd, &s) ? 0 : s.st_size; }
    return lseek(fd, 0, SEEK_CUR);
}

ssize_t write(int fd, const void *data, size_t size) { REAL(write); WRITING(real(fd, data, size), place(fd), data); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t where) { REAL(pwrite); WRITING(real(fd, data, size, where), where, data); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t where) { REAL(pwrite64); WRITING(real(fd, data, size, where), where, data); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
    /* One buffer, so that one note says it all. */
    size_t total = 0;
    for (int i = 0; i < count; i++) total += parts[i].iov_len;
    char *all = malloc(total ? total : 1), *to = all;
    for (int i = 0; i < count; i++) { memcpy(to, parts[i].iov_base, parts[i].iov_len); to += parts[i].iov_len; }
    ssize_t done = write(fd, all, total);
    free(all);
    return done;
}

#define CHANGING(fault, noted, call)                                           \
    if (fails(fault, path)) return -1;                                         \
    int result, saved;                                                         \
    LOCKED(result = call; saved = errno; if (!result && is_watched(path)) noted); \
    errno = saved;                                                             \
    return result

int ftruncate(int fd, off_t size) { REAL(ftruncate); char path[PATH_MAX]; path_of(fd, path); CHANGING("write", note('T', path, "", size, "", 0), real(fd, size)); }
int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); char path[PATH_MAX]; path_of(fd, path); CHANGING("write", note('T', path, "", size, "", 0), real(fd, size)); }
int fsync(int fd) { REAL(fsync); char path[PATH_MAX]; path_of(fd, path); CHANGING("fsync", note_sync(path), real(fd)); }
int fdatasync(int fd) { REAL(fdatasync); char path[PATH_MAX]; path_of(fd, path); CHANGING("fsync", note_sync(path), real(fd)); }
int unlink(const char *path) { REAL(unlink); CHANGING("unlink", note('U', path, "", 0, "", 0), real(path)); }
int rmdir(const char *path) { REAL(rmdir); CHANGING("unlink", note('U', path, "", 0, "", 0), real(path)); }
int mkdir(const char *path, mode_t mode) { REAL(mkdir); CHANGING("open", note('M', path, "", 0, "", 0), real(path, mode)); }
int rename(const char *old, const char *path) { REAL(rename); CHANGING("rename", note('R', path, old, 0, "", 0), real(old, path)); }
int unlinkat(int dir, const char *name, int flags) {
    REAL(unlinkat); char path[PATH_MAX]; path_at(dir, name, path);
    CHANGING("unlink", note('U', path, "", 0, "", 0), real(dir, name, flags));
}
int mkdirat(int dir, const char *name, mode_t mode) {
    REAL(mkdirat); char path[PATH_MAX]; path_at(dir, name, path);
    CHANGING("open", note('M', path, "", 0, "", 0), real(dir, name, mode));
}
int renameat(int from, const char *old, int to, const char *new) {
    REAL(renameat); char path[PATH_MAX], before[PATH_MAX]; path_at(to, new, path); path_at(from, old, before);
    CHANGING("rename", note('R', path, before, 0, "", 0), real(from, old, to, new));
}
