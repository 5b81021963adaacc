import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** thence-exec/1 around Broadcast.java: one JSON object a line in, one in reply. --faulty: the faulty version. */
class Adapter {
    static final Map<Integer, Broadcast> processes = new HashMap<>();
    static final Map<Integer, List<String>> answers = new HashMap<>();
    static final List<Broadcast.Packet> packets = new ArrayList<>(); // a packet travels as its place in this list
    static final List<String> events = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        boolean faulty = List.of(arguments).contains("--faulty");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            try {
                System.out.println(handle(line, faulty));
            } catch (RuntimeException error) {
                System.out.println("{\"error\": \"" + error.getClass().getSimpleName() + "\"}");
            }
        }
    }

    static String handle(String line, boolean faulty) {
        events.clear();
        switch (find(line, "request", "\"(\\w+)\"")) {
            case "init" -> {
                packets.clear();
                int count = number(line, "processes");
                for (int identity = 0; identity < count; identity++) start(identity, count, faulty);
                return "{\"version\": \"thence-exec/1\", \"timers\": false}";
            }
            case "send" -> processes.get(number(line, "process")).send(find(line, "message", "\"([^\"]*)\""));
            case "react" -> answers.get(number(line, "process")).add(find(line, "message", "\"([^\"]*)\""));
            case "receive" -> processes.get(number(line, "process")).receive(packets.get(number(line, "packet")));
        }
        return "{\"events\": [" + String.join(", ", events) + "]}";
    }

    static void start(int identity, int count, boolean faulty) {
        List<Integer> others = new ArrayList<>();
        for (int other = 0; other < count; other++) if (other != identity) others.add(other);
        Broadcast.Application application = new Broadcast.Application() {
            public void transmit(Broadcast.Packet packet) {
                packets.add(packet);
                events.add(String.format("{\"packet\": %d, \"to\": %s, \"message\": \"%s\"}",
                    packets.size() - 1, others, packet.text()));
            }

            public void deliver(int source, String text) {
                events.add(String.format("{\"deliver\": \"%s\", \"from\": %d}", text, source));
                while (!answers.get(identity).isEmpty()) { // the application answers from inside the delivery
                    String answer = answers.get(identity).remove(0);
                    events.add(String.format("{\"sent\": \"%s\"}", answer));
                    processes.get(identity).send(answer);
                }
            }
        };
        answers.put(identity, new ArrayList<>());
        processes.put(identity, faulty ? new Broadcast.Faulty(identity, count, application)
            : new Broadcast(identity, count, application));
    }

    static int number(String line, String key) {
        return Integer.parseInt(find(line, key, "(\\d+)"));
    }

    static String find(String line, String key, String value) {
        Matcher matcher = Pattern.compile("\"" + key + "\":\\s*" + value).matcher(line);
        if (!matcher.find()) throw new IllegalArgumentException(key);
        return matcher.group(1);
    }
}
