import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.ToNumberPolicy;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The pipes to Storm, with something that changes the messages in between. */
final class Pipes {
    static final Gson JSON = new GsonBuilder().serializeNulls().disableHtmlEscaping()
            .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE).create();

    private Pipes() {}

    /** What becomes of a message: messages in its place, or text as it is. Task ids are a message with the key "ids". */
    interface Change {
        List<Object> of(Map<String, Object> message);
    }

    /** A minute, not for ever: nobody may be there to end it. */
    static void linger() {
        try {
            Thread.sleep(60_000);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    static byte[] bytes(List<Object> messages) {
        StringBuilder text = new StringBuilder();
        for (Object each : messages) {
            Object whole = each instanceof Map<?, ?> map && map.containsKey("ids") ? map.get("ids") : each;
            text.append(each instanceof String ? each : JSON.toJson(whole) + "\nend\n");
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static Map<String, Object> decoded(String text) {
        Object message = JSON.fromJson(text, Object.class);
        return message instanceof Map<?, ?> map ? Storm.map(map) : Storm.map(new HashMap<>(Map.of("ids", message)));
    }

    /** Hands Storm's messages on, changed. */
    static final class Input extends InputStream {
        private final BufferedReader lines;
        private final Change change;
        private ByteArrayInputStream ready = new ByteArrayInputStream(new byte[0]);

        Input(BufferedReader lines, Change change) {
            this.lines = lines;
            this.change = change;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int from, int count) throws IOException {
            while (ready.available() == 0) {
                String line = lines.readLine();
                if (line == null) {
                    return -1;
                }
                ready = new ByteArrayInputStream(line.equals("end") ? new byte[0] : bytes(change.of(decoded(line))));
            }
            return ready.read(into, from, count);
        }

        @Override
        public int available() {
            return ready.available();
        }
    }

    /** Hands the library's messages on, changed. The library flushes after each. */
    static final class Output extends OutputStream {
        private final PrintStream to;
        private final Change change;
        private final ByteArrayOutputStream text = new ByteArrayOutputStream();

        Output(PrintStream to, Change change) {
            this.to = to;
            this.change = change;
        }

        @Override
        public void write(int each) {
            text.write(each);
        }

        @Override
        public void flush() throws IOException {
            String whole = text.toString(StandardCharsets.UTF_8);
            if (whole.endsWith("\nend\n")) {
                text.reset();
                to.write(bytes(change.of(decoded(whole.substring(0, whole.length() - 4)))));
                to.flush();
            }
        }
    }

    /** Writes each half of a character beyond 16 bits for itself, as DataOutputStream.writeUTF does. */
    static final class Cesu extends PrintStream {
        Cesu(PrintStream to) {
            super(to);
        }

        @Override
        public void write(byte[] text) throws IOException {
            for (char each : new String(text, StandardCharsets.UTF_8).toCharArray()) {
                if (Character.isSurrogate(each)) {
                    write(0xe0 | each >> 12);
                    write(0x80 | each >> 6 & 0x3f);
                    write(0x80 | each & 0x3f);
                } else {
                    super.writeBytes(String.valueOf(each).getBytes(StandardCharsets.UTF_8));
                }
            }
        }

        @Override
        public void writeBytes(byte[] text) {
            try {
                write(text);
            } catch (IOException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }

    /** Reads in the encoding of the locale, as readers without a charset did before Java 18. */
    static final class DefaultCharset extends InputStream {
        private final BufferedReader lines;
        private ByteArrayInputStream ready = new ByteArrayInputStream(new byte[0]);

        DefaultCharset(InputStream from) {
            lines = new BufferedReader(new InputStreamReader(from, Charset.forName(System.getProperty("native.encoding"))));
        }

        @Override
        public int read() throws IOException {
            throw new IOException("not in use");
        }

        @Override
        public int read(byte[] into, int from, int count) throws IOException {
            if (ready.available() == 0) {
                String line = lines.readLine();
                if (line == null) {
                    return -1;
                }
                ready = new ByteArrayInputStream((line + "\n").getBytes(StandardCharsets.UTF_8));
            }
            return ready.read(into, from, count);
        }

        @Override
        public int available() {
            return ready.available();
        }
    }

    /** Does not see the end of stdin. */
    static final class Endless extends InputStream {
        private final InputStream from;

        Endless(InputStream from) {
            this.from = from;
        }

        @Override
        public int read() throws IOException {
            throw new IOException("not in use");
        }

        @Override
        public int read(byte[] into, int start, int count) throws IOException {
            int read = from.read(into, start, count);
            if (read < 0) {
                linger();
            }
            return read;
        }

        @Override
        public int available() throws IOException {
            return from.available();
        }
    }
}
