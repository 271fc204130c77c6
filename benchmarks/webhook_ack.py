"""How fast deliveries are acknowledged: 32 at once, 0.2 s of work behind each, beside the client's own WebhooksServer.

Both servers run in processes of their own and get the same payload with the same secret; the work is a sleep, since
what is compared is who waits for it. Needs `uv sync --group benchmark`. Bar: 100 times its rate, p99 under 50 ms.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import httpx

SECRET, WORK, AT_ONCE = "benchmark-secret", 0.2, 32
HEADERS = {"X-Webhook-Secret": SECRET, "Content-Type": "application/json"}
PAYLOAD = json.dumps({
    "event": {"action": "update", "scope": "repo.content"},
    "repo": {
        "type": "dataset", "name": "acme/results", "id": "621ffdc036468d709f17434d", "private": False,
        "url": {"web": "https://hub.example/acme/results", "api": "https://hub.example/api/datasets/acme/results"},
        "owner": {"id": "61b9df9b22e5b0fdd501a113"}, "headSha": "b" * 40,
    },
    "updatedRefs": [{"ref": "refs/heads/main", "oldSha": "a" * 40, "newSha": "b" * 40}],
    "webhook": {"id": "6390e855e30d9209411de93b", "version": 3},
}).encode()  # fmt: skip


def serve_ours(port: int) -> None:
    """Our application, with a watch whose settle sleeps."""
    from prometheus_client import CollectorRegistry

    from bot.server.app import make_app
    from bot.server.run import run
    from bot.service.watch.event import Event
    from bot.service.watch.workers import WatchWorker

    class Service:
        def __init__(self) -> None:
            self.keeper = WatchWorker("w", lambda: time.sleep(WORK), every=3600, quiet=0.0)
            self.keeper.start()

        def take(self, _: Event) -> bool:
            self.keeper.hint()
            return True

        def health(self) -> dict[str, object]:
            return {"ok": True}

        def watches(self) -> list[dict[str, object]]:
            return []

    run(make_app(Service(), secret=SECRET, registry=CollectorRegistry()), host="127.0.0.1", port=port)


def serve_theirs(port: int) -> None:
    """huggingface_hub's WebhooksServer with the same work, as its documentation shows it."""
    import warnings

    warnings.simplefilter("ignore")
    os.environ["SPACE_ID"] = "benchmark/no-tunnel"  # else it would open a public tunnel
    from huggingface_hub import WebhookPayload, WebhooksServer

    app = WebhooksServer(webhook_secret=SECRET)

    def hub(payload: WebhookPayload) -> dict[str, bool]:
        time.sleep(WORK)
        return {"ok": payload.event.action == "update"}

    hub.__annotations__["payload"] = WebhookPayload  # the server reads the type, which is text until then
    app.add_webhook("/hub")(hub)
    app.launch(server_port=port, prevent_thread_lock=False)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(which: str, path: str) -> Iterator[str]:
    """The address of a server's route once it takes deliveries."""
    port = free_port()
    environment = os.environ | {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_DISABLE_TELEMETRY": "1"}
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve", which, "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    url = f"http://127.0.0.1:{port}{path}"
    try:
        for _ in range(600):
            with contextlib.suppress(httpx.HTTPError):
                if httpx.post(url, content=PAYLOAD, headers=HEADERS, timeout=5).is_success:
                    break
            time.sleep(0.1)
        else:
            raise SystemExit(f"{which} did not come up")
        yield url
    finally:
        process.terminate()
        process.wait()


def load(url: str, seconds: float, results: multiprocessing.Queue[list[float]]) -> None:
    """Send deliveries from AT_ONCE connections; the time of each answer that was a success."""
    head = "".join(f"{key}: {value}\r\n" for key, value in HEADERS.items())
    parts = httpx.URL(url)
    start_line = f"POST {parts.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    request = f"{start_line}{head}Content-Length: {len(PAYLOAD)}\r\n\r\n".encode() + PAYLOAD
    times: list[float] = []
    end = time.perf_counter() + seconds

    def one() -> None:
        connection = socket.create_connection(("127.0.0.1", parts.port or 80))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while (start := time.perf_counter()) < end:
            connection.sendall(request)
            answer = read_answer(connection)
            if answer[9:10] == b"2" and time.perf_counter() < end:
                times.append(time.perf_counter() - start)
        connection.close()

    threads = [threading.Thread(target=one) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(times)


def read_answer(connection: socket.socket) -> bytes:
    """One answer's head, once its body has come too."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(fields[b"content-length"]):
        body += connection.recv(65536)
    return head


def measure(which: str, path: str, seconds: float) -> tuple[float, float, float]:
    """Acknowledgements each second, median and 99th percentile in milliseconds."""
    with running(which, path) as url:
        results: multiprocessing.Queue[list[float]] = multiprocessing.Queue()
        process = multiprocessing.Process(target=load, args=(url, seconds, results))
        process.start()
        times = sorted(results.get())
        process.join()
    p99 = times[min(len(times) - 1, int(len(times) * 0.99))]
    return len(times) / seconds, statistics.median(times) * 1000, p99 * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", choices=["ours", "theirs"])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    if options.serve:
        (serve_ours if options.serve == "ours" else serve_theirs)(options.port)
        return
    rates = {}
    print(f"{AT_ONCE} at once, {WORK} s of work behind each, {options.seconds:g} s each")
    for which, name in (("theirs", "huggingface_hub WebhooksServer"), ("ours", "leaderboard-bot")):
        rates[which], median, p99 = measure(which, "/webhooks/hub", options.seconds)
        print(f"{name:32} {rates[which]:8.1f}/s   p50 {median:7.1f} ms   p99 {p99:7.1f} ms")
    print(f"ratio {rates['ours'] / rates['theirs']:.0f}")


if __name__ == "__main__":
    main()
