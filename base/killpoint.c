// The variable is read once. It is the one piece of global state: it belongs to the process that a test kills.
#include "base/killpoint.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *wanted;  // NULL: no kill point is set
static size_t wanted_len;
static atomic_long left;

static void read_environment(void) {
    const char *text = getenv("TIDE_KILL_POINT");
    if (!text || !*text) return;
    const char *colon = strrchr(text, ':');
    long n = colon ? strtol(colon + 1, NULL, 10) : 1;
    atomic_store(&left, n > 0 ? n : 1);
    wanted_len = colon ? (size_t)(colon - text) : strlen(text);
    wanted = text;
}

void tide__kill_point(const char *name) {
    pthread_once(&once, read_environment);
    if (!wanted || strlen(name) != wanted_len || memcmp(name, wanted, wanted_len) != 0) return;
    if (atomic_fetch_sub(&left, 1) == 1) raise(SIGKILL);
}
