// Waiver files: which changes don't count, why, and until when. YAML, of which a strict little subset is taken:
//
//   - fingerprint: 0123456789abcdef   # of the change, as a report has it
//     reason: "the dashboard was told"
//     until: 2027-01-31               # the last day on which it holds; may be missing
//
// Comments, empty lines and a `---` may stand between. Anything else is an error, so that no waiver is misread.
#include "api/check.h"

#include "base/time.h"

#include <string.h>

struct reader {
    const char *name;
    struct str text;
    size_t at;
    uint32_t line;
    int64_t today;
    struct arena *arena;
    struct waivers *out;
    tide_error *err;
};

static tide_status wrong(const struct reader *r, const char *what) {
    struct source_pos pos = {.line = r->line, .column = 1, .length = 1};
    tide__fail_at(r->err, TIDE_ERR_OPTION, pos, "%s", what);
    tide__error_set_file(r->err, r->name);
    tide__error_set_excerpt(r->err, r->text.data, r->text.len);
    return tide__fail_hint(
        r->err, "A waiver is `- fingerprint: HEX`, then indented `reason: TEXT` and perhaps `until: YYYY-MM-DD`.");
}

static struct str next_line(struct reader *r) {
    size_t end = r->at;
    while (end < r->text.len && r->text.data[end] != '\n') end++;
    struct str line = {r->text.data + r->at, end - r->at};
    r->at = end < r->text.len ? end + 1 : end;
    r->line++;
    if (line.len > 0 && line.data[line.len - 1] == '\r') line.len--;
    return line;
}

static struct str trimmed(struct str s) {
    while (s.len > 0 && (s.data[0] == ' ')) s.data++, s.len--;
    while (s.len > 0 && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t')) s.len--;
    return s;
}

// A comment begins at a # behind a blank, outside of quotes.
static struct str without_comment(struct str s) {
    char quote = '\0';
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        if (quote != '\0') {
            if (c == quote) quote = '\0';
            continue;
        }
        if (c == '"' || c == '\'') quote = c;
        if (c == '#' && (i == 0 || s.data[i - 1] == ' ' || s.data[i - 1] == '\t')) {
            s.len = i;
            break;
        }
    }
    return s;
}

static tide_status unquoted(struct reader *r, struct str value, const char **out) {
    bool quoted = value.len > 0 && (value.data[0] == '"' || value.data[0] == '\'');
    if (quoted) {
        if (value.len < 2 || value.data[value.len - 1] != value.data[0]) return wrong(r, "the quotes are not closed");
        value.data++;
        value.len -= 2;
        for (size_t i = 0; i < value.len; i++)
            if (value.data[i] == '\\' || value.data[i] == value.data[-1])
                return wrong(r, "quotes and backslashes can't stand in a quoted text");
    } else if (value.len == 0 || strchr("[]{}&*!|>%@`", value.data[0]) != NULL) {
        return wrong(r, "the value must be plain or quoted text");
    }
    *out = tide__arena_strndup(r->arena, value.data, value.len);
    return TIDE_OK;
}

static tide_status set_fingerprint(struct reader *r, struct waiver *waiver, const char *text) {
    uint64_t value = 0;
    size_t n = 0;
    for (; text[n] != '\0' && n < 17; n++) {
        const char *digits = "0123456789abcdef",
                   *digit = strchr(digits, text[n] >= 'A' && text[n] <= 'F' ? text[n] + 32 : text[n]);
        if (digit == NULL) return wrong(r, "a fingerprint is 16 hexadecimal digits");
        value = value << 4 | (uint64_t)(digit - digits);
    }
    if (n != 16) return wrong(r, "a fingerprint is 16 hexadecimal digits");
    waiver->fingerprint = value;
    return TIDE_OK;
}

static tide_status set_until(struct reader *r, struct waiver *waiver, const char *text) {
    int64_t day;
    struct str s = {text, strlen(text)};
    if (s.len != 10 || !tide__date_parse(s, &day)) return wrong(r, "until must be a date: YYYY-MM-DD");
    waiver->until = text;
    waiver->expired = day < r->today;
    return TIDE_OK;
}

static tide_status set_member(struct reader *r, struct waiver *waiver, struct str line) {
    const char *colon = memchr(line.data, ':', line.len);
    if (colon == NULL) return wrong(r, "`name: value` was expected");
    struct str name = trimmed((struct str){line.data, (size_t)(colon - line.data)});
    const char *value = NULL;
    struct str rest = {colon + 1, line.len - (size_t)(colon + 1 - line.data)};
    TIDE_TRY(unquoted(r, trimmed(rest), &value));
    if (tide__str_eq_c(name, "fingerprint")) return set_fingerprint(r, waiver, value);
    if (tide__str_eq_c(name, "until")) return set_until(r, waiver, value);
    if (!tide__str_eq_c(name, "reason")) return wrong(r, "a waiver has fingerprint, reason and until");
    if (waiver->reason != NULL) return wrong(r, "the waiver has two reasons");
    waiver->reason = value;
    return TIDE_OK;
}

static tide_status finish(const struct reader *r) {
    if (r->out->count == 0) return TIDE_OK;
    const struct waiver *last = &r->out->items[r->out->count - 1];
    if (last->fingerprint == 0) return wrong(r, "the waiver above has no fingerprint");
    if (last->reason == NULL) return wrong(r, "the waiver above has no reason");
    return TIDE_OK;
}

tide_status tide__api_waivers_parse(const char *name, struct str text, int64_t today, struct arena *arena,
                                    struct waivers *out, tide_error *err) {
    size_t lines = 1;
    for (size_t i = 0; i < text.len; i++) lines += text.data[i] == '\n';
    *out = (struct waivers){0, ARENA_ARRAY(arena, struct waiver, lines + 1)};
    struct reader r = {name, text, 0, 0, today, arena, out, err};
    while (r.at < text.len) {
        struct str line = without_comment(next_line(&r)), bare = trimmed(line);
        if (bare.len == 0 || tide__str_eq_c(line, "---")) continue;
        if (memchr(line.data, '\t', line.len) != NULL) return wrong(&r, "a tab can't stand here");
        if (line.data[0] == '-') {
            TIDE_TRY(finish(&r));
            out->items[out->count++] = (struct waiver){.line = r.line};
            bare = trimmed((struct str){line.data + 1, line.len - 1});
            if (line.len < 2 || line.data[1] != ' ') return wrong(&r, "a blank must follow the dash");
        } else if (line.data[0] != ' ' || out->count == 0) {
            return wrong(&r, "a list of waivers was expected");
        }
        TIDE_TRY(set_member(&r, &out->items[out->count - 1], bare));
    }
    return finish(&r);
}
