// Runs the unit tests of state/.
#include "state_tests.h"

#include <stdlib.h>

int main(void) {
    SRunner *runner = srunner_create(make_memtable_suite());
    srunner_add_suite(runner, make_combine_suite());
    srunner_add_suite(runner, make_store_suite());
    srunner_run_all(runner, CK_ENV);
    int run = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return run > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
