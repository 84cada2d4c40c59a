// State directories: the lock, the newest whole checkpoint, retention.
#include "checkpoint_tests.h"
#include "sample.h"

#include "base/alloc.h"
#include "checkpoint/state_dir.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *parent;
static char path[256];

static void set_up(void) {
    parent = sample_dir();
    snprintf(path, sizeof path, "%s/a/state", parent);
}

static void tear_down(void) {
    sample_dir_remove(parent);
}

static struct state_dir *open_ok(void) {
    struct state_dir *dir;
    tide_error err;
    tide__error_clear(&err);
    ck_assert_msg(tide__state_dir_open(path, &dir, &err) == TIDE_OK, "%s", err.message);
    return dir;
}

static void put_checkpoint(struct state_dir *dir, uint32_t job, uint64_t id) {
    struct strbuf file = {0};
    ck_assert_int_eq(tide__state_dir_checkpoint_path(dir, job, id, false, &file, NULL), TIDE_OK);
    sample_write(file.data, (struct sample_shape){.windows = 1, .keys = 2, .id = id});
    tide__strbuf_deinit(&file);
}

static void damage(uint32_t job, uint64_t id, off_t at) {
    char file[512];
    snprintf(file, sizeof file, "%s/job-%u/checkpoints/chk-%llu.savepoint", path, job, (unsigned long long)id);
    int fd = open(file, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, "\xaa\x55", 2, at), 2);
    close(fd);
}

// The path's part behind the state directory, or "none".
static const char *newest(struct arena *arena, const char **out_skipped) {
    struct savepoint *savepoint;
    const char *found;
    tide_error err;
    tide__error_clear(&err);
    ck_assert_msg(tide__state_dir_newest(path, arena, &savepoint, &found, out_skipped, &err) == TIDE_OK, "%s",
                  err.message);
    if (savepoint == NULL) return "none";
    tide__savepoint_close(savepoint);
    ck_assert_int_eq(strncmp(found, path, strlen(path)), 0);
    return found + strlen(path);
}

START_TEST(a_second_process_is_refused_with_the_first_ones_pid) {
    struct state_dir *dir = open_ok();
    pid_t pid = getpid();
    char expected[512];
    snprintf(expected, sizeof expected, "state directory %s is in use by process %ld", path, (long)pid);
    pid_t child = fork();
    if (child == 0) {
        struct state_dir *second;
        tide_error err;
        tide__error_clear(&err);
        bool refused = tide__state_dir_open(path, &second, &err) == TIDE_ERR_OPTION;
        _exit(refused && second == NULL && strcmp(err.message, expected) == 0 ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    struct state_dir *third;
    ck_assert_int_eq(tide__state_dir_open(path, &third, NULL), TIDE_ERR_OPTION);
    tide__state_dir_close(dir);
    dir = open_ok();
    tide__state_dir_close(dir);
}
END_TEST

START_TEST(folders_and_the_lock_are_private) {
    struct state_dir *dir = open_ok();
    put_checkpoint(dir, 1, 1);
    static const char *const folders[] = {"", "/job-1", "/job-1/checkpoints"};
    struct stat info;
    char name[512];
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, folders[i]);
        ck_assert_int_eq(stat(name, &info), 0);
        ck_assert_int_eq(info.st_mode & 0777, 0700);
    }
    snprintf(name, sizeof name, "%s/lock", path);
    ck_assert_int_eq(stat(name, &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0600);
    tide__state_dir_close(dir);
}
END_TEST

START_TEST(the_newest_is_of_the_last_job_and_by_number) {
    struct state_dir *dir = open_ok();
    struct arena arena;
    tide__arena_init(&arena);
    const char *skipped;
    ck_assert_str_eq(newest(&arena, &skipped), "none");
    ck_assert(!tide__state_dir_has_checkpoints(path));
    put_checkpoint(dir, 1, 9);
    put_checkpoint(dir, 1, 10);
    ck_assert_str_eq(newest(&arena, &skipped), "/job-1/checkpoints/chk-10.savepoint");
    put_checkpoint(dir, 2, 3);
    ck_assert_str_eq(newest(&arena, &skipped), "/job-2/checkpoints/chk-3.savepoint");
    ck_assert_ptr_null(skipped);
    ck_assert(tide__state_dir_has_checkpoints(path));
    tide__arena_deinit(&arena);
    tide__state_dir_close(dir);
}
END_TEST

START_TEST(a_damaged_checkpoint_is_passed_over_and_named) {
    struct state_dir *dir = open_ok();
    struct arena arena;
    tide__arena_init(&arena);
    const char *skipped;
    for (uint64_t id = 1; id <= 3; id++) put_checkpoint(dir, 1, id);
    damage(1, 3, 20);  // in a chunk: the index alone does not show it
    ck_assert_str_eq(newest(&arena, &skipped), "/job-1/checkpoints/chk-2.savepoint");
    ck_assert_ptr_nonnull(strstr(skipped, "chk-3.savepoint"));
    ck_assert_ptr_nonnull(strstr(skipped, "checksum"));
    damage(1, 2, 0);
    ck_assert_str_eq(newest(&arena, &skipped), "/job-1/checkpoints/chk-1.savepoint");
    damage(1, 1, 0);
    struct savepoint *savepoint;
    const char *found;
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__state_dir_newest(path, &arena, &savepoint, &found, &skipped, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_ptr_null(savepoint);
    tide__arena_deinit(&arena);
    tide__state_dir_close(dir);
}
END_TEST

static void touch(const char *name) {
    char file[512];
    snprintf(file, sizeof file, "%s/job-1/checkpoints/%s", path, name);
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

struct seen {
    char text[256];
};

static void see(void *ctx, uint32_t job, uint64_t id, const char *file) {
    (void)file;
    struct seen *seen = ctx;
    size_t len = strlen(seen->text);
    snprintf(seen->text + len, sizeof seen->text - len, "%u/%llu ", job, (unsigned long long)id);
}

START_TEST(only_the_newest_are_kept_and_strangers_are_left_alone) {
    struct state_dir *dir = open_ok();
    for (uint64_t id = 8; id <= 12; id++) put_checkpoint(dir, 1, id);
    put_checkpoint(dir, 2, 1);
    touch("chk-13.savepoint.tmp-77");
    touch("notes.txt");
    touch("chk-007.savepoint");
    touch("chk-next.delta.tmp");
    tide__state_dir_retain(dir, 1, 3, 0, 1);
    struct seen seen = {""};
    ck_assert_int_eq(tide__state_dir_each(path, see, &seen, NULL), TIDE_OK);
    ck_assert_str_eq(seen.text, "1/10 1/11 1/12 2/1 ");
    char file[512];
    snprintf(file, sizeof file, "%s/job-1/checkpoints/notes.txt", path);
    ck_assert_int_eq(access(file, F_OK), 0);
    snprintf(file, sizeof file, "%s/job-1/checkpoints/chk-13.savepoint.tmp-77", path);
    ck_assert_int_ne(access(file, F_OK), 0);
    snprintf(file, sizeof file, "%s/job-1/checkpoints/chk-next.delta.tmp", path);
    ck_assert_int_ne(access(file, F_OK), 0);
    tide__state_dir_close(dir);
}
END_TEST

START_TEST(what_a_kept_delta_builds_on_is_kept) {
    struct state_dir *dir = open_ok();
    static const char *const names[] = {"chk-1.savepoint", "chk-2.delta", "chk-3.savepoint", "chk-4.delta",
                                        "chk-5.delta",     "chk-6.delta", "chk-7.savepoint"};
    put_checkpoint(dir, 1, 1);
    for (size_t i = 1; i < sizeof names / sizeof *names; i++) touch(names[i]);
    struct seen seen = {""};
    tide__state_dir_retain(dir, 1, 3, 0, 1);
    ck_assert_int_eq(tide__state_dir_each(path, see, &seen, NULL), TIDE_OK);
    ck_assert_str_eq(seen.text, "1/3 1/4 1/5 1/6 1/7 ");
    // 4 to 6 are damaged: the job went on from 3.
    touch("chk-1.savepoint");
    tide__state_dir_retain(dir, 1, 2, 3, 7);
    seen.text[0] = '\0';
    ck_assert_int_eq(tide__state_dir_each(path, see, &seen, NULL), TIDE_OK);
    ck_assert_str_eq(seen.text, "1/3 1/4 1/5 1/6 1/7 ");
    tide__state_dir_retain(dir, 1, 1, 3, 7);
    seen.text[0] = '\0';
    ck_assert_int_eq(tide__state_dir_each(path, see, &seen, NULL), TIDE_OK);
    ck_assert_str_eq(seen.text, "1/7 ");
    ck_assert_uint_eq(tide__state_dir_last_id(dir, 1), 7);
    ck_assert_uint_eq(tide__state_dir_last_id(dir, 2), 0);
    tide__state_dir_close(dir);
}
END_TEST

START_TEST(checkpoints_that_are_gone_are_missed) {
    struct state_dir *dir = open_ok();
    struct arena arena;
    tide__arena_init(&arena);
    put_checkpoint(dir, 1, 4);
    put_checkpoint(dir, 2, 1);
    ck_assert_int_eq(tide__state_dir_note(dir, 2, 1, false, NULL), TIDE_OK);
    const char *found, *skipped;
    ck_assert_str_eq(newest(&arena, &skipped), "/job-2/checkpoints/chk-1.savepoint");
    char file[512];
    snprintf(file, sizeof file, "%s/job-2/checkpoints/chk-1.savepoint", path);
    ck_assert_int_eq(unlink(file), 0);
    struct savepoint *savepoint;
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__state_dir_latest(path, &arena, &savepoint, &found, &skipped, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_ptr_null(savepoint);
    ck_assert_ptr_nonnull(strstr(err.message, "job 2"));
    ck_assert_ptr_nonnull(strstr(err.message, "chk-1.savepoint"));
    ck_assert_int_eq(tide__state_dir_clear(dir, NULL), TIDE_OK);
    ck_assert_str_eq(newest(&arena, &skipped), "none");
    tide__arena_deinit(&arena);
    tide__state_dir_close(dir);
}
END_TEST

START_TEST(the_job_before_is_no_way_out) {
    struct state_dir *dir = open_ok();
    struct arena arena;
    tide__arena_init(&arena);
    put_checkpoint(dir, 1, 4);
    put_checkpoint(dir, 2, 1);
    damage(2, 1, 0);
    struct savepoint *savepoint;
    const char *found, *skipped;
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__state_dir_latest(path, &arena, &savepoint, &found, &skipped, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_ptr_null(savepoint);
    ck_assert_ptr_nonnull(strstr(err.message, "job-2/checkpoints/chk-1.savepoint"));
    ck_assert_ptr_nonnull(strstr(err.hint, "--restart"));
    tide__arena_deinit(&arena);
    tide__state_dir_close(dir);
}
END_TEST

START_TEST(clearing_removes_all_jobs) {
    struct state_dir *dir = open_ok();
    put_checkpoint(dir, 1, 1);
    put_checkpoint(dir, 2, 1);
    ck_assert_int_eq(tide__state_dir_clear(dir, NULL), TIDE_OK);
    ck_assert(!tide__state_dir_has_checkpoints(path));
    ck_assert_int_eq(tide__state_dir_clear(dir, NULL), TIDE_OK);
    tide__state_dir_close(dir);
}
END_TEST

START_TEST(a_folder_that_is_missing_holds_nothing) {
    struct arena arena;
    tide__arena_init(&arena);
    const char *skipped;
    ck_assert_str_eq(newest(&arena, &skipped), "none");
    ck_assert(!tide__state_dir_has_checkpoints(path));
    tide__arena_deinit(&arena);
}
END_TEST

TCase *make_state_dir_case(void) {
    TCase *tests = tcase_create("state_dir");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_second_process_is_refused_with_the_first_ones_pid);
    tcase_add_test(tests, folders_and_the_lock_are_private);
    tcase_add_test(tests, the_newest_is_of_the_last_job_and_by_number);
    tcase_add_test(tests, a_damaged_checkpoint_is_passed_over_and_named);
    tcase_add_test(tests, only_the_newest_are_kept_and_strangers_are_left_alone);
    tcase_add_test(tests, what_a_kept_delta_builds_on_is_kept);
    tcase_add_test(tests, the_job_before_is_no_way_out);
    tcase_add_test(tests, checkpoints_that_are_gone_are_missed);
    tcase_add_test(tests, clearing_removes_all_jobs);
    tcase_add_test(tests, a_folder_that_is_missing_holds_nothing);
    return tests;
}
