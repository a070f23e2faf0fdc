import type { Budget } from "../async/budget.ts";
import { retried } from "../async/retried.ts";
import { agentCore, type AgentCore, type ConnectionOptions } from "../aws/agentcore.ts";
import { placeOf } from "../aws/partition.ts";
import { AbortError, providerError } from "../domain/provider-error.ts";
import type { SteadyClock } from "../platform/clock.ts";
import { randomFraction } from "../platform/random.ts";
import { readText } from "../remote/read-text.ts";
import { waitsOf } from "../remote/retry-policy.ts";
import { errorOfAnswer } from "../wire/agentcore/service-error.ts";
import type { WireRequest } from "../wire/agentcore/wire-request.ts";
import { isNotFound, isTransient } from "./transient.ts";

export interface ControlConnection {
  readonly clock: SteadyClock;
  readonly origin: string;
  /** Makes a call that must not be made twice. Resolves with the body of its answer. */
  readonly once: (request: WireRequest, budget: Budget) => Promise<string>;
  /** Makes a call that may be made twice, and does so when a failure may pass. */
  readonly again: (request: WireRequest, budget: Budget) => Promise<string>;
}

export interface ControlConnectionOptions extends ConnectionOptions {
  readonly region: string;
  readonly random?: () => number;
}

export function controlConnection(options: ControlConnectionOptions): ControlConnection {
  const { region, random = randomFraction } = options;
  const service = agentCore(placeOf(region), errorOfAnswer, options);
  const { origin } = service.addresses.control;

  async function attempt(request: WireRequest, budget: Budget, made: number): Promise<string> {
    const share = budget.remaining / (MOST_ATTEMPTS + 1 - made);
    const part = budget.part(Math.min(LONGEST_ATTEMPT, share));
    try {
      return await callOnce(service, request, part);
    } catch (error) {
      if (request.method === "DELETE" && made > 1 && isNotFound(error)) return "";
      if (!part.isSpent || budget.isSpent) throw error;
      const seconds = Math.round(part.elapsed / 100) / 10;
      const message = `No answer came from ${origin} within ${seconds} s`;
      throw providerError("idle_timeout", message, { phase: "http", cause: error });
    } finally {
      part.release();
    }
  }

  return {
    clock: service.clock,
    origin,
    once: (request, budget) => callOnce(service, request, budget),
    again: (request, budget) =>
      retried((made) => attempt(request, budget, made), {
        waitAfter: waitsOf({
          maxAttempts: MOST_ATTEMPTS,
          waits: WAITS,
          random,
          isPassing: isTransient,
          // A wait that the budget has no room for would end as a timeout that hides what went wrong.
          hasTime: (wait) => wait < budget.remaining,
        }),
        pause: (milliseconds) => budget.pause(milliseconds),
      }),
  };
}

const MOST_ATTEMPTS = 4;
const WAITS = { first: 400, longest: 10_000 };
/** A connection that says nothing for so long is given up for a new one. */
const LONGEST_ATTEMPT = 15_000;

async function callOnce(
  service: AgentCore,
  request: WireRequest,
  { signal }: Budget,
): Promise<string> {
  try {
    return await readText(await service.call("control", request, signal));
  } catch (error) {
    throw signal.aborted ? new AbortError(signal.reason) : error;
  }
}
