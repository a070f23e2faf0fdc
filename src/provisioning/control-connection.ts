import type { Budget } from "../async/budget.ts";
import { backoff, retried } from "../async/retried.ts";
import { agentCore, type AgentCore, type ConnectionOptions } from "../aws/agentcore.ts";
import { placeOf } from "../aws/partition.ts";
import { readText } from "../aws/read-text.ts";
import { AbortError, providerError } from "../domain/provider-error.ts";
import type { Clock } from "../platform/clock.ts";
import { randomFraction } from "../platform/random.ts";
import { errorOfAnswer } from "../wire/agentcore/service-error.ts";
import type { WireRequest } from "../wire/agentcore/wire-request.ts";
import { isNotFound, isTransient, wishedWait } from "./transient.ts";

export interface ControlConnection {
  readonly clock: Clock;
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

  function waitAfter(error: unknown, made: number, { remaining }: Budget): number | undefined {
    if (made >= MOST_ATTEMPTS || !isTransient(error)) return undefined;
    const wait = Math.max(backoff(made, random(), BACKOFF), wishedWait(error));
    // A wait that the budget has no room for would end as a timeout that hides what went wrong.
    return wait < remaining ? wait : undefined;
  }

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
        waitAfter: (error, made) => waitAfter(error, made, budget),
        pause: (milliseconds) => budget.pause(milliseconds),
      }),
  };
}

const MOST_ATTEMPTS = 4;
const BACKOFF = { first: 400, longest: 10_000 };
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
