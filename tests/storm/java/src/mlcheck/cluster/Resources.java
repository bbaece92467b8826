package mlcheck.cluster;

import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Path;

/**
 * Shows LocalCluster the topology's folder as `resources`, which the components are started in. Without it LocalCluster
 * takes the one of the first jar that has such a folder.
 */
final class Resources extends ClassLoader {
    private volatile URL folder;

    Resources() {
        super(Resources.class.getClassLoader());
    }

    void show(Path path) throws MalformedURLException {
        folder = path.toUri().toURL();
    }

    @Override
    public URL getResource(String name) {
        return name.equals("resources") ? folder : super.getResource(name);
    }
}
