import { AbortError } from "../domain/provider-error.ts";
import { wishedWait } from "../remote/retry-policy.ts";
import type { Endpoint, Harness } from "../wire/agentcore/control-answer.ts";
import { readinessOf } from "../wire/agentcore/control-status.ts";
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
import type { Waiting } from "./waiting.ts";

/** Where a version is given, it counts as ready only in this version or a later one. */
export function waitForHarness(
  waiting: Waiting,
  id: string,
  version: string | null = null,
): Promise<Harness> {
  const { client, budget } = waiting;
  return untilReady(waiting, {
    phase: "harness",
    harness: id,
    ask: () => client.getHarness(id, budget),
    isBehind: (harness: Harness) => isOlder(harness.version, version),
  });
}

export interface EndpointWanted {
  readonly name: string;
  /** It counts as ready only when it serves this version, or a later one. */
  readonly version?: string | null;
}

/** A harness that is ready cannot be invoked before its endpoint is, which takes minutes longer. */
export function waitForEndpoint(
  waiting: Waiting,
  id: string,
  { name, version = null }: EndpointWanted,
): Promise<Endpoint> {
  const { client, budget } = waiting;
  return untilReady(waiting, {
    phase: "endpoint",
    harness: id,
    ask: () => client.getEndpoint(id, name, budget),
    isBehind: ({ liveVersion, targetVersion }: Endpoint) =>
      isOther(liveVersion, targetVersion) || isOlder(liveVersion, version),
  });
}

function isOther(live: string | null, target: string | null): boolean {
  return live !== null && target !== null && live !== target;
}

function isOlder(live: string | null, wanted: string | null): boolean {
  return live !== null && wanted !== null && Number(live) < Number(wanted);
}

interface Subject<Thing> {
  readonly phase: WaitPhase;
  readonly harness: string;
  readonly ask: () => Promise<Thing>;
  /** Ready by its status, and yet not what is waited for. */
  readonly isBehind?: (thing: Thing) => boolean;
}

type Watched = Pick<Harness, "status" | "failureReason">;

async function untilReady<Thing extends Watched>(
  waiting: Waiting,
  { phase, harness, ask, isBehind }: Subject<Thing>,
): Promise<Thing> {
  const watch = new Watch(waiting, phase, harness);
  for (;;) {
    const answer = await watch.ask(ask);
    if (answer.type === "found") {
      const { thing } = answer;
      switch (readinessOf(thing.status)) {
        case "ready":
          if (isBehind?.(thing) !== true) return thing;
          break;
        case "changing":
          break;
        case "deleting":
          throw new HarnessDeletingError(watch.context());
        case "failed":
          throw new HarnessFailedError(watch.context(), thing.failureReason);
        default:
          throw new UnknownStatusError(watch.context());
      }
    } else if (answer.type === "missing" && watch.isGone) {
      throw new HarnessDeletingError(watch.context());
    }
    await watch.rest();
  }
}

/** Absence from a list that is complete is the only proof that a name is free. Resolves with whether there is that proof. */
export async function waitUntilGone(waiting: Waiting, { id, name }: Harness): Promise<boolean> {
  const { client, budget, report } = waiting;
  const watch = new Watch(waiting, "deletion", id);
  watch.status = "DELETING";
  let isProven = true;
  for (;;) {
    const answer = await watch.ask(async () => {
      const { items, isComplete } = await client.listHarnesses(budget);
      const found = items.find((harness) => harness.id === id);
      isProven = isComplete;
      if (found === undefined && !isComplete) {
        report.warn(`The list of harnesses is not complete, so that ${name} may still be there`);
      }
      return found ?? { status: null };
    });
    if (answer.type === "found") {
      const { status } = answer.thing;
      if (status === null) return isProven;
      if (readinessOf(status) === "failed") throw new StillDeletingError(watch.context());
    }
    await watch.rest();
  }
}

/** Nothing is known of a thing when the question itself failed. */
type Answer<Thing> =
  | { readonly type: "found"; readonly thing: Thing }
  | { readonly type: "missing" }
  | { readonly type: "unknown" };

/** In milliseconds. */
const MOST_WISHED = 60_000;

/** Asks again and again, and remembers what it saw. */
class Watch {
  status: string | null = null;
  #polls = 0;
  /** Answers of "not found" since the thing was last seen. */
  #missed = 0;
  /** Of the last question, where it passes. */
  #failure: unknown;
  readonly #waiting: Waiting;
  readonly #phase: WaitPhase;
  readonly #harness: string;

  constructor(waiting: Waiting, phase: WaitPhase, harness: string) {
    this.#waiting = waiting;
    this.#phase = phase;
    this.#harness = harness;
  }

  /** Reads lag behind writes, so that something new is not found at first; what was there and stays away is gone. */
  get isGone(): boolean {
    return this.status !== null && this.#missed >= MISSES_OF_THE_GONE;
  }

  context(): WaitContext {
    const { elapsed } = this.#waiting.budget;
    const { status } = this;
    return { harness: this.#harness, phase: this.#phase, status, elapsed, polls: this.#polls };
  }

  async ask<Thing extends Pick<Watched, "status">>(
    question: () => Promise<Thing>,
  ): Promise<Answer<Thing>> {
    const { budget, report } = this.#waiting;
    this.#polls += 1;
    this.#failure = undefined;
    try {
      const thing = await question();
      this.#missed = 0;
      this.status = thing.status;
      report.progress(this.context());
      return { type: "found", thing };
    } catch (error) {
      if (budget.signal.aborted) throw this.#ended();
      if (isNotFound(error)) this.#missed += 1;
      else if (isTransient(error)) this.#failure = error;
      else throw error;
      report.progress(this.context(), this.#failure);
      return { type: this.#failure === undefined ? "missing" : "unknown" };
    }
  }

  /** Where there is no time left for a whole wait, the caller hears of it now, not after the time is over. */
  async rest(): Promise<void> {
    const { budget, interval } = this.#waiting;
    // One wish of a server that is out of its mind must not end the wait for all.
    const wished = Math.min(wishedWait(this.#failure), MOST_WISHED, budget.remaining / 2);
    const wait = Math.max(interval, wished);
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

const MISSES_OF_THE_GONE = 3;
