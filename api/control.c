// The socket of a running job: a Unix stream socket DIR/control, one request a connection, one line each way.
//
//   savepoint PATH\n  ->  ok\n | error MESSAGE\n
//   stop\n            ->  ok\n
//   checkpoint\n      ->  ok\n, once a checkpoint that began after the request is durable
//   status\n          ->  ok\n and lines of facts (api/status.h)
//
// The job looks at it between batches; it never waits for a client. Paths longer than sockaddr_un allows are reached
// through /proc/self/fd of the folder.
#include "api/script.h"
#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define POLL_SECONDS      0.02
#define CLIENT_TIMEOUT_MS 1000

struct control {
    int folder, listener, client;
    double last_look;
    char request[4352];
    size_t request_len;
};

static bool address(int folder, struct sockaddr_un *out) {
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    int len = snprintf(out->sun_path, sizeof out->sun_path, "/proc/self/fd/%d/control", folder);
    return len > 0 && (size_t)len < sizeof out->sun_path;
}

tide_status tide__api_control_open(const char *state_dir, struct control **out, tide_error *err) {
    struct control *control = tide__calloc(1, sizeof *control);
    control->client = control->listener = -1;
    control->folder = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct sockaddr_un where;
    tide_status status = TIDE_OK;
    if (control->folder < 0 || !address(control->folder, &where)) {
        status = tide__fail_errno(err, errno, "can't open %s", state_dir);
    } else {
        unlinkat(control->folder, "control", 0);
        control->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        mode_t before = umask(0177);
        bool bound = control->listener >= 0 && bind(control->listener, (struct sockaddr *)&where, sizeof where) == 0 &&
                     listen(control->listener, 8) == 0;
        umask(before);
        if (!bound) status = tide__fail_errno(err, errno, "can't make the socket %s/control", state_dir);
    }
    if (status != TIDE_OK) {
        tide__api_control_close(control);
        control = NULL;
    }
    *out = control;
    return status;
}

void tide__api_control_close(struct control *control) {
    if (control == NULL) return;
    if (control->client >= 0) close(control->client);
    if (control->listener >= 0) {
        close(control->listener);
        unlinkat(control->folder, "control", 0);
    }
    if (control->folder >= 0) close(control->folder);
    tide__free(control);
}

bool tide__api_control_pending(struct control *control) {
    double now = tide__api_seconds();
    if (now - control->last_look < POLL_SECONDS) return false;
    control->last_look = now;
    if (control->client >= 0) return false;  // one at a time
    struct pollfd fd = {.fd = control->listener, .events = POLLIN};
    return poll(&fd, 1, 0) > 0;
}

// Reads a line; the client has a second for it.
static bool read_line(int fd, char *line, size_t size, size_t *out_len) {
    size_t len = 0;
    while (len < size - 1) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, CLIENT_TIMEOUT_MS) <= 0) return false;
        ssize_t got = read(fd, line + len, size - 1 - len);
        if (got <= 0) return false;
        len += (size_t)got;
        if (line[len - 1] != '\n') continue;
        line[len - 1] = '\0';
        *out_len = len - 1;
        return true;
    }
    return false;
}

enum control_request tide__api_control_poll(struct control *control, const char **out_path) {
    *out_path = NULL;
    control->client = accept4(control->listener, NULL, NULL, SOCK_CLOEXEC);
    if (control->client < 0) return CONTROL_NONE;
    static const char savepoint[] = "savepoint ";
    if (read_line(control->client, control->request, sizeof control->request, &control->request_len)) {
        if (strcmp(control->request, "stop") == 0) return CONTROL_STOP;
        if (strcmp(control->request, "status") == 0) return CONTROL_STATUS;
        if (strcmp(control->request, "checkpoint") == 0) return CONTROL_CHECKPOINT;
        if (strncmp(control->request, savepoint, sizeof savepoint - 1) == 0) {
            *out_path = control->request + sizeof savepoint - 1;
            return CONTROL_SAVEPOINT;
        }
    }
    tide__api_control_reply(control, false, "unknown request");
    return CONTROL_NONE;
}

void tide__api_control_reply(struct control *control, bool ok, const char *message) {
    char line[1200];
    int len = ok ? snprintf(line, sizeof line, "ok\n") : snprintf(line, sizeof line, "error %s\n", message);
    if (len > 0) (void)!send(control->client, line, (size_t)len, MSG_NOSIGNAL);
    close(control->client);
    control->client = -1;
}

void tide__api_control_send(struct control *control, struct str text) {
    struct strbuf answer = {0};
    tide__strbuf_append_c(&answer, "ok\n");
    tide__strbuf_append_str(&answer, text);
    // The socket's buffer takes it; a client that does not read must not hold up the job.
    (void)!send(control->client, answer.data, answer.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    tide__strbuf_deinit(&answer);
    close(control->client);
    control->client = -1;
}

static tide_status exchange(int fd, const char *request, struct strbuf *out, tide_error *err) {
    size_t len = strlen(request);
    bool sent = send(fd, request, len, MSG_NOSIGNAL) == (ssize_t)len;
    for (ssize_t got = 1; sent && got > 0;) {
        char *at = tide__strbuf_reserve(out, 4096);
        got = read(fd, at, 4096);
        if (got > 0) out->len += (size_t)got;
    }
    if (out->len == 0) return tide__fail(err, TIDE_ERR_IO, "the running job did not answer");
    out->data[out->len] = '\0';
    if (strncmp(out->data, "ok\n", 3) == 0) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_IO, "the running job: %.*s", (int)strcspn(out->data, "\n"), out->data);
}

tide_status tide__api_control_read(const char *state_dir, const char *request, struct strbuf *out, bool *out_running,
                                   tide_error *err) {
    *out_running = false;
    int folder = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return tide__fail_errno(err, errno, "can't open %s", state_dir);
    struct sockaddr_un where;
    tide_status status = TIDE_OK;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && address(folder, &where) && connect(fd, (struct sockaddr *)&where, sizeof where) == 0) {
        *out_running = true;
        struct strbuf answer = {0};
        status = exchange(fd, request, &answer, err);
        if (status == TIDE_OK) tide__strbuf_append(out, answer.data + 3, answer.len - 3);
        tide__strbuf_deinit(&answer);
    }
    if (fd >= 0) close(fd);
    close(folder);
    return status;
}

tide_status tide__api_control_ask(const char *state_dir, const char *request, bool *out_running, tide_error *err) {
    struct strbuf ignored = {0};
    tide_status status = tide__api_control_read(state_dir, request, &ignored, out_running, err);
    tide__strbuf_deinit(&ignored);
    return status;
}
