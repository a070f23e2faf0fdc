import { AbortError } from "../domain/provider/provider-error.ts";
import { readRetryAfter } from "../remote/retry-policy.ts";
import type { Endpoint, Harness } from "../wire/agentcore/control/control-response.ts";
import { resolveReadiness } from "../wire/agentcore/control/readiness.ts";
import { isNotFound, isTransient } from "./transient.ts";
import {
  HarnessDeletingError,
  HarnessFailedError,
  NotReadyInTimeError,
  StillDeletingError,
  UnknownStatusError,
  type WaitContext,
  type WaitPhase,
} from "./wait-errors.ts";
import type { Poll } from "./poll.ts";

/** Waits until a harness is ready. If `version` is set, only this version or a later one counts. */
export function waitForHarness(
  poll: Poll,
  id: string,
  version: string | null = null,
): Promise<Harness> {
  const { client, budget } = poll;
  return pollUntilReady(poll, {
    phase: "harness",
    harness: id,
    read: () => client.getHarness(id, budget),
    isOutdated: (harness: Harness) => isOlder(harness.version, version),
  });
}

export interface EndpointTarget {
  readonly name: string;
  /** The endpoint counts as ready only when it serves this version or a later one. */
  readonly version?: string | null;
}

/**
 * Waits until an endpoint is ready. A harness cannot be invoked before its endpoint is ready, which takes minutes
 * longer.
 */
export function waitForEndpoint(
  poll: Poll,
  id: string,
  { name, version = null }: EndpointTarget,
): Promise<Endpoint> {
  const { client, budget } = poll;
  return pollUntilReady(poll, {
    phase: "endpoint",
    harness: id,
    read: () => client.getEndpoint(id, name, budget),
    isOutdated: ({ liveVersion, targetVersion }: Endpoint) =>
      isDifferent(liveVersion, targetVersion) || isOlder(liveVersion, version),
  });
}

function isDifferent(live: string | null, target: string | null): boolean {
  return live !== null && target !== null && live !== target;
}

function isOlder(live: string | null, minimum: string | null): boolean {
  return live !== null && minimum !== null && Number(live) < Number(minimum);
}

interface PollSubject<Thing> {
  readonly phase: WaitPhase;
  readonly harness: string;
  readonly read: () => Promise<Thing>;
  /** Whether a resource with the status ready is still an older version. */
  readonly isOutdated?: (thing: Thing) => boolean;
}

type PolledResource = Pick<Harness, "status" | "failureReason">;

async function pollUntilReady<Thing extends PolledResource>(
  poll: Poll,
  { phase, harness, read, isOutdated }: PollSubject<Thing>,
): Promise<Thing> {
  const poller = new Poller(poll, phase, harness);
  for (;;) {
    const result = await poller.read(read);
    if (result.type === "found") {
      const { thing } = result;
      switch (resolveReadiness(thing.status)) {
        case "ready":
          if (isOutdated?.(thing) !== true) return thing;
          break;
        case "changing":
          break;
        case "deleting":
          throw new HarnessDeletingError(poller.context());
        case "failed":
          throw new HarnessFailedError(poller.context(), thing.failureReason);
        default:
          throw new UnknownStatusError(poller.context());
      }
    } else if (result.type === "missing" && poller.isGone) {
      throw new HarnessDeletingError(poller.context());
    }
    await poller.waitForNextPoll();
  }
}

/**
 * Waits until a harness is deleted. Only absence from a complete list proves that a name is free. Resolves to whether
 * this proof was found.
 */
export async function waitUntilGone(poll: Poll, { id, name }: Harness): Promise<boolean> {
  const { client, budget, report } = poll;
  const poller = new Poller(poll, "deletion", id);
  poller.status = "DELETING";
  let isProven = true;
  for (;;) {
    const result = await poller.read(async () => {
      const { items, isComplete } = await client.listHarnesses(budget);
      const found = items.find((harness) => harness.id === id);
      isProven = isComplete;
      if (found === undefined && !isComplete) {
        report.warn(`The list of harnesses is incomplete, so ${name} may still exist`);
      }
      return found ?? { status: null };
    });
    if (result.type === "found") {
      const { status } = result.thing;
      if (status === null) return isProven;
      if (resolveReadiness(status) === "failed") throw new StillDeletingError(poller.context());
    }
    await poller.waitForNextPoll();
  }
}

/** `unknown`: the request itself failed. */
type PollResult<Thing> =
  | { readonly type: "found"; readonly thing: Thing }
  | { readonly type: "missing" }
  | { readonly type: "unknown" };

/** Milliseconds. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Polls a resource and stores the last result. */
class Poller {
  status: string | null = null;
  #polls = 0;
  /** Consecutive "not found" responses. */
  #missed = 0;
  /** The transient error of the last poll. Undefined if there was none. */
  #failure: unknown;
  readonly #waiting: Poll;
  readonly #phase: WaitPhase;
  readonly #harness: string;

  constructor(poll: Poll, phase: WaitPhase, harness: string) {
    this.#waiting = poll;
    this.#phase = phase;
    this.#harness = harness;
  }

  /**
   * Reads lag behind writes, so a new resource is not found at first. A resource which was found before and is now
   * missing in several polls is deleted.
   */
  get isGone(): boolean {
    return this.status !== null && this.#missed >= MIN_MISSES_WHEN_DELETED;
  }

  context(): WaitContext {
    const { elapsed } = this.#waiting.budget;
    const { status } = this;
    return { harness: this.#harness, phase: this.#phase, status, elapsed, polls: this.#polls };
  }

  async read<Thing extends Pick<PolledResource, "status">>(
    readResource: () => Promise<Thing>,
  ): Promise<PollResult<Thing>> {
    const { budget, report } = this.#waiting;
    this.#polls += 1;
    this.#failure = undefined;
    try {
      const thing = await readResource();
      this.#missed = 0;
      this.status = thing.status;
      report.reportProgress(this.context());
      return { type: "found", thing };
    } catch (error) {
      if (budget.signal.aborted) throw this.#ended();
      if (isNotFound(error)) this.#missed += 1;
      else if (isTransient(error)) this.#failure = error;
      else throw error;
      report.reportProgress(this.context(), this.#failure);
      return { type: this.#failure === undefined ? "missing" : "unknown" };
    }
  }

  /** Pauses before the next poll. Throws at once if the remaining time is shorter than the pause. */
  async waitForNextPoll(): Promise<void> {
    const { budget, interval } = this.#waiting;
    // Caps the server's `Retry-After`, so that an excessive value does not end the wait.
    const requestedWait = Math.min(
      readRetryAfter(this.#failure),
      MAX_RETRY_AFTER_MS,
      budget.remaining / 2,
    );
    const wait = Math.max(interval, requestedWait);
    if (wait >= budget.remaining) throw this.#late();
    try {
      await budget.pause(wait);
    } catch {
      throw this.#ended();
    }
  }

  #ended(): Error {
    const { signal, isSpent } = this.#waiting.budget;
    return isSpent ? this.#late() : new AbortError(signal.reason);
  }

  #late(): Error {
    return this.#phase === "deletion"
      ? new StillDeletingError(this.context(), this.#failure)
      : new NotReadyInTimeError(this.context(), this.#failure);
  }
}

/** Consecutive "not found" responses after which a resource seen before counts as deleted. */
const MIN_MISSES_WHEN_DELETED = 3;
