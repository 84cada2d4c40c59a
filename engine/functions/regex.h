// Regular expressions as Java's: ICU's, which are nearly the same, loaded when a script first needs them.
#ifndef TIDE_ENGINE_FUNCTIONS_REGEX_H
#define TIDE_ENGINE_FUNCTIONS_REGEX_H

#include "base/error.h"
#include "base/str.h"

struct regex;

// A pattern that is no regular expression gives TIDE_OK and *out NULL. Fails only if ICU is not installed.
tide_status tide__regex_open(struct str pattern, struct regex **out, tide_error *err) TIDE_CHECKED;
void tide__regex_close(struct regex *regex);
// True if a part of the text (whole: all of it) matches. The groups can then be asked for.
bool tide__regex_match(struct regex *regex, struct str text, bool whole);
// The next match behind the last one.
bool tide__regex_next(struct regex *regex);
// Byte range of a group of the last match (0: all of it). False if there is no such group or it did not take part.
bool tide__regex_group(struct regex *regex, int group, size_t *out_start, size_t *out_end);
// Groups of the pattern, without group 0.
int tide__regex_group_count(struct regex *regex);

#endif
