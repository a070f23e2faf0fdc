import { startBudget, type Budget } from "../async/budget.ts";
import { waitUnlessAborted } from "../async/pause.ts";
import { SpanlineError, formatThrown } from "../domain/errors.ts";
import { AbortError } from "../domain/provider/provider-error.ts";
import type { Harness } from "../wire/agentcore/control/control-response.ts";
import { findSpecDifferences } from "../wire/agentcore/control/spec-differences.ts";
import { encodeHarness, type HarnessSpec } from "../wire/agentcore/control/harness-settings.ts";
import { resolveReadiness } from "../wire/agentcore/control/readiness.ts";
import { checkQualifier } from "../wire/agentcore/check-options.ts";
import { findHarnessByName } from "./find-by-name.ts";
import type { HarnessHandle } from "./harness-handle.ts";
import { ROLLBACK_TIMEOUT_MS, rollBack, type UndoStep } from "./rollback.ts";
import { isConflict, isNotFound } from "./transient.ts";
import { NameTakenError, WaitError, type WaitContext } from "./wait-errors.ts";
import { waitForEndpoint, waitForHarness, waitUntilGone } from "./wait-until-ready.ts";
import {
  DEFAULT_ENDPOINT,
  explainTimeout,
  startPoll,
  type Poll,
  type PollOptions,
} from "./poll.ts";

export interface ProvisionOptions extends PollOptions {
  /** The endpoint to wait for, which is made when there is none of that name. DEFAULT comes with every harness. */
  readonly endpoint?: string;
}

export interface ProvisionResult {
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
export async function provisionHarness(
  spec: HarnessSpec,
  options: ProvisionOptions,
): Promise<ProvisionResult> {
  const endpoint = checkQualifier("endpoint", options.endpoint ?? DEFAULT_ENDPOINT);
  encodeHarness(spec);
  const poll = startPoll(options);
  const undoSteps: UndoStep[] = [];
  let position: Pick<WaitContext, "harness" | "phase"> = { harness: spec.name, phase: "create" };
  try {
    const { id, origin } = await acquireHarness(spec, poll, undoSteps);
    position = { harness: id, phase: "endpoint" };
    const harness = await waitForHarness(poll, id);
    if (endpoint !== DEFAULT_ENDPOINT) await ensureEndpoint({ id, endpoint }, poll, undoSteps);
    await waitForEndpoint(poll, id, { name: endpoint });
    return {
      handle: { arn: harness.arn, id, name: harness.name, endpoint },
      harness,
      origin,
      differences: origin === "adopted" ? findSpecDifferences(spec, harness.raw) : [],
    };
  } catch (error) {
    const reportedError = explainTimeout(error, poll, position);
    await rollBack(undoSteps, options.client.clock, poll.report);
    throw reportedError;
  } finally {
    poll.budget.release();
  }
}

interface AcquiredHarness {
  readonly id: string;
  readonly origin: "created" | "adopted";
}

/** Creates the harness, or finds the one that has its name. A name that is being freed is waited for. */
async function acquireHarness(
  spec: HarnessSpec,
  poll: Poll,
  undoSteps: UndoStep[],
): Promise<AcquiredHarness> {
  for (;;) {
    const { harness, failure } = await createHarness(spec, poll, undoSteps);
    if (harness !== null) return { id: harness.id, origin: "created" };
    const isNameTaken = isConflict(failure);
    const existing = await findHarnessByName(spec.name, poll).catch((error: unknown) => {
      throw isNameTaken || poll.budget.signal.aborted ? error : failure;
    });
    if (existing === null)
      throw isNameTaken ? new NameTakenError(spec.name, null, failure) : failure;
    switch (resolveReadiness(existing.status)) {
      case "ready":
      case "changing":
        return { id: existing.id, origin: "adopted" };
      case "deleting":
        await waitForDeletion(existing, poll);
        break;
      default:
        throw new NameTakenError(spec.name, existing.status ?? "without a status", failure);
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
async function createHarness(
  spec: HarnessSpec,
  poll: Poll,
  undoSteps: UndoStep[],
): Promise<Creation> {
  const { client, budget, report } = poll;
  const { elapsed } = budget;
  report.reportProgress({ harness: spec.name, phase: "create", status: null, elapsed, polls: 0 });
  const time = budget.remaining + ROLLBACK_TIMEOUT_MS;
  const createBudget = startBudget(client.clock, new AbortController().signal, time);
  const response = client.createHarness(spec, createBudget).finally(() => createBudget.release());
  undoSteps.push({
    name: `Harness ${spec.name}`,
    async undo(rollback) {
      const harness = await awaitCreation(response, rollback);
      if (harness !== null) await client.deleteHarness(harness.id, rollback);
    },
  });
  try {
    return { harness: await waitUnlessAborted(response, budget.signal), failure: null };
  } catch (error) {
    if (budget.signal.aborted || isUnexpected(error)) throw error;
    undoSteps.pop();
    if (isConflict(error) || mayHaveSucceeded(error)) return { harness: null, failure: error };
    throw error;
  }
}

/** What came of it, as far as can be told; null when nothing was created. */
async function awaitCreation(response: Promise<Harness>, budget: Budget): Promise<Harness | null> {
  try {
    return await waitUnlessAborted(response, budget.signal);
  } catch (error) {
    // A harness of that name may be somebody else's: without an id nothing is deleted.
    if (budget.signal.aborted || isUnexpected(error) || mayHaveSucceeded(error)) {
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
function mayHaveSucceeded(error: unknown): boolean {
  return error instanceof SpanlineError && UNCERTAIN_CODES.has(error.code);
}

const UNCERTAIN_CODES: ReadonlySet<SpanlineError["code"]> = new Set([
  "connection_lost",
  "service_failed",
]);

/** Who may create but not list finds out by creating, and not faster than he would have listed. */
async function waitForDeletion(existing: Harness, poll: Poll): Promise<void> {
  try {
    if (await waitUntilGone(poll, existing)) return;
  } catch (error) {
    if (error instanceof WaitError || error instanceof AbortError) throw error;
    poll.report.warn(
      `Nothing tells whether the older harness is gone (${formatThrown(error)}); creating all the same`,
    );
  }
  await poll.budget.pause(poll.interval);
}

async function ensureEndpoint(
  { id, endpoint }: { readonly id: string; readonly endpoint: string },
  { client, budget, report }: Poll,
  undoSteps: UndoStep[],
): Promise<void> {
  try {
    await client.getEndpoint(id, endpoint, budget);
    return;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  try {
    await client.createEndpoint(id, { name: endpoint }, budget);
    undoSteps.push({
      name: `Endpoint ${endpoint} of harness ${id}`,
      undo: (rollback) => client.deleteEndpoint(id, endpoint, rollback),
    });
  } catch (error) {
    if (!isConflict(error)) throw error;
    report.warn(`Endpoint ${endpoint} of harness ${id} was made by somebody else meanwhile`);
  }
}
