"""A cluster of Dask to train on: the one at an address, or one of processes on this machine."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import Any

from dask import config
from distributed import Client, LocalCluster, Security, TimeoutError, rpc

from aligner.cluster import tasks
from aligner.cluster.signals import held
from aligner.errors import DataError

LOCAL = re.compile(r"local(?::(.*))?", re.IGNORECASE | re.DOTALL)
# What Dask says in this process of workers that come and go, and with tracebacks of messages that a cluster
# which ends cannot send. What matters of it is an error, or said by the training.
LOGGERS, SILENT = ("distributed", "distributed.client"), logging.CRITICAL + 1
MOST_WORKERS = 256  # of local:N: each is a process that takes some 100 MB before it has any text
SPAWN = "distributed.nanny.pre-spawn-environ"  # Dask's setting: variables that workers are started with
# Of the workers of local:N: memory that is freed serves again, or each array would have new pages.
REUSE = {"MALLOC_ARENA_MAX": 1, "MALLOC_MMAP_MAX_": 0, "MALLOC_TRIM_THRESHOLD_": 1 << 40}
# Dask cuts what it sends into parts of so much, and the receiver copies them into one. Workers read it once.
WHOLE = {"DASK_DISTRIBUTED__COMM__SHARD": "1GiB"}
# What Dask does beside tasks, many times a second in each process. Nobody looks at profiles and at the state
# of the machine, and tasks have their workers.
BESIDE = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.work-stealing": False,
}
WITHIN = 10  # seconds in which a scheduler is to answer


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """The scheduler at an address, as of Dask; local:N is a cluster of N processes on this machine."""
    match = LOCAL.fullmatch(address)
    for name in LOGGERS:
        logging.getLogger(name).setLevel(SILENT)
    if match is None:
        try:
            asyncio.run(_greet(address))
            client = Client(address, timeout=WITHIN)
        except (OSError, ValueError, TypeError) as error:  # TypeError: a protocol is not set up
            raise DataError(
                f"there is no scheduler of Dask at {address}: {error}",
                hint="start one there by `dask scheduler`, or give local:2",
            ) from None
        with client:
            yield client
        return
    n_workers = _n_workers(address, match[1] or "")
    # No dashboard; its server takes any free port of this machine: by default all runs want one, and warn
    silent: dict[str, Any] = {"silence_logs": SILENT, "dashboard_address": "127.0.0.1:0"}
    silent["scheduler_kwargs"] = {"dashboard": False}
    workers = {"n_workers": n_workers, "threads_per_worker": 1, "memory_limit": None}
    # Dask's own variables, which let numpy have one thread, stay
    quick = {SPAWN: config.get(SPAWN) | REUSE | WHOLE, **BESIDE}
    temporary = tempfile.TemporaryDirectory(prefix="aligner-", ignore_cleanup_errors=True)
    with temporary as scratch, config.set({**quick, "temporary-directory": scratch}):
        with ExitStack() as stack:
            with held(), _interrupts_blocked():
                cluster = stack.enter_context(LocalCluster(**workers, **silent, local_directory=scratch))
                client = stack.enter_context(Client(cluster))
            # Workers import what they need while the text is read
            importing = [client.submit(tasks.kept, None, workers=[w], pure=False) for w in client.nthreads()]
            yield client
            del importing


async def _greet(address: str) -> None:
    """Refuses who is not a scheduler of Dask. A client would wait for ever for a word of another program."""
    secured = Security().get_connection_args("client")
    async with rpc(address, timeout=WITHIN, connection_args=secured) as there:
        try:
            found = (await asyncio.wait_for(there.identity(), WITHIN + 1))["type"]
        except TimeoutError:
            raise ValueError(f"nobody answers as Dask does within {WITHIN} s") from None
    if found != "Scheduler":
        raise ValueError(f"it is the address of a {found.lower()}")


def _n_workers(address: str, number: str) -> int:
    n_workers = int(number) if re.fullmatch("[0-9]{1,9}", number, re.ASCII) else 0
    if not 1 <= n_workers <= MOST_WORKERS:
        raise DataError(
            f"{address}: the number of workers is to be from 1 to {MOST_WORKERS}",
            hint="give local:2, or the address of a scheduler of Dask",
        )
    return n_workers


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Processes that are started in here never see INT.

    Ctrl-C goes to all processes of a terminal, and each worker would print a traceback.
    """
    resource_tracker.ensure_running()  # starting it, a thread would let INT through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
