import { isObject, type JsonObject } from "../../data/json.ts";
import { computeBackoff } from "../../async/retry.ts";
import type { Clock } from "../../platform/clock.ts";
import type { LiveError } from "../../wire/live/live-frames.ts";
import type { ActionResult } from "../state/session-actions.ts";

export interface ApiClientOptions {
  /** The `fetch` of the browser. */
  readonly fetch: (path: string, init: ApiRequestInit) => Promise<ApiResponse>;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  /** A new idempotency key: the same for all attempts of one command. */
  readonly createKey: () => string;
}

export interface ApiRequestInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal;
}

/** The parts of a `Response` in use. */
export interface ApiResponse {
  readonly status: number;
  readonly text: () => Promise<string>;
}

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: JsonObject;
}

/** Sends requests to `/api`. Never throws: a failure is a result. */
export interface ApiClient {
  /** Resolves with the JSON body of the response. Repeats a request without a response: its key makes the repetition safe. */
  request(request: ApiRequest): Promise<ActionResult<unknown>>;
}

const MAX_ATTEMPTS = 5;
const BACKOFF = { first: 300, longest: 3000 };
/** Milliseconds for one attempt. */
const ATTEMPT_MS = 20_000;

export function createApiClient(options: ApiClientOptions): ApiClient {
  return {
    async request(request) {
      const key = options.createKey();
      for (let attempt = 1; ; attempt += 1) {
        const outcome = await attemptRequest(request, key, options);
        if (!outcome.canRetry || attempt === MAX_ATTEMPTS) return outcome.result;
        await waitBefore(attempt, options);
      }
    },
  };
}

interface AttemptOutcome {
  readonly result: ActionResult<unknown>;
  /** The bridge is unreachable or overloaded. */
  readonly canRetry: boolean;
}

async function attemptRequest(
  { method, path, body }: ApiRequest,
  key: string,
  { fetch, clock }: ApiClientOptions,
): Promise<AttemptOutcome> {
  const controller = new AbortController();
  const cancelTimeout = clock.schedule(ATTEMPT_MS, () => controller.abort());
  const headers = {
    accept: "application/json",
    ...(method !== "GET" && { "idempotency-key": key }),
    ...(body !== undefined && { "content-type": "application/json" }),
  };
  try {
    const text = body === undefined ? null : JSON.stringify(body);
    const response = await fetch(path, { method, headers, body: text, signal: controller.signal });
    return readResponse(response.status, await response.text());
  } catch {
    return { result: { ok: false, error: UNREACHABLE }, canRetry: true };
  } finally {
    cancelTimeout();
  }
}

const UNREACHABLE: LiveError = {
  code: "connect_failed",
  message: "The bridge is not reachable",
  hint: "Check that it is running, and try again",
};

function readResponse(status: number, text: string): AttemptOutcome {
  const body = parseBody(text);
  if (status >= 200 && status < 300) return { result: { ok: true, value: body }, canRetry: false };
  return { result: { ok: false, error: readError(status, body) }, canRetry: isTransient(status) };
}

function isTransient(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/** Undefined if the text is not JSON. */
function parseBody(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readError(status: number, body: unknown): LiveError {
  const error = isObject(body) ? body["error"] : undefined;
  if (isObject(error)) {
    const { code, message, hint } = error;
    if (typeof code === "string" && typeof message === "string")
      return { code, message, ...(typeof hint === "string" && { hint }) };
  }
  return { code: "unexpected_answer", message: `The bridge answered with the status ${status}` };
}

function waitBefore(attempt: number, { clock, random }: ApiClientOptions): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(computeBackoff(attempt, random(), BACKOFF), resolve);
  });
}
