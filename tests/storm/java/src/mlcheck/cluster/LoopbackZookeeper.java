package mlcheck.cluster;

import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.apache.storm.shade.org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.storm.shade.org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper that only this machine reaches: the one that LocalCluster would start listens on all addresses. */
final class LoopbackZookeeper {
    private LoopbackZookeeper() {
    }

    /** Starts it, and returns its port. */
    static long start(File folder) throws Exception {
        NIOServerCnxnFactory server = new NIOServerCnxnFactory();
        server.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.startup(new ZooKeeperServer(folder, folder, 2000));
        return server.getLocalPort();
    }
}
