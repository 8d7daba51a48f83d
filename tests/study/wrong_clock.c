/* A wall clock that is wrong by the seconds in a file, for programs that load this first (LD_PRELOAD).
   Only the wall clock: the monotonic one does not jump when somebody sets the time. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

static long wrong_by(void) {
    char text[32] = {0};
    const char *path = getenv("WRONG_CLOCK");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0) return 0;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    return size > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t id, struct timespec *now) {
    long failed = syscall(SYS_clock_gettime, id, now);
    if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += wrong_by();
    return (int)failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    long failed = syscall(SYS_gettimeofday, now, zone);
    if (!failed) now->tv_sec += wrong_by();
    return (int)failed;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
