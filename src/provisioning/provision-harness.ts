import { startTimeBudget, type TimeBudget } from "../async/time-budget.ts";
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
import type { SteadyClock } from "../platform/clock.ts";
import type { ProgressReporter } from "./progress-reporter.ts";

export interface ProvisionOptions extends PollOptions {
  /** The endpoint to wait for, created if missing. Default: DEFAULT, which every harness has. */
  readonly endpoint?: string;
}

export interface ProvisionResult {
  readonly handle: HarnessHandle;
  readonly harness: Harness;
  /** Whether this call created the harness, or found it by name. */
  readonly origin: "created" | "adopted";
  /** The settings in which an adopted harness differs from the spec. */
  readonly differences: readonly string[];
}

/**
 * Ensures that a harness with this spec exists and can be invoked, within one time limit. On failure, everything
 * created by this call is deleted again, and nothing else.
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

/** Creates the harness, or finds the existing harness with its name. Waits for a name which is being freed. */
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
  /** The name is taken, or the outcome of the request is unknown. */
  | { readonly harness: null; readonly failure: unknown };

/**
 * Sent once. Cancelling the request while its response is pending could leave an unknown harness behind. The response
 * is therefore awaited in any case, within the rollback's time.
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
  const createBudget = startTimeBudget(client.clock, new AbortController().signal, time);
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

/** The outcome of the creation, as far as it is known. Null if nothing was created. */
async function awaitCreation(
  response: Promise<Harness>,
  budget: TimeBudget,
): Promise<Harness | null> {
  try {
    return await waitUnlessAborted(response, budget.signal);
  } catch (error) {
    // A harness with this name may belong to another user: without an id nothing is deleted.
    if (budget.signal.aborted || isUnexpected(error) || mayHaveSucceeded(error)) {
      throw new Error("no response confirms whether, and with which id, it was created", {
        cause: error,
      });
    }
    return null;
  }
}

/** Whether a response could not be decoded. The harness may exist then, but its id is unknown. */
function isUnexpected(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "unexpected_answer";
}

/** A request which was sent may have taken effect, even without a response. */
function mayHaveSucceeded(error: unknown): boolean {
  return error instanceof SpanlineError && UNCERTAIN_CODES.has(error.code);
}

const UNCERTAIN_CODES: ReadonlySet<SpanlineError["code"]> = new Set([
  "connection_lost",
  "service_failed",
]);

/**
 * A user who may create but not list harnesses cannot observe the deletion; the next create attempt shows the result.
 * The pause keeps the attempts no faster than polling.
 */
async function waitForDeletion(existing: Harness, poll: Poll): Promise<void> {
  try {
    if (await waitUntilGone(poll, existing)) return;
  } catch (error) {
    if (error instanceof WaitError || error instanceof AbortError) throw error;
    poll.report.warn(
      `It is unknown whether the older harness was deleted (${formatThrown(error)}); creating the new one anyway`,
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
    report.warn(
      `Endpoint ${endpoint} of harness ${id} was created by another client in the meantime`,
    );
  }
}

/** A resource created by this call, and how to delete it. */
interface UndoStep {
  /** The resource, for messages. */
  readonly name: string;
  undo(budget: TimeBudget): Promise<void>;
}

/** A separate time limit: the failure is often that the call's own time is used up. */
const ROLLBACK_TIMEOUT_MS = 30_000;

/** Deletes created resources, newest first. Best effort, and never throws: an error is already being reported. */
async function rollBack(
  undoSteps: readonly UndoStep[],
  clock: SteadyClock,
  report: ProgressReporter,
): Promise<void> {
  const budget = startTimeBudget(clock, new AbortController().signal, ROLLBACK_TIMEOUT_MS);
  try {
    for (const step of undoSteps.toReversed()) await undoStep(step, budget, report);
  } finally {
    budget.release();
  }
}

async function undoStep(
  step: UndoStep,
  budget: TimeBudget,
  report: ProgressReporter,
): Promise<void> {
  const { elapsed } = budget;
  report.reportProgress({ harness: step.name, phase: "rollback", status: null, elapsed, polls: 0 });
  try {
    await undoWithRetry(step, budget);
  } catch (error) {
    report.warn(`${step.name} could not be deleted and remains: ${formatThrown(error)}`);
  }
}

/** The service refuses to delete a resource which is still being created, so conflicts are retried. */
async function undoWithRetry(step: UndoStep, budget: TimeBudget): Promise<void> {
  for (;;) {
    try {
      return await step.undo(budget);
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || budget.remaining <= BUSY_PAUSE_MS) throw error;
    }
    await budget.pause(BUSY_PAUSE_MS);
  }
}

/** Between two attempts to delete a resource which is still being created. */
const BUSY_PAUSE_MS = 2000;
