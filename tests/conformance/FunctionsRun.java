// Computes expressions on real Apache Flink, many in one job: the referee of functions.py.
// usage: FunctionsRun SPEC OUT. Lines of SPEC, fields separated by tabs:
//   @set KEY VALUE          for the lines below
//   @alone, @together       what is likely to fail should not be put into one job with others
//   @table STATEMENT        a view with a column `id`
//   EXPRESSION [TABLE]      computed once, or for each row of the view, in order of id
// OUT has a line for each expression: OK, type, value for each row; or ERROR, phase, cause.
import java.nio.file.*;
import java.util.*;
import org.apache.flink.configuration.*;
import org.apache.flink.runtime.minicluster.*;
import org.apache.flink.table.api.*;
import org.apache.flink.table.api.internal.TableResultInternal;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.utils.print.RowDataToStringConverter;
import org.apache.flink.util.CloseableIterator;

public class FunctionsRun {
    static int together = 40;
    static TableEnvironment env;

    static class Case {
        String expression, table, result, type;
    }

    public static void main(String[] args) {
        try {
            all(args);
        } catch (Throwable t) {
            t.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }

    static void all(String[] args) throws Exception {
        Configuration conf = new Configuration();
        conf.setString("rest.bind-port", "0");
        conf.setString("rest.port", "0");
        MiniCluster cluster = new MiniCluster(new MiniClusterConfiguration.Builder().setConfiguration(conf)
            .setNumTaskManagers(1).setNumSlotsPerTaskManager(8).withRandomPorts().build());
        cluster.start();
        Configuration job = new Configuration();
        job.setString("execution.target", "remote");
        job.setString("rest.address", "localhost");
        job.setString("rest.port", "" + cluster.getRestAddress().get().getPort());
        job.setString("table.local-time-zone", "UTC");
        job.setString("parallelism.default", "1");
        env = TableEnvironment.create(EnvironmentSettings.newInstance().withConfiguration(job).inStreamingMode().build());
        List<Case> all = new ArrayList<>(), group = new ArrayList<>();
        for (String line : Files.readAllLines(Paths.get(args[0]))) {
            if (line.isEmpty() || line.startsWith("#")) continue;
            String[] part = line.split("\t");
            if (part[0].equals("@alone") || part[0].equals("@together")) {
                flush(group);
                together = part[0].equals("@alone") ? 1 : 40;
                continue;
            }
            if (part[0].equals("@set") || part[0].equals("@table")) {
                flush(group);
                if (part[0].equals("@set")) env.getConfig().set(part[1], part[2]);
                else env.executeSql(part[1]);
                continue;
            }
            Case c = new Case();
            c.expression = part[0];
            c.table = part.length > 1 ? part[1] : null;
            if (!group.isEmpty() && !Objects.equals(group.get(0).table, c.table)) flush(group);
            all.add(c);
            try {
                c.type = env.sqlQuery("SELECT " + c.expression + " AS x" + from(c.table)).getResolvedSchema().getColumns().get(0)
                    .getDataType().getLogicalType().toString();
            } catch (Throwable t) {
                c.result = error(t);
                continue;
            }
            group.add(c);
            if (group.size() >= together) {
                flush(group);
                System.out.println(all.size());
            }
        }
        flush(group);
        StringBuilder out = new StringBuilder();
        for (Case c : all) {
            out.append(c.expression).append('\t').append(c.table == null ? "" : c.table).append('\t').append(c.result).append('\n');
        }
        Files.writeString(Paths.get(args[1]), out.toString());
    }

    static String from(String table) {
        return table == null ? "" : " FROM " + table;
    }

    static void flush(List<Case> group) {
        if (!group.isEmpty()) compute(new ArrayList<>(group));
        group.clear();
    }

    // All in one job; if that fails, halves.
    static void compute(List<Case> group) {
        StringBuilder sql = new StringBuilder("SELECT ");
        String table = group.get(0).table;
        sql.append(table == null ? "1 AS id" : "id");
        for (int i = 0; i < group.size(); i++) sql.append(", ").append(group.get(i).expression).append(" AS x").append(i);
        sql.append(from(table));
        TreeMap<Integer, String[]> rows = new TreeMap<>();
        try {
            TableResultInternal result = (TableResultInternal) env.executeSql(sql.toString());
            RowDataToStringConverter converter = result.getRowDataToStringConverter();
            try (CloseableIterator<RowData> at = result.collectInternal()) {
                while (at.hasNext()) {
                    RowData row = at.next();
                    String[] values = converter.convert(row);
                    for (int i = 0; i < values.length; i++) values[i] = row.isNullAt(i) ? "<NULL>" : escape(values[i]);
                    rows.put(row.getInt(0), values);
                }
            }
        } catch (Throwable t) {
            if (group.size() == 1) {
                group.get(0).result = error(t);
                return;
            }
            int half = group.size() / 2;
            compute(group.subList(0, half));
            compute(group.subList(half, group.size()));
            return;
        }
        for (int i = 0; i < group.size(); i++) {
            StringBuilder out = new StringBuilder("OK\t" + group.get(i).type);
            for (String[] row : rows.values()) out.append('\t').append(row[i + 1]);
            group.get(i).result = out.toString();
        }
    }

    static String escape(String v) {
        return v.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
    }

    static String error(Throwable t) {
        String phase = t instanceof TableException ? "plan" : "runtime";
        for (Throwable c = t; c != null; c = c.getCause()) {
            String name = c.getClass().getSimpleName();
            if (name.contains("SqlParserException") || name.contains("SqlParseException")) phase = "parse";
            else if (name.contains("ValidationException")) phase = "validate";
            else if (name.contains("JobExecutionException") || name.contains("TableExecution")) phase = "runtime";
            else continue;
            break;
        }
        while (t.getCause() != null && t.getCause() != t) t = t.getCause();
        return "ERROR\t" + phase + "\t" + escape(String.valueOf(t.getMessage()).split("\n")[0]);
    }
}
