"""AI GO! runs this file: it sends each turn to a Spanline server and returns the response."""

import json
import time
import urllib.error
import urllib.request
from typing import Any, Optional

# Less than `timeout` in model-custom.yaml, so AI GO! shows this error and not its own timeout.
SECONDS = 110


def run_inference(body: str, environment: dict[str, Any]) -> str:
    turn = json.loads(body)
    if environment.get("SPANLINE_AGENT"):
        turn["model"] = environment["SPANLINE_AGENT"]
    headers = {"content-type": "application/json"}
    if environment.get("SPANLINE_API_KEY"):
        headers["authorization"] = f"Bearer {environment['SPANLINE_API_KEY']}"
    base = environment["SPANLINE_URL"].rstrip("/").removesuffix("/v1")
    request = urllib.request.Request(
        f"{base}/v1/inference",
        data=json.dumps(turn).encode("utf-8"),
        headers=headers,
    )
    latest = time.monotonic() + SECONDS
    while True:
        try:
            with urllib.request.urlopen(request, timeout=max(1, latest - time.monotonic())) as answer:
                return answer.read().decode("utf-8")
        except urllib.error.HTTPError as error:
            wait = pause(error)
            if wait is not None and time.monotonic() + wait < latest:
                time.sleep(wait)
                continue
            said = error.read(4096).decode("utf-8", "replace")
            raise RuntimeError(f"Spanline answered {error.code}: {said}") from None
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise RuntimeError(
                f"No answer from a Spanline server at {base}: {reason}. Fix: start the server and check SPANLINE_URL."
            ) from None


def pause(error: urllib.error.HTTPError) -> Optional[float]:
    """Seconds to wait before a retry. None if the turn may have run already or would be refused again."""
    if error.headers.get("x-should-retry") != "true":
        return None
    try:
        return max(0.2, float(error.headers.get("retry-after") or 1))
    except ValueError:
        return None
