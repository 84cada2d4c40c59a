#include "checkpoint_tests.h"

#include <stdlib.h>

int main(void) {
    Suite *suite = suite_create("checkpoint");
    suite_add_tcase(suite, make_savepoint_case());
    suite_add_tcase(suite, make_damage_case());
    suite_add_tcase(suite, make_state_dir_case());
    suite_add_tcase(suite, make_chain_case());
    suite_add_tcase(suite, make_compat_case());
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), run = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
