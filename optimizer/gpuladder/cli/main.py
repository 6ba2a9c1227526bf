"""Entry point: reads the verb, turns every ending into a message and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import shell_complete

from gpuladder.cli.audit import audit
from gpuladder.cli.console import Console, Exit, discard, unwritable
from gpuladder.cli.diff import diff
from gpuladder.cli.doctor import doctor
from gpuladder.cli.explain import explain
from gpuladder.cli.import_jobs import import_jobs
from gpuladder.cli.import_prices import import_prices
from gpuladder.cli.import_usage import import_usage
from gpuladder.cli.imports import import_
from gpuladder.cli.invoice import invoice
from gpuladder.cli.new import new
from gpuladder.cli.options import common
from gpuladder.cli.plot import plot
from gpuladder.cli.report import report
from gpuladder.cli.roll import roll
from gpuladder.cli.schema import schema
from gpuladder.cli.size import size
from gpuladder.cli.solve import solve
from gpuladder.cli.sweep import sweep
from gpuladder.cli.utilisation import utilisation
from gpuladder.cli.validate import validate
from gpuladder.errors import GpuladderError, Problem
from gpuladder.version import __version__

PROGRAM = "gpuladder"
_COMPLETION = "_GPULADDER_COMPLETE"


class _Verbs(click.Group):
    """Lists the verbs in the order in which they are used, not by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)


@click.group(
    PROGRAM,
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
)
@click.version_option(__version__, prog_name=PROGRAM)
@common
def program() -> None:
    """Choose how much GPU capacity to reserve, buy on demand, run on spot and book ahead.

    Describe the campaigns, the market and the company's limits in a scenario; `gpuladder solve`
    finds the cheapest plan that keeps every limit, checks it, and writes the report.
    """


for reader in (import_jobs, import_usage, import_prices):
    import_.add_command(reader)

for verb in (
    new,
    import_,
    utilisation,
    size,
    invoice,
    validate,
    solve,
    sweep,
    audit,
    report,
    diff,
    roll,
    plot,
    explain,
    schema,
    doctor,
):
    program.add_command(verb)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the program's name; ``sys.argv`` when left out.

    Returns
    -------
    int
        The exit code: 0 done, 1 the answer is no, 2 wrong usage or scenario, 3 stopped at a limit,
        4 no plan, 70 a fault of the program's own, 130 interrupted.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if instruction := os.environ.get(_COMPLETION):
        return shell_complete(program, {}, PROGRAM, _COMPLETION, instruction)
    console = Console(as_json=_asks_for_json(words), debug="--debug" in words)
    code = _run(words, console)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            discard(stream)
        except OSError as error:
            discard(stream)
            if stream is sys.stdout:
                console.error([unwritable(error)], Exit.WRONG_INPUT)
                code = Exit.WRONG_INPUT
    return code


def _asks_for_json(words: Sequence[str]) -> bool:
    """Tell whether ``--json`` is among the words, also where they do not parse."""
    end = words.index("--") if "--" in words else len(words)
    return "--json" in words[:end]


def _run(words: list[str], console: Console) -> int:
    try:
        with program.make_context(PROGRAM, words, obj=console) as context:
            program.invoke(context)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as error:
        console.error([_usage_problem(error)], Exit.WRONG_INPUT)
        return Exit.WRONG_INPUT
    except GpuladderError as error:
        console.error(error.problems, error.exit_code)
        console.traceback()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        console.error([_INTERRUPTED], Exit.INTERRUPTED)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        return Exit.DONE
    except OSError as error:
        # Help and version are written by the parser, not by the console.
        if error.errno not in _FULL or error.filename is not None:
            return _end_in_fault(error, console)
        discard(sys.stdout)
        console.error([unwritable(error)], Exit.WRONG_INPUT)
        return Exit.WRONG_INPUT
    except Exception as error:  # noqa: BLE001 (the last stop: every fault must end in exit code 70)
        return _end_in_fault(error, console)
    return Exit.DONE


def _end_in_fault(error: Exception, console: Console) -> int:
    console.error([_fault(error, console)], Exit.INTERNAL_FAULT)
    console.traceback()
    return Exit.INTERNAL_FAULT


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What writing to a stream fails with when its device is full or gone."""

_INTERRUPTED = Problem(
    code="GL-U130",
    what="interrupted before anything could be written",
    fix="start it again; once the search has a plan, an interrupt ends it and writes the plan",
)


def _usage_problem(error: click.ClickException) -> Problem:
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context is not None else PROGRAM
    return Problem(
        code="GL-U001",
        what=error.format_message(),
        fix=f"see `{command} --help`",
    )


def _fault(error: Exception, console: Console) -> Problem:
    return Problem(
        code="GL-X070",
        what=f"a fault of the program's own: {type(error).__name__}: {error}",
        why="this should not happen, whatever the scenario says",
        fix="report it with the traceback below"
        if console.debug
        else "run it again with --debug and report the traceback",
    )
