"""Entry of the worker process."""

from interlace.worker.loop import main

if __name__ == "__main__":
    main()
