#ifndef TIDE_TESTS_BIND_TESTS_H
#define TIDE_TESTS_BIND_TESTS_H

#include <check.h>

Suite *make_bind_plan_suite(void);
Suite *make_bind_error_suite(void);

#endif
