// Looking words up, by binary search in the sorted table of keywords.h.
#include "sql/keywords.h"

#include "sql/parse.h"

#include <assert.h>
#include <string.h>

struct entry {
    const char *word;
    enum keyword_class class;
};

static const struct entry entries[KEYWORD_COUNT] = {{"", KEYWORD_FREE},
#define X(word, class) {#word, KEYWORD_##class},
                                                    TIDE_KEYWORDS(X)
#undef X
};

enum { WORD_MAX = 40 };

enum keyword tide__keyword_find(struct str word) {
    char upper[WORD_MAX];
    if (word.len == 0 || word.len >= WORD_MAX) return KEYWORD_NONE;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
        upper[i] = (c >= 'a' && c <= 'z') ? (char)(c - 'a' + 'A') : c;
    }
    upper[word.len] = '\0';
    size_t low = 1, high = KEYWORD_COUNT;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(upper, entries[middle].word);
        if (order == 0) return (enum keyword)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return KEYWORD_NONE;
}

const char *tide__keyword_text(enum keyword keyword) {
    assert(keyword < KEYWORD_COUNT);
    return entries[keyword].word;
}

enum keyword_class tide__keyword_class(enum keyword keyword) {
    assert(keyword < KEYWORD_COUNT);
    return entries[keyword].class;
}

bool tide__parse_is_reserved(struct str word) {
    return tide__keyword_class(tide__keyword_find(word)) != KEYWORD_FREE;
}
