import type { TimeBudget } from "../async/time-budget.ts";
import { retry } from "../async/retry.ts";
import {
  createAgentCoreClient,
  type AgentCoreClient,
  type ConnectionOptions,
} from "../aws/agentcore-client.ts";
import { resolveLocation } from "../aws/endpoints.ts";
import { AbortError, createProviderError } from "../domain/provider/provider-error.ts";
import type { SteadyClock } from "../platform/clock.ts";
import { randomFraction } from "../platform/random.ts";
import { readResponseText } from "../remote/read-response.ts";
import { createRetryDelay } from "../remote/retry-policy.ts";
import { serviceErrorFromResponse } from "../wire/agentcore/service-error.ts";
import type { WireRequest } from "../wire/agentcore/wire-request.ts";
import { isNotFound, isTransient } from "./transient.ts";

export interface ControlConnection {
  readonly clock: SteadyClock;
  readonly origin: string;
  /** Sends a request without retries, for operations which are not idempotent. Resolves to the response body. */
  readonly sendOnce: (request: WireRequest, budget: TimeBudget) => Promise<string>;
  /** Sends a request with retries on transient failures, for idempotent operations. */
  readonly sendWithRetry: (request: WireRequest, budget: TimeBudget) => Promise<string>;
}

export interface ControlConnectionOptions extends ConnectionOptions {
  readonly region: string;
  readonly random?: () => number;
}

export function createControlConnection(options: ControlConnectionOptions): ControlConnection {
  const { region, random = randomFraction } = options;
  const service = createAgentCoreClient(resolveLocation(region), serviceErrorFromResponse, options);
  const { origin } = service.addresses.control;

  async function attempt(
    request: WireRequest,
    budget: TimeBudget,
    attemptNumber: number,
  ): Promise<string> {
    const share = budget.remaining / (MAX_ATTEMPTS + 1 - attemptNumber);
    const attemptBudget = budget.withLimit(Math.min(MAX_ATTEMPT_MS, share));
    try {
      return await sendAndRead(service, request, attemptBudget);
    } catch (error) {
      if (request.method === "DELETE" && attemptNumber > 1 && isNotFound(error)) return "";
      if (!attemptBudget.isSpent || budget.isSpent) throw error;
      const seconds = Math.round(attemptBudget.elapsed / 100) / 10;
      const message = `No response from ${origin} within ${seconds} s`;
      throw createProviderError("idle_timeout", message, { phase: "http", cause: error });
    } finally {
      attemptBudget.release();
    }
  }

  return {
    clock: service.clock,
    origin,
    sendOnce: (request, budget) => sendAndRead(service, request, budget),
    sendWithRetry: (request, budget) =>
      retry((attemptNumber) => attempt(request, budget, attemptNumber), {
        computeDelay: createRetryDelay({
          maxAttempts: MAX_ATTEMPTS,
          backoff: BACKOFF,
          random,
          isRetryable: isTransient,
          // A wait longer than the budget would end as a timeout and hide the actual error.
          hasTime: (wait) => wait < budget.remaining,
        }),
        pause: (milliseconds) => budget.pause(milliseconds),
      }),
  };
}

const MAX_ATTEMPTS = 4;
const BACKOFF = { first: 400, longest: 10_000 };
/** A connection silent for this long is replaced by a new attempt. */
const MAX_ATTEMPT_MS = 15_000;

async function sendAndRead(
  service: AgentCoreClient,
  request: WireRequest,
  { signal }: TimeBudget,
): Promise<string> {
  try {
    return await readResponseText(await service.send("control", request, signal));
  } catch (error) {
    throw signal.aborted ? new AbortError(signal.reason) : error;
  }
}
