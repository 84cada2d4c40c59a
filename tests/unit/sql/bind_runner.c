#include "bind_tests.h"

#include <stdlib.h>

int main(void) {
    SRunner *runner = srunner_create(make_bind_plan_suite());
    srunner_add_suite(runner, make_bind_error_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), run = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
