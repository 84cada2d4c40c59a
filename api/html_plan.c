// The plan as a graph in SVG. A node's column is its distance from the sources; within a column nodes stand in plan order.
#include "api/html.h"

#include "api/inspect.h"

#include <string.h>

enum { NODE_WIDTH = 190, NODE_HEIGHT = 62, COLUMN = 240, ROW = 84, MARGIN = 12, DEPTH_MAX = 256 };

struct place {
    uint32_t column, row;
};

static size_t index_of(const struct savepoint_info *info, const char *id) {
    for (size_t i = 0; i < info->plan.operator_count; i++)
        if (strcmp(info->plan.operators[i].operator_id, id) == 0) return i;
    return SIZE_MAX;
}

// Inputs stand before those who read them, so one pass does; an input that does not is left out.
static void lay_out(const struct savepoint_info *info, struct place *places, uint32_t *out_columns,
                    uint32_t *out_rows) {
    uint32_t rows[DEPTH_MAX] = {0};
    *out_columns = *out_rows = 0;
    for (size_t i = 0; i < info->plan.operator_count; i++) {
        const struct plan_operator *op = &info->plan.operators[i];
        uint32_t column = 0;
        for (size_t k = 0; k < op->input_count; k++) {
            size_t input = index_of(info, op->inputs[k]);
            if (input < i && places[input].column + 1 > column) column = places[input].column + 1;
        }
        if (column >= DEPTH_MAX) column = DEPTH_MAX - 1;
        places[i] = (struct place){column, rows[column]++};
        if (column + 1 > *out_columns) *out_columns = column + 1;
        if (rows[column] > *out_rows) *out_rows = rows[column];
    }
}

static uint32_t left_of(struct place place) {
    return MARGIN + place.column * COLUMN;
}

static uint32_t top_of(struct place place) {
    return MARGIN + place.row * ROW;
}

static void put_edge(struct place from, struct place to, struct strbuf *out) {
    uint32_t x1 = left_of(from) + NODE_WIDTH, y1 = top_of(from) + NODE_HEIGHT / 2;
    uint32_t x2 = left_of(to), y2 = top_of(to) + NODE_HEIGHT / 2, middle = (x1 + x2) / 2;
    tide__strbuf_printf(out, "<path class=\"edge\" d=\"M%u %uC%u %u %u %u %u %u\" marker-end=\"url(#tip)\"/>\n", x1, y1,
                        middle, y1, middle, y2, x2 - 6, y2);
}

static const struct task_part *part_of(const struct savepoint_info *info, const char *id) {
    for (size_t i = 0; i < info->snapshot.part_count; i++)
        if (strcmp(info->snapshot.parts[i].operator_id, id) == 0) return &info->snapshot.parts[i];
    return NULL;
}

static void put_state(const struct savepoint_info *info, const char *id, struct strbuf *out) {
    uint64_t entries = 0, bytes = 0;
    for (size_t t = 0; t < info->table_count; t++) {
        if (strcmp(info->tables[t].desc.operator_id, id) != 0) continue;
        entries += info->tables[t].entries;
        bytes += info->tables[t].key_bytes + info->tables[t].value_bytes;
    }
    tide__html_number(entries, out);
    tide__strbuf_append_c(out, entries == 1 ? " entry, " : " entries, ");
    tide__html_bytes(bytes, out);
}

static const char *title_of(const struct plan_operator *op) {
    for (size_t i = 0; i < op->clause_count; i++)
        if (strcmp(op->clauses[i].code, "source.table") == 0 || strcmp(op->clauses[i].code, "sink.table") == 0 ||
            strcmp(op->clauses[i].code, "window.type") == 0)
            return op->clauses[i].text;
    return op->kind;
}

static void put_node(const struct savepoint_info *info, const struct plan_operator *op, struct place place,
                     struct strbuf *out) {
    const struct task_part *part = part_of(info, op->operator_id);
    const char *class = op->input_count == 0            ? "source"
                        : strcmp(op->kind, "sink") == 0 ? "sink"
                        : op->stateful                  ? "stateful"
                                                        : "plain";
    uint32_t x = left_of(place), y = top_of(place);
    tide__strbuf_printf(out, "<g class=\"node %s\"><title>", class);
    for (size_t i = 0; i < op->clause_count; i++) {
        if (i > 0) tide__strbuf_append_c(out, "\n");
        tide__html_c(op->clauses[i].code, out);
        tide__strbuf_append_c(out, ": ");
        tide__html_c(op->clauses[i].text, out);
    }
    tide__strbuf_printf(out, "</title><rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"7\"/>", x, y, NODE_WIDTH,
                        NODE_HEIGHT);
    tide__strbuf_printf(out, "<text class=\"name\" x=\"%u\" y=\"%u\">", x + 10, y + 19);
    tide__html_c(op->operator_id, out);
    tide__strbuf_printf(out, "</text><text x=\"%u\" y=\"%u\">", x + 10, y + 36);
    tide__html_c(title_of(op), out);
    tide__strbuf_printf(out, "</text><text x=\"%u\" y=\"%u\">", x + 10, y + 52);
    if (op->stateful) {
        put_state(info, op->operator_id, out);
    } else if (part != NULL) {
        tide__html_number(part->kind == TASK_PART_SOURCE ? part->rows : part->rows_in, out);
        tide__strbuf_append_c(out, " rows");
    }
    tide__strbuf_append_c(out, "</text></g>\n");
}

void tide__html_plan(const struct savepoint_info *info, struct strbuf *out) {
    struct arena arena;
    tide__arena_init(&arena);
    struct place *places = ARENA_ARRAY(&arena, struct place, info->plan.operator_count + 1);
    uint32_t columns, rows;
    lay_out(info, places, &columns, &rows);
    uint32_t width = 2 * MARGIN + (columns > 0 ? (columns - 1) * COLUMN + NODE_WIDTH : 0);
    uint32_t height = 2 * MARGIN + (rows > 0 ? (rows - 1) * ROW + NODE_HEIGHT : 0);
    tide__strbuf_printf(
        out,
        "<div class=\"wide\"><svg class=\"plan\" role=\"img\" aria-label=\"The plan\" width=\"%u\" height=\"%u\" "
        "viewBox=\"0 0 %u %u\">\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"2\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8Z\"/></marker></defs>\n",
        width, height, width, height);
    for (size_t i = 0; i < info->plan.operator_count; i++) {
        const struct plan_operator *op = &info->plan.operators[i];
        for (size_t k = 0; k < op->input_count; k++) {
            size_t input = index_of(info, op->inputs[k]);
            if (input < i) put_edge(places[input], places[i], out);
        }
    }
    for (size_t i = 0; i < info->plan.operator_count; i++) put_node(info, &info->plan.operators[i], places[i], out);
    tide__strbuf_append_c(out, "</svg></div>\n");
    tide__arena_deinit(&arena);
}
