"""Java components: Storm's own Flux makes the topology, and a Java program hosts each as a shell component."""
