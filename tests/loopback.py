"""A service behind a real server on this machine, for tests that need one."""

import contextlib
import threading
import time
import warnings

from sev.app import create_app, open_socket


@contextlib.contextmanager
def serving(service, **options):
    """The address of a service that a real server answers on; `options` are those of `create_app`."""
    import httpx
    import uvicorn

    listening = open_socket("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(create_app(service, **options), log_level="error"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            _wait_until_started(server, thread)
            address = f"http://127.0.0.1:{listening.getsockname()[1]}"
            assert httpx.get(f"{address}/healthz", timeout=60).status_code == 200
            for one in threading.enumerate():
                if one.name == "sev-prepare":  # it calls the models as well
                    one.join(30)
            yield address
        finally:
            server.should_exit = True
            thread.join(20)
            listening.close()


def _wait_until_started(server, thread, seconds=300):
    """Until then the socket is bound, but connections are refused."""
    end = time.monotonic() + seconds
    while not server.started:
        assert thread.is_alive(), "the server ended before it had started"
        assert time.monotonic() < end, "the server did not start in time"
        time.sleep(0.01)
