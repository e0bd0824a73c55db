"""CPU time and wall time of commands: the least of several runs, children included."""
import os
import subprocess
import time

RUNS = 7


def run_once(command):
    """CPU seconds (user and system), wall seconds, peak memory in KiB of one run."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    if process.returncode:
        raise RuntimeError(f'{" ".join(command)}: status {process.returncode}')
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss


def measure(commands, runs=RUNS):
    """{name: command} -> {name: (cpu, wall, peak_kib)}; rounds are interleaved, so that a slow
    moment of the machine does not meet one command alone."""
    best = {}
    for _ in range(runs):
        for name, command in commands.items():
            now = run_once(command)
            old = best.get(name, now)
            best[name] = (min(old[0], now[0]), min(old[1], now[1]), max(old[2], now[2]))
    return best
