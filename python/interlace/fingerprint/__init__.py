"""What a Python model's fingerprint is made of: the canonical form of its code, and the values it captured."""
