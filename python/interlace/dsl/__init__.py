"""How models, checks and streams are declared."""
