// Runs all suites of base/.
#include "base_tests.h"

#include <stdlib.h>

int main(void) {
    SRunner *runner = srunner_create(make_error_suite());
    srunner_add_suite(runner, make_memory_suite());
    srunner_add_suite(runner, make_str_suite());
    srunner_add_suite(runner, make_type_suite());
    srunner_add_suite(runner, make_time_suite());
    srunner_add_suite(runner, make_decimal_suite());
    srunner_add_suite(runner, make_float_suite());
    srunner_add_suite(runner, make_sort_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
