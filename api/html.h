// The report of a savepoint as one page of HTML. Inside api/ only.
#ifndef TIDE_API_HTML_H
#define TIDE_API_HTML_H

#include "api/view.h"

// Text with what means something to HTML escaped.
void tide__html_text(struct str text, struct strbuf *out);
void tide__html_c(const char *text, struct strbuf *out);
// "1.2 MB"; "1,234,567"
void tide__html_bytes(uint64_t bytes, struct strbuf *out);
void tide__html_number(uint64_t number, struct strbuf *out);

// The plan as an inline SVG: sources on the left, sinks on the right.
void tide__html_plan(const struct savepoint_info *info, struct strbuf *out);
// The windows of each operator on a line of time, with the watermark.
void tide__html_windows(const struct savepoint_info *info, const struct state_view *views, size_t count,
                        struct strbuf *out);

#endif
