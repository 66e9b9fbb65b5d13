"""Running many hostile inputs, and what counts as a finding.

A `Campaign` makes its input from a number alone, tries it and says how that ended. A finding
is any exception that escapes, a crash, more CPU time than the campaign allows, or more
memory than `MEMORY_FACTOR` times the input and a constant. `examine` tries one input in this
process; `run` tries many in child processes, so that a crash costs one input.
"""

from __future__ import annotations

import gc
import linecache
import multiprocessing
import os
import signal
import time
import traceback
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import omnitree

PACKAGES = ("omnitree", "sklearn")
MEMORY_FACTOR = 20
# AddressSanitizer keeps this many bytes that were freed, to find who still uses them.
KEPT = 256 * 2**20 if "OMNITREE_SANITIZED" in os.environ else 0
# An attempt that Python cannot interrupt is killed after twice the CPU time after which
# Python would, or after so many looks, half a second apart, without news: seconds on the
# clock would also count while the whole campaign is stopped.
PATIENCE = 1200
TOO_LONG = 10  # times the CPU time that is allowed


class Wrong(AssertionError):
    """An input was accepted, and what came of it is wrong."""


def expect(holds: Any, what: str) -> None:
    """Raise `Wrong` if something does not hold."""
    if not holds:
        raise Wrong(what)


class Hang(BaseException):
    """An attempt took much too long; not an Exception, so nothing swallows it."""


class Campaign(ABC):
    """A kind of hostile input.

    Attributes
    ----------
    seed : int
    folder : Path
        For files.
    seconds : float
        CPU time that one attempt may take.
    memory : int
        Bytes that it may take besides `MEMORY_FACTOR` times its input: allocators keep
        some, and libraries are imported late.
    """

    seconds = 1.0
    memory = 64 * 2**20

    def __init__(self, seed: int, folder: Path):
        self.seed = seed
        self.folder = folder

    @abstractmethod
    def attempt(self, number: int) -> tuple[str, int]:
        """Try input `number`: how it ended, in a word, and the size of the input."""


@dataclass(frozen=True)
class Finding:
    """What one input showed."""

    number: int
    what: str
    details: str = ""


@dataclass
class Report:
    """How the attempts ended, and the findings."""

    endings: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, ending: str, finding: Finding | None) -> None:
        self.endings[ending] += 1
        if finding is not None:
            self.findings.append(finding)

    def text(self) -> str:
        """Counts of endings, and of each kind of finding its number and first input."""
        lines = [f"{n:>9,} {ending}" for ending, n in self.endings.most_common()]
        kinds: dict[str, list[int]] = {}
        for finding in self.findings:
            kinds.setdefault(finding.what, []).append(finding.number)
        lines += [
            f"FOUND {len(numbers)} x {what} (first: input {numbers[0]})"
            for what, numbers in sorted(kinds.items(), key=lambda k: -len(k[1]))
        ]
        return "\n".join(lines)


def is_refusal(error: BaseException, kinds: tuple[type, ...] = (ValueError,)) -> bool:
    """Whether omnitree, or scikit-learn's validation, raised an error on purpose."""
    if not isinstance(error, kinds) or not str(error).strip():
        return False
    frame = traceback.extract_tb(error.__traceback__)[-1]
    parts = Path(frame.filename).parts
    line = linecache.getline(frame.filename, frame.lineno or 0).strip()
    return any(p in parts for p in PACKAGES) and line.startswith("raise")


def examine(campaign: Campaign, number: int) -> tuple[str, Finding | None]:
    """Try one input in this process."""
    before = _resident(reset=True)
    start = time.process_time()
    try:
        with _alarm(TOO_LONG * campaign.seconds):
            ending, size = campaign.attempt(number)
    except Hang as error:
        what = f"hang: {_place(error)}"
        return "hang", Finding(number, what, traceback.format_exc())
    except Exception as error:
        what = f"{type(error).__name__}: {_place(error)}: {_short(error)}"
        return "error", Finding(number, what, traceback.format_exc())
    seconds = time.process_time() - start
    if seconds > campaign.seconds:
        return "slow", Finding(number, "slow", f"{seconds:.1f} s of CPU time")
    more = _resident() - before
    if more > MEMORY_FACTOR * size + campaign.memory + KEPT:
        what = f"{more / 2**20:.0f} MB for an input of {size:,} bytes"
        return "memory", Finding(number, "memory", what)
    return ending, None


def run(
    campaign: Campaign, numbers: range, processes: int = 1, verbose: bool = False
) -> Report:
    """Try many inputs in child processes."""
    report = Report()
    context = multiprocessing.get_context("fork")
    shares = [numbers[k::processes] for k in range(processes)]
    workers = [_Worker(context, campaign, share) for share in shares]
    shown = time.monotonic()
    while alive := [worker for worker in workers if worker.alive]:
        wait([worker.pipe for worker in alive], timeout=0.5)
        for worker in alive:
            for ending, finding in worker.look():
                report.add(ending, finding)
        if verbose and time.monotonic() - shown > 60:
            shown = time.monotonic()
            print(
                f"after {sum(report.endings.values()):,}:\n{report.text()}", flush=True
            )
    return report


class _Worker:
    """A child process that works through numbers, and is started again if it dies.

    Each process sends what it finds through a pipe of its own, at once: a queue has a thread
    that holds a lock while it sends, and a process that dies then takes the lock with it.
    """

    def __init__(self, context: Any, campaign: Campaign, numbers: range):
        self.context, self.campaign = context, campaign
        self.numbers = numbers
        self.done = 0
        self._start()

    def _start(self) -> None:
        self.pipe, sender = self.context.Pipe(duplex=False)
        arguments = (self.campaign, self.numbers[self.done :], sender)
        self.process = self.context.Process(target=_work, args=arguments, daemon=True)
        self.process.start()
        sender.close()
        self.looks, self.used = 0, 0.0  # since the last news

    @property
    def alive(self) -> bool:
        return self.done < len(self.numbers)

    def look(self) -> Iterator[tuple[str, Finding | None]]:
        """What came since the last look; a crash, also of one that hangs, is a finding."""
        self.looks += 1
        too_long = 5 + 2 * TOO_LONG * self.campaign.seconds
        used = _cpu_time(self.process.pid) - self.used
        if self.looks > PATIENCE or used > too_long:
            self.process.kill()
        try:
            while self.pipe.poll():
                found = self.pipe.recv()
                self.done += 1
                self.looks, self.used = 0, _cpu_time(self.process.pid)
                yield found
        except (EOFError, OSError):  # the process has ended
            self.process.join()
            if self.alive:
                yield from self._crash()

    def _crash(self) -> Iterator[tuple[str, Finding | None]]:
        number = self.numbers[self.done]
        yield "crash", Finding(number, f"crash: exit code {self.process.exitcode}")
        self.done += 1
        if self.alive:
            self._start()


def _work(campaign: Campaign, numbers: range, sender: Any) -> None:
    folder = campaign.folder / f"worker{os.getpid()}"
    folder.mkdir()
    campaign.folder = folder
    # What is there already is there for good: going through it for garbage takes a tenth
    # of the time.
    gc.collect()
    gc.freeze()
    for number in numbers:
        sender.send(examine(campaign, number))


def _cpu_time(pid: int | None) -> float:
    """Seconds that a process has computed; 0 where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _place(error: BaseException) -> str:
    """File and function of omnitree in which an error came up."""
    home = Path(omnitree.__file__).parent
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if home in Path(f.filename).parents]
    frame = (own or frames)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:60].encode("ascii", "replace").decode()


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `Hang` after so much CPU time."""

    def stop(*_: Any) -> None:
        raise Hang

    old = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)


def _resident(reset: bool = False) -> int:
    """Bytes in use at most since the last reset; 0 where the system does not say."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
