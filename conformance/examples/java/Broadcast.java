import java.util.ArrayList;
import java.util.List;

/** A small implementation of causal broadcast with vector clocks (Birman, Schiper, Stephenson 1991). */
class Broadcast {
    record Packet(int source, String text, int[] clock) {}

    interface Application {
        void transmit(Packet packet);

        void deliver(int source, String text);
    }

    final int identity;
    final int[] delivered;
    final List<Packet> waiting = new ArrayList<>();
    final Application application;
    int sent = 0;

    Broadcast(int identity, int processes, Application application) {
        this.identity = identity;
        this.delivered = new int[processes];
        this.application = application;
    }

    void send(String text) {
        int[] clock = delivered.clone();
        clock[identity] = ++sent;
        application.transmit(new Packet(identity, text, clock));
        delivered[identity] = sent; // one's own messages count as delivered; the application has them
    }

    void receive(Packet packet) {
        waiting.add(packet);
        for (Packet next = next(); next != null; next = next()) {
            waiting.remove(next);
            delivered[next.source()]++;
            application.deliver(next.source(), next.text());
        }
    }

    Packet next() {
        return waiting.stream().filter(this::isNext).findFirst().orElse(null);
    }

    boolean isNext(Packet packet) {
        for (int process = 0; process < delivered.length; process++) {
            int needed = packet.clock()[process] - (process == packet.source() ? 1 : 0);
            if (delivered[process] < needed) return false;
        }
        return true;
    }

    /** Looks only at the message that has waited longest: all others wait for it, needed or not. */
    static class Faulty extends Broadcast {
        Faulty(int identity, int processes, Application application) {
            super(identity, processes, application);
        }

        @Override
        Packet next() {
            return waiting.isEmpty() || !isNext(waiting.get(0)) ? null : waiting.get(0);
        }
    }
}
