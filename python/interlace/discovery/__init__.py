"""Finding declarations: importing the project's files, each on its own, and describing what they registered."""
