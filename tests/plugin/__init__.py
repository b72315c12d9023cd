"""The plugin inside the engine: what its Java code and the Python layer have to answer alike."""
