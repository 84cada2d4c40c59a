// SIGINT and SIGTERM: the first asks for a stop with a checkpoint, the second for a stop at once, a third kills.
#include "tools/tools.h"

#include <signal.h>

static volatile sig_atomic_t seen;

static void count(int number) {
    seen = seen + 1;
    if (seen >= 3) signal(number, SIG_DFL);
}

void tool_catch_signals(void) {
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int tool_signals_seen(void) { return (int)seen; }
