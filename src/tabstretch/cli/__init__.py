"""The `tabstretch` command: one small function for each verb.

- `arguments`: what several verbs have in common
- `tables`: fit, transform
- `suggesting`: suggest
- `maps`: plot, export
- `studies`: run, status, results, splits
- `comparing`: compare
- `analyses`: report, marginal, noise
"""

from __future__ import annotations

import argparse
import io
import shlex
import sys
from collections.abc import Sequence

from tabstretch import __version__
from tabstretch._terminal import tell
from tabstretch.cli.analyses import add_marginal, add_noise, add_report
from tabstretch.cli.arguments import CommandError, Parser
from tabstretch.cli.comparing import add_compare
from tabstretch.cli.interruptions import EXIT_CODE, Interruption
from tabstretch.cli.maps import add_export, add_plot
from tabstretch.cli.studies import add_results, add_run, add_splits, add_status
from tabstretch.cli.suggesting import add_suggest
from tabstretch.cli.tables import add_fit, add_transform

_REPORT = ("matplotlib", "jinja2", "scikit_posthocs")
"""Libraries of the extra `report`; all others that may be missing are of `study`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for an error, 2 for misuse, 130 for an interruption.

    Without arguments, those of the process: then signals stay with the command until the process ends.
    """
    parser = _parser()
    chosen, unknown = parser.parse_known_args(arguments)
    if unknown:
        asked = "tabstretch --help" if chosen.verb is None else f"tabstretch {chosen.verb} --help"
        parser.error(f"unrecognized arguments: {' '.join(unknown)} ({asked} lists the options)")
    if chosen.verb is None:
        parser.print_help()
        return 2
    what = getattr(chosen, "interrupted", f"everything finished is stored. Go on with:\n  {_again()}")
    interruption = Interruption(what)
    try:
        interruption.listen()
        code = _run(chosen, interruption)
        interruption.over()
    except BaseException as error:
        # Whatever it says, an interruption was its cause.
        if not (interruption.is_received or isinstance(error, KeyboardInterrupt)):
            raise
        interruption.over()
        interruption.tell()
        code = EXIT_CODE
    finally:
        if arguments is not None:
            interruption.forget()
    return code


def _run(chosen: argparse.Namespace, interruption: Interruption) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without "±" gets a question mark
    try:
        code = int(chosen.run(chosen) or 0)
        sys.stdout.flush()
        return code
    except Exception as error:
        if interruption.is_received:
            raise
        if isinstance(error, BrokenPipeError):  # the reader of our output has seen enough
            sys.stderr.close()
        elif (explanation := _explanation(error)) is not None:
            tell(f"tabstretch: {explanation}", file=sys.stderr)
        else:
            raise  # a fault of ours, whose trace is worth seeing
        return 1


def _explanation(error: Exception) -> str | None:
    """Return what to tell a user, if it is an error that a user can mend."""
    # By its name, since the command must start without the extras of studies.
    if isinstance(error, CommandError) or type(error).__name__ == "StudyError":
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("tabstretch"):
        extra = "report" if error.name.partition(".")[0] in _REPORT else "study"
        return f"{error.name} is needed for this: pip install 'tabstretch[{extra}]'"
    return str(error) if isinstance(error, ImportError) and "pip install" in str(error) else None


def _again() -> str:
    return shlex.join(["tabstretch", *sys.argv[1:]])


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="tabstretch", description="Stretch numeric columns for networks, and study what it does."
    )
    parser.add_argument("--version", action="version", version=f"tabstretch {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for add in _VERBS:
        add(verbs)
    return parser


_VERBS = (
    add_suggest,
    add_fit,
    add_transform,
    add_plot,
    add_export,
    add_run,
    add_status,
    add_results,
    add_splits,
    add_report,
    add_compare,
    add_marginal,
    add_noise,
)
