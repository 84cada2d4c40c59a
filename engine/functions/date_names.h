// English names in date patterns. Weeks begin with Monday here.
#ifndef TIDE_ENGINE_FUNCTIONS_DATE_NAMES_H
#define TIDE_ENGINE_FUNCTIONS_DATE_NAMES_H

extern const char *const tide__month_names[12];
extern const char *const tide__day_names[7];

#endif
