"""The plugin framework: hook specifications, descriptors, discovery, and the facade."""
