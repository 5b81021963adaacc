"""Runs one foreign command, and sees to it that nothing of it outlives the run.

Thence runs the text of this file as a program of its own, `python -I -S -c TEXT STATUS CONTROL MEMORY COMMAND...`,
between itself and the command, in a session of its own. The command has the supervisor's standard streams. STATUS and
CONTROL are file descriptors of pipes: on STATUS comes one line, `exit N`, `signal N` or `cannot TEXT`, when the command
has ended; when CONTROL ends, for whatever reason, the killing of Thence included, everything that descends from the
command is killed. So it is, after the line `memory N`, when all that together has more than MEMORY bytes resident, as
far as Linux says; pages that processes share count for each. 0 is no limit.

On Linux the supervisor adopts orphaned descendants, so that no change of session or group hides one; should the
supervisor itself be killed, the kernel kills the command with it. Elsewhere the process group of the command is killed.
It imports the standard library only, and little of that: it starts anew with each process of the system under test.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time

KILLING_S = 5.0
"""Seconds for which descendants are chased; one that survives kills for so long cannot be ended by any process."""

LOOKING_S = 0.05
"""Seconds between two looks at the memory; more where a look takes long, so that looks take a twentieth of the time."""

LINUX = sys.platform == "linux"

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def prctl(option: int, value: int) -> None:
    """Linux's control of a process's own treatment; elsewhere nothing."""
    if LINUX:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def main(status: int, control: int, memory: int, command: list[str]) -> None:
    """Runs the command until it ends, uses too much memory, or CONTROL ends; and cleans up."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    for descriptor in (status, control, woken, wake):
        os.set_inheritable(descriptor, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: None)
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    child = os.fork()
    if child == 0:
        become(command, status)
    give_streams_away()
    alive, asked = True, False
    pause = LOOKING_S if memory and LINUX else None
    look = time.monotonic() + LOOKING_S
    while alive and not asked:
        ready, _, _ = select.select([control, woken], [], [], pause)
        if pause is not None and (begun := time.monotonic()) >= look:
            used = sum(map(resident, family()))
            if used > memory:
                tell(status, f"memory {used}")
                kill_everything(child, None)
                return
            pause = max(LOOKING_S, 20 * (time.monotonic() - begun))
            look = time.monotonic() + pause
        if woken in ready:
            asked = bool(set(os.read(woken, 512)) & {signal.SIGTERM, signal.SIGHUP})
            alive = not reap(child, status)
        asked = asked or (control in ready and not os.read(control, 512))
    kill_everything(child, status if alive else None)


def become(command: list[str], status: int) -> None:
    """In the child: the command, with the signals of a fresh process, or the reason why it cannot be run."""
    parent = os.getppid()
    try:
        os.setsid()
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGPIPE, signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        if os.getppid() == parent:
            os.execvp(command[0], command)
    except OSError as error:
        os.write(status, f"cannot {error.strerror or error}\n".encode())
    finally:
        os._exit(127)


def give_streams_away() -> None:
    """The command alone holds its pipes: when it closes one, Thence sees the end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def reap(child: int, status: int | None) -> bool:
    """Reaps every descendant that has ended; returns whether the child was among them. Its end goes to `status`."""
    gone = False
    while True:
        try:
            pid, code = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return gone
        if pid == 0:
            return gone
        if pid == child:
            gone = True
            if status is not None:
                tell(status, f"signal {os.WTERMSIG(code)}" if os.WIFSIGNALED(code) else f"exit {os.WEXITSTATUS(code)}")


def tell(status: int, line: str) -> None:
    """A line for Thence, which may be gone."""
    try:
        os.write(status, f"{line}\n".encode())
    except OSError:
        return


def kill_everything(child: int, status: int | None) -> None:
    """Kills until nothing is left that descends from this process. Stopped first, they cannot multiply meanwhile."""
    end = time.monotonic() + KILLING_S
    while time.monotonic() < end:
        if LINUX:
            found = descendants(os.getpid())
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for pid in found:
                    send(pid, number)
        else:
            send(-child, signal.SIGKILL)
        reap(child, status)
        if not has_children():
            return
        time.sleep(0.001)


def send(pid: int, number: int) -> None:
    """A signal to a process, or to the group -pid, that may be gone by now."""
    try:
        os.kill(pid, number)
    except OSError:
        return


def has_children() -> bool:
    """Whether a descendant is left: as orphans are adopted, every line of descent begins with a child."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def descendants(ancestor: int) -> list[int]:
    """The processes that descend from it, parents first."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            parent = parent_of(entry.name)
            if parent is not None:
                children.setdefault(parent, []).append(int(entry.name))
    found = list(children.get(ancestor, ()))
    for pid in found:
        found += children.get(pid, ())
    return found


def family() -> list[int]:
    """As `descendants` of this process, but found top down, which reads few files where the kernel offers them."""
    found = [os.getpid()]
    for pid in found:
        try:
            for task in os.scandir(f"/proc/{pid}/task"):
                found += map(int, read(f"{task.path}/children").split())
        except OSError:
            continue
    return found[1:] or descendants(os.getpid())


def resident(pid: int) -> int:
    """The bytes of a process that are in memory, 0 if it is gone."""
    try:
        return int(read(f"/proc/{pid}/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def read(path: str) -> bytes:
    """The beginning of a small file."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 65536)
    finally:
        os.close(file)


def parent_of(pid: str) -> int | None:
    """The parent of a process, None if the process is gone."""
    try:
        return int(read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return None


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
