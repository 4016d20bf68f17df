"""A PostgreSQL server for tests: of its own, on a free port of 127.0.0.1, gone when its user is.

    with PostgresServer() as server:
        server.dsn                       # postgresql://…
        server.sql("SELECT 1")           # what psql prints, a line for each row

As a command it prints the connection string and serves until its standard input ends; without the programs of a server
it exits with 77.
"""

import contextlib
import glob
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile

WITHOUT_SERVER = 77
DEADLINE_S = 60


def binary_folder():
    """Where initdb and postgres lie, of the newest version; None when there are none."""
    found = [shutil.which("initdb"), *glob.glob("/usr/lib/postgresql/*/bin/initdb")]
    folders = [pathlib.Path(path).resolve().parent for path in found if path]
    folders = [folder for folder in folders if (folder / "postgres").exists()]
    return max(folders, key=lambda folder: [int(part) for part in folder.parts if part.isdigit()], default=None)


def unprivileged_user():
    """A server refuses to run as root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class PostgresServer:
    def __init__(self):
        self.binaries = binary_folder()
        if self.binaries is None:
            raise FileNotFoundError("no PostgreSQL server is installed")
        self.user = unprivileged_user()
        self.folder = None
        self.port = None

    def __enter__(self):
        # Not in the test's own folder: others may not enter that.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="interlace_pg_"))
        if self.user:
            shutil.chown(self.folder, self.user)
        try:
            self.run("initdb", "-D", self.folder / "data", "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync")
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")
        self.remove()

    def start(self):
        """Another process may take the port meanwhile: so more than once."""
        for attempts_left in (2, 1, 0):
            self.port = free_port()
            options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
            log = self.folder / "log"
            try:
                self.run("pg_ctl", "-D", self.folder / "data", "-o", options, "-l", log, "-w", "start")
                return
            except subprocess.CalledProcessError:
                if attempts_left == 0:
                    raise

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, program, *arguments):
        """The server that pg_ctl starts keeps its output open, so that goes to a file."""
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(
                [str(self.binaries / program), *map(str, arguments)],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=DEADLINE_S,
                user=self.user,
                check=False,
            )
            output.seek(0)
            text = output.read().decode(errors="replace")
        if done.returncode != 0:
            raise subprocess.CalledProcessError(done.returncode, program, text)
        return text

    @property
    def dsn(self):
        return f"postgresql://tester:not-asked-for@127.0.0.1:{self.port}/postgres"

    def sql(self, text):
        return self.run("psql", self.dsn, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text).splitlines()


def main():
    if binary_folder() is None:
        return WITHOUT_SERVER
    with PostgresServer() as server:
        print(server.dsn, flush=True)
        sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
