// Runs scripts on real Apache Flink, in one JVM: the referee. usage: FlinkRun DIR...
// A DIR holds query.sql; relative 'path' options are relative to it. Writes DIR/flink.out in the form of
// tests/golden/README.md (without order lines): per result `-- names`, `-- types`, rows; an error ends the file.
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.*;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.api.internal.TableResultInternal;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.utils.print.RowDataToStringConverter;
import org.apache.flink.util.CloseableIterator;

public class FlinkRun {
    public static void main(String[] args) throws Exception {
        for (String arg : args) {
            Path dir = Paths.get(arg).toAbsolutePath();
            StringBuilder out = new StringBuilder();
            try {
                run(dir, out);
            } catch (Throwable t) {
                out.append("ERROR ").append(phase(t)).append(": ").append(cause(t)).append('\n');
            }
            Files.writeString(dir.resolve("flink.out"), out.toString());
            System.out.println(arg);
            System.out.flush();
        }
        System.exit(0);
    }

    static void run(Path dir, StringBuilder out) throws Exception {
        String sql = Files.readString(dir.resolve("query.sql"));
        Matcher m = Pattern.compile("('path'\\s*=\\s*')([^'/][^']*)'").matcher(sql);
        sql = m.replaceAll(r -> Matcher.quoteReplacement(r.group(1) + dir.resolve(r.group(2)) + "'"));
        Configuration conf = new Configuration();
        conf.setString("table.local-time-zone", "UTC");
        conf.setString("parallelism.default", "1");
        boolean batch = Pattern.compile("'execution.runtime-mode'\\s*=\\s*'batch'", Pattern.CASE_INSENSITIVE).matcher(sql).find();
        EnvironmentSettings.Builder settings = EnvironmentSettings.newInstance().withConfiguration(conf);
        TableEnvironment env = TableEnvironment.create(batch ? settings.inBatchMode().build() : settings.inStreamingMode().build());
        for (String statement : split(sql)) statement(env, statement, out);
    }

    static void statement(TableEnvironment env, String text, StringBuilder out) throws Exception {
        Matcher set = Pattern.compile("(?is)\\s*SET\\s+'([^']*)'\\s*=\\s*'((?:[^']|'')*)'\\s*").matcher(strip(text));
        if (set.matches()) {
            env.getConfig().set(set.group(1), set.group(2).replace("''", "'"));
            return;
        }
        TableResultInternal result = (TableResultInternal) env.executeSql(text);
        ResultKind kind = result.getResultKind();
        if (kind == ResultKind.SUCCESS) return;
        boolean modify = result.getJobClient().isPresent() && strip(text).trim().toUpperCase().matches("(?s)(INSERT|EXECUTE|BEGIN).*");
        if (modify) {
            result.await();
            return;
        }
        List<String> names = new ArrayList<>(), types = new ArrayList<>();
        result.getResolvedSchema().getColumns().forEach(c -> {
            names.add(c.getName());
            types.add(c.getDataType().getLogicalType().toString());
        });
        out.append("-- ").append(String.join("\t", names)).append("\n-- ").append(String.join("\t", types)).append('\n');
        RowDataToStringConverter converter = result.getRowDataToStringConverter();
        try (CloseableIterator<RowData> rows = result.collectInternal()) {
            while (rows.hasNext()) {
                RowData row = rows.next();
                String[] values = converter.convert(row);
                out.append(row.getRowKind().shortString());
                for (int i = 0; i < values.length; i++)
                    out.append('\t').append(row.isNullAt(i) ? "<NULL>" : escape(values[i]));
                out.append('\n');
            }
        }
    }

    static String escape(String v) {
        return v.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
    }

    // Without comments.
    static String strip(String text) {
        return text.replaceAll("(?m)^\\s*--.*$", "").replaceAll("(?s)/\\*[^+].*?\\*/", " ");
    }

    // At `;` outside of strings, names, comments and statement sets.
    static List<String> split(String sql) {
        List<String> out = new ArrayList<>();
        StringBuilder at = new StringBuilder();
        boolean set = false;
        for (int i = 0; i < sql.length(); i++) {
            char c = sql.charAt(i);
            if (c == '\'' || c == '`') {
                int end = sql.indexOf(c, i + 1);
                end = end < 0 ? sql.length() - 1 : end;
                at.append(sql, i, end + 1);
                i = end;
            } else if (sql.startsWith("--", i)) {
                int end = sql.indexOf('\n', i);
                i = end < 0 ? sql.length() : end;
                at.append('\n');
            } else if (sql.startsWith("/*", i) && !sql.startsWith("/*+", i)) {
                int end = sql.indexOf("*/", i + 2);
                i = end < 0 ? sql.length() : end + 1;
                at.append(' ');
            } else if (c == ';') {
                String t = at.toString().trim().toUpperCase();
                if (!set && t.matches("(?s)(EXECUTE\\s+STATEMENT\\s+SET\\s+)?BEGIN\\b.*")) set = true;
                if (set && !t.matches("(?s).*\\bEND")) {
                    at.append(c);
                    continue;
                }
                set = false;
                if (!t.isEmpty()) out.add(at.toString());
                at.setLength(0);
            } else {
                at.append(c);
            }
        }
        if (!at.toString().trim().isEmpty()) out.add(at.toString());
        return out;
    }

    static String phase(Throwable t) {
        for (Throwable c = t; c != null; c = c.getCause()) {
            String name = c.getClass().getSimpleName();
            if (name.contains("SqlParserException") || name.contains("SqlParseException")) return "parse";
            if (name.contains("ValidationException")) return "validate";
            if (name.contains("JobExecutionException") || name.contains("TableExecution")) return "runtime";
        }
        return t instanceof TableException ? "plan" : "runtime";
    }

    static String cause(Throwable t) {
        while (t.getCause() != null && t.getCause() != t) t = t.getCause();
        return String.valueOf(t.getMessage()).split("\n")[0];
    }
}
