import { startBudget, type Budget } from "../async/budget.ts";
import { untilAborted } from "../async/pause.ts";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { AbortError } from "../domain/provider-error.ts";
import type { Harness } from "../wire/agentcore/control-answer.ts";
import { differencesFrom } from "../wire/agentcore/control-differences.ts";
import { harnessBody, type HarnessSpec } from "../wire/agentcore/control-settings.ts";
import { readinessOf } from "../wire/agentcore/control-status.ts";
import { checkQualifier } from "../wire/agentcore/names.ts";
import { findByName } from "./find-by-name.ts";
import type { HarnessHandle } from "./harness-handle.ts";
import { ROLLBACK_TIMEOUT, rollBack, type Made } from "./rollback.ts";
import { isConflict, isNotFound } from "./transient.ts";
import { NameTakenError, WaitError, type WaitContext } from "./wait-errors.ts";
import { waitForEndpoint, waitForHarness, waitUntilGone } from "./wait.ts";
import {
  DEFAULT_ENDPOINT,
  inTime,
  startWaiting,
  type Waiting,
  type WaitOptions,
} from "./waiting.ts";

export interface ProvisionOptions extends WaitOptions {
  /** The endpoint to wait for, which is made when there is none of that name. DEFAULT comes with every harness. */
  readonly endpoint?: string;
}

export interface Provisioned {
  readonly handle: HarnessHandle;
  readonly harness: Harness;
  /** Whether this call made it, or found it under its name. */
  readonly origin: "created" | "adopted";
  /** The settings in which a harness that was found is not as the spec says. */
  readonly differences: readonly string[];
}

/**
 * Sees to it that there is a harness as the spec says and that it can be invoked. All of it happens within one time
 * limit. When it comes to nothing, what this call made is deleted again, and nothing else.
 */
export async function provision(
  spec: HarnessSpec,
  options: ProvisionOptions,
): Promise<Provisioned> {
  const endpoint = checkQualifier("endpoint", options.endpoint ?? DEFAULT_ENDPOINT);
  harnessBody(spec);
  const waiting = startWaiting(options);
  const made: Made[] = [];
  let at: Pick<WaitContext, "harness" | "phase"> = { harness: spec.name, phase: "create" };
  try {
    const { id, origin } = await acquire(spec, waiting, made);
    at = { harness: id, phase: "endpoint" };
    const harness = await waitForHarness(waiting, id);
    if (endpoint !== DEFAULT_ENDPOINT) await makeEndpoint({ id, endpoint }, waiting, made);
    await waitForEndpoint(waiting, id, { name: endpoint });
    return {
      handle: { arn: harness.arn, id, name: harness.name, endpoint },
      harness,
      origin,
      differences: origin === "adopted" ? differencesFrom(spec, harness.raw) : [],
    };
  } catch (error) {
    const told = inTime(error, waiting, at);
    await rollBack(made, options.client.clock, waiting.report);
    throw told;
  } finally {
    waiting.budget.release();
  }
}

interface Acquired {
  readonly id: string;
  readonly origin: "created" | "adopted";
}

/** Creates the harness, or finds the one that has its name. A name that is being freed is waited for. */
async function acquire(spec: HarnessSpec, waiting: Waiting, made: Made[]): Promise<Acquired> {
  for (;;) {
    const { harness, failure } = await create(spec, waiting, made);
    if (harness !== null) return { id: harness.id, origin: "created" };
    const isTaken = isConflict(failure);
    const twin = await findByName(spec.name, waiting).catch((error: unknown) => {
      throw isTaken || waiting.budget.signal.aborted ? error : failure;
    });
    if (twin === null) throw isTaken ? new NameTakenError(spec.name, null, failure) : failure;
    switch (readinessOf(twin.status)) {
      case "ready":
      case "changing":
        return { id: twin.id, origin: "adopted" };
      case "deleting":
        await letGo(twin, waiting);
        break;
      default:
        throw new NameTakenError(spec.name, twin.status ?? "without a status", failure);
    }
  }
}

type Creation =
  | { readonly harness: Harness; readonly failure: null }
  /** The name is taken, or nobody knows whether it was created. */
  | { readonly harness: null; readonly failure: unknown };

/**
 * Asked for once. Whoever ends the call while the answer is under way would leave a harness behind that he knows nothing
 * of, so that the answer is waited for in any case, in the time of the rollback.
 */
async function create(spec: HarnessSpec, waiting: Waiting, made: Made[]): Promise<Creation> {
  const { client, budget, report } = waiting;
  const { elapsed } = budget;
  report.progress({ harness: spec.name, phase: "create", status: null, elapsed, polls: 0 });
  const time = budget.remaining + ROLLBACK_TIMEOUT;
  const own = startBudget(client.clock, new AbortController().signal, time);
  const answer = client.createHarness(spec, own).finally(() => own.release());
  made.push({
    name: `Harness ${spec.name}`,
    async undo(rollback) {
      const harness = await created(answer, rollback);
      if (harness !== null) await client.deleteHarness(harness.id, rollback);
    },
  });
  try {
    return { harness: await untilAborted(answer, budget.signal), failure: null };
  } catch (error) {
    if (budget.signal.aborted || isUnexpected(error)) throw error;
    made.pop();
    if (isConflict(error) || mayHaveWorked(error)) return { harness: null, failure: error };
    throw error;
  }
}

/** What came of it, as far as can be told; null when nothing was created. */
async function created(answer: Promise<Harness>, budget: Budget): Promise<Harness | null> {
  try {
    return await untilAborted(answer, budget.signal);
  } catch (error) {
    // A harness of that name may be somebody else's: without an id nothing is deleted.
    if (budget.signal.aborted || isUnexpected(error) || mayHaveWorked(error)) {
      throw new Error("no answer tells whether, and under what id, it was created", {
        cause: error,
      });
    }
    return null;
  }
}

function isUnexpected(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "unexpected_answer";
}

/** A request that was sent may have had its effect, whatever became of the answer. */
function mayHaveWorked(error: unknown): boolean {
  return error instanceof SpanlineError && MAYBE.has(error.code);
}

const MAYBE: ReadonlySet<SpanlineError["code"]> = new Set(["connection_lost", "service_failed"]);

/** Who may create but not list finds out by creating, and not faster than he would have listed. */
async function letGo(twin: Harness, waiting: Waiting): Promise<void> {
  try {
    if (await waitUntilGone(waiting, twin)) return;
  } catch (error) {
    if (error instanceof WaitError || error instanceof AbortError) throw error;
    waiting.report.warn(
      `Nothing tells whether the older harness is gone (${thrownMessage(error)}); creating all the same`,
    );
  }
  await waiting.budget.pause(waiting.interval);
}

async function makeEndpoint(
  { id, endpoint }: { readonly id: string; readonly endpoint: string },
  { client, budget, report }: Waiting,
  made: Made[],
): Promise<void> {
  try {
    await client.getEndpoint(id, endpoint, budget);
    return;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  try {
    await client.createEndpoint(id, { name: endpoint }, budget);
    made.push({
      name: `Endpoint ${endpoint} of harness ${id}`,
      undo: (rollback) => client.deleteEndpoint(id, endpoint, rollback),
    });
  } catch (error) {
    if (!isConflict(error)) throw error;
    report.warn(`Endpoint ${endpoint} of harness ${id} was made by somebody else meanwhile`);
  }
}
