// SIGINT, SIGTERM and SIGHUP: the first asks for a stop with a checkpoint, the second for a stop at once. A job that is
// deep inside one batch then has a second to leave by itself; a third signal does not wait for that.
#include "tools/tools.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void leave(int number) {
    (void)number;
    static const char text[] = "tidemark: stopped at once, without a checkpoint\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(6);
}

static void count(int number) {
    seen = seen + 1;
    if (seen == 2) alarm(1);
    if (seen >= 3) leave(number);
}

void tool_catch_signals(void) {
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    struct sigaction last = {.sa_handler = leave};
    sigemptyset(&last.sa_mask);
    sigaction(SIGALRM, &last, NULL);
    signal(SIGPIPE, SIG_IGN);  // a write that fails says so
    signal(SIGXFSZ, SIG_IGN);
}

int tool_signals_seen(void) {
    return (int)seen;
}
