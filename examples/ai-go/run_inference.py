"""The one file that AI GO! runs itself: it hands each turn to a Spanline server, and hands the answer back."""

import json
import urllib.error
import urllib.request
from typing import Any


def run_inference(body: str, environment: dict[str, Any]) -> str:
    turn = json.loads(body)
    if environment.get("SPANLINE_AGENT"):
        turn["model"] = environment["SPANLINE_AGENT"]
    headers = {"content-type": "application/json"}
    if environment.get("SPANLINE_API_KEY"):
        headers["authorization"] = f"Bearer {environment['SPANLINE_API_KEY']}"
    request = urllib.request.Request(
        environment["SPANLINE_URL"].rstrip("/") + "/v1/inference",
        data=json.dumps(turn).encode("utf-8"),
        headers=headers,
    )
    try:
        # Less than the timeout in the model's file, so that it is this error that is seen.
        with urllib.request.urlopen(request, timeout=110) as answer:
            return answer.read().decode("utf-8")
    except urllib.error.HTTPError as error:
        said = error.read(4096).decode("utf-8", "replace")
        raise RuntimeError(f"Spanline answered {error.code}: {said}") from None
