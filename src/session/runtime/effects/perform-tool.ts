import { guardInvocation, type Timer } from "../../../async/invocation-guard.ts";
import { waitUnlessAborted } from "../../../async/pause.ts";
import { toJsonText } from "../../../data/json.ts";
import { SpanlineError, formatThrown } from "../../../domain/errors.ts";
import type {
  ToolEnding,
  ProgressAmount,
  ToolProgress,
} from "../../../domain/events/tool-events.ts";
import {
  type ToolAttachments,
  isToolOutput,
  isShortDiff,
  MAX_LOGGED_LENGTH,
  type StoredEmission,
  type ToolOutput,
} from "../../../domain/tools/tool-output.ts";
import { readPlan, type PlanEntry } from "../../../domain/outputs/plan.ts";
import { createToolError, createToolSuccess } from "../../../domain/tools/tool-call.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import { cutText } from "../../../text/cut-text.ts";
import type { Tool, ToolContext } from "../../../tools/tool.ts";
import type { Effect } from "../../due-effects.ts";
import type { SessionInput } from "../../session-input.ts";
import { createProcessSpawner } from "./process-spawner.ts";
import { readEmissions } from "./read-emissions.ts";
import { storeEmissions, type EmissionStore } from "./store-emissions.ts";
import { storeOutput, type StoredOutput } from "./store-output.ts";
import { findToolInputProblem } from "./tool-input-problem.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

export interface ToolRunContext extends EmissionStore {
  readonly sessionId: string;
  readonly tool: Tool | undefined;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  readonly workingDirectory?: string;
  readonly folders?: readonly string[];
  readonly host: ToolContext["host"];
  readonly editor?: NonNullable<ToolContext["editor"]>;
  readonly report: (error: unknown) => void;
  readonly send: (input: SessionInput) => Promise<unknown>;
}

type ToolEffect = Extract<Effect, { type: "run-tool" }>;

/**
 * Runs one attempt of a tool and reports its end. At the timeout it reports at once, even if the tool keeps running.
 */
export async function performTool(effect: ToolEffect, context: ToolRunContext): Promise<void> {
  const { toolCallId, attempt } = effect;
  const start = context.clock.monotonic();
  const { ending, result, blobId, blobDigest, attachments, plan, emissions } = await runTool(
    effect,
    context,
  );
  if (context.signal.aborted) return;
  const durationMs = Math.round(context.clock.monotonic() - start);
  await context.send({
    type: "tool-finished",
    toolCallId,
    attempt,
    ending,
    result,
    durationMs,
    ...omitUndefined({ blobId, blobDigest, attachments, plan, emissions }),
  });
}

interface ToolRunResult extends StoredOutput {
  readonly ending: ToolEnding;
  readonly attachments?: ToolAttachments;
  readonly plan?: readonly PlanEntry[];
  readonly emissions?: readonly StoredEmission[];
}

async function runTool(effect: ToolEffect, runContext: ToolRunContext): Promise<ToolRunResult> {
  const { providerToolCallId: callId, name, input } = effect;
  const { tool } = runContext;
  if (tool === undefined) {
    const message = `${name} was not run: it is no longer available.`;
    return { ending: "refused", result: createToolError(callId, message) };
  }
  // An approver may have edited the arguments.
  const problem = findToolInputProblem(tool, input);
  if (problem !== undefined) return { ending: "refused", result: createToolError(callId, problem) };
  const limit = { limit: "run", milliseconds: tool.spec.timeoutMs } as const;
  const guard = guardInvocation(runContext.clock, runContext.signal, limit);
  const { context, end } = createToolContext(effect, runContext, guard.signal);
  let outcome: ToolRunResult;
  try {
    const running = Promise.resolve().then(() => tool.run(input, context));
    const output = await waitUnlessAborted(running, guard.signal);
    outcome = createSuccess(callId, output);
    if (isToolOutput(output))
      outcome = await addEmissions(outcome, output.emissions, { effect, runContext });
  } catch (error) {
    if (guard.reachedLimit !== null) outcome = createTimeout(effect, tool);
    else {
      if (!runContext.signal.aborted)
        runContext.report(new Error(`The tool ${name} failed`, { cause: error }));
      const result = createToolError(callId, `${name} failed: ${formatToolError(error)}`);
      outcome = { ending: isOutcomeUnknown(error) ? "unknown" : "failed", result };
    }
  } finally {
    guard.release();
    await end();
  }
  return { ...outcome, ...(await storeOutput(outcome.result, effect, runContext)) };
}

/** The host does not know the result of the earlier attempt either. */
function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "outcome_unknown";
}

/** Attachments of the output are for people, not for the model. */
function createSuccess(callId: string, output: unknown): ToolRunResult {
  if (!isToolOutput(output))
    return { ending: "succeeded", result: createToolSuccess(callId, output) };
  const result = createToolSuccess(callId, output.text);
  const attachments = collectToolAttachments(output);
  const plan = readPlan(output.plan);
  return {
    ending: "succeeded",
    result,
    ...omitUndefined({ attachments, plan }),
  };
}

/** Stores the artifacts of a tool, before the end of its call is logged. Nothing is emitted if an emission is not valid. */
async function addEmissions(
  outcome: ToolRunResult,
  value: unknown,
  { effect, runContext }: { readonly effect: ToolEffect; readonly runContext: ToolRunContext },
): Promise<ToolRunResult> {
  const { emissions, problem } = readEmissions(value);
  if (problem !== undefined)
    throw new SpanlineError("invalid_tool", `nothing was emitted: ${problem}`);
  if (emissions === undefined) return outcome;
  return { ...outcome, emissions: await storeEmissions(emissions, effect, runContext) };
}

function createTimeout(
  { providerToolCallId: callId, name }: ToolEffect,
  { spec }: Tool,
): ToolRunResult {
  const seconds = spec.timeoutMs / 1000;
  const message = `${name} was stopped after ${seconds} seconds. Its effects so far are unknown.`;
  return { ending: "timed-out", result: createToolError(callId, message) };
}

function createToolContext(
  { toolCallId, attempt, isRepeat, paths }: ToolEffect,
  { sessionId, workingDirectory, folders, host, editor, send, clock }: ToolRunContext,
  signal: AbortSignal,
): { readonly context: ToolContext; readonly end: () => Promise<void> } {
  const progress = createProgressReporter(clock, (update) => {
    // Not awaited; a closing session drops progress.
    send({ type: "tool-progress", toolCallId, attempt, ...update }).catch(() => undefined);
  });
  const programs = createProcessSpawner({
    signal,
    onStarted: async (group) => {
      await send({ type: "process-started", toolCallId, attempt, group });
    },
    onExited: async (group) => {
      // A closed session keeps the process in its state and terminates it when resumed.
      await send({ type: "process-exited", toolCallId, group }).catch(() => undefined);
    },
    ...omitUndefined({ workingDirectory }),
  });
  const context: ToolContext = {
    sessionId,
    toolCallId,
    idempotencyKey: toolCallId,
    attempt,
    ...omitUndefined({ isRepeat, workingDirectory, folders, paths }),
    signal,
    progress: progress.report,
    spawn: programs.spawn,
    host,
    ...omitUndefined({ editor }),
  };
  const end = async (): Promise<void> => {
    progress.end();
    await programs.end();
  };
  return { context, end };
}

/** Formats an error for the model, without a stack trace. */
function formatToolError(error: unknown): string {
  const message = formatThrown(error);
  return message.length <= MAX_MESSAGE_LENGTH
    ? message
    : `${cutText(message, MAX_MESSAGE_LENGTH)}…`;
}

const MAX_MESSAGE_LENGTH = 4000;

/** Returns the attachments small enough for the log. Undefined if there are none. */
function collectToolAttachments(output: ToolOutput): ToolAttachments | undefined {
  const { data, diffs = [], locations = [], undo = [] } = output;
  const short = diffs.filter(isShortDiff);
  const attachments = {
    ...(data !== undefined && toJsonText(data).length <= MAX_LOGGED_LENGTH && { data }),
    ...(short.length > 0 && { diffs: short.slice(0, MAX_ATTACHMENTS) }),
    ...(locations.length > 0 && { locations: locations.slice(0, MAX_ATTACHMENTS) }),
    ...(undo.length > 0 && { undo: undo.slice(0, MAX_ATTACHMENTS) }),
  };
  return Object.keys(attachments).length === 0 ? undefined : attachments;
}

const MAX_ATTACHMENTS = 16;

/** Throttles progress reports: sends the first at once, later ones at most every 250 ms, always the latest. */
interface ProgressReporter {
  readonly report: (text: string, amount?: ProgressAmount) => void;
  /** Sends the pending report; later ones are dropped. */
  end(): void;
}

type Progress = Pick<ToolProgress, "text" | "amount">;

function createProgressReporter(
  timer: Timer,
  onProgress: (progress: Progress) => void,
): ProgressReporter {
  let pendingProgress: Progress | undefined;
  let stopTimer: (() => void) | undefined;
  let isOver = false;
  const sendNow = (progress: Progress): void => {
    pendingProgress = undefined;
    stopTimer = timer.schedule(PAUSE_MS, () => {
      stopTimer = undefined;
      if (pendingProgress !== undefined) sendNow(pendingProgress);
    });
    onProgress(progress);
  };
  return {
    report(text, amount) {
      if (isOver) return;
      const shortenedText = text.length <= MAX_TEXT ? text : `${cutText(text, MAX_TEXT)}…`;
      const progress = { text: shortenedText, ...omitUndefined({ amount }) };
      if (stopTimer === undefined) sendNow(progress);
      else pendingProgress = progress;
    },
    end() {
      isOver = true;
      if (pendingProgress !== undefined) onProgress(pendingProgress);
      stopTimer?.();
    },
  };
}

const PAUSE_MS = 250;
const MAX_TEXT = 2000;
