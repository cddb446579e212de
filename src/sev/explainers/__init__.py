"""What users call: wires space, references, backends and search together."""
