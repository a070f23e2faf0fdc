import { guardCall } from "../async/call-guard.ts";
import { untilAborted } from "../async/pause.ts";
import type { ToolAside, ToolEnding } from "../domain/agent-event.ts";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { readPlan, type PlanEntry } from "../domain/plan.ts";
import { toolError, toolSuccess } from "../domain/tool.ts";
import { isToolOutput } from "../domain/tool-output.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";
import type { Effect } from "./due.ts";
import type { Happening } from "./input.ts";
import { asideOf } from "./aside-of.ts";
import { keepOutput, type KeptOutput } from "./keep-output.ts";
import { problemWith } from "./problem-with.ts";
import { progressReport } from "./progress-report.ts";
import { spawnFor } from "./spawn-for.ts";

export interface ToolWork {
  readonly sessionId: string;
  readonly tool: Tool | undefined;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  readonly workingDirectory?: string;
  readonly folders?: readonly string[];
  readonly host: ToolContext["host"];
  readonly editor?: NonNullable<ToolContext["editor"]>;
  readonly report: (error: unknown) => void;
  readonly send: (happening: Happening) => Promise<unknown>;
  readonly putBlob: (blobId: string, bytes: Uint8Array) => Promise<void>;
}

type ToolEffect = Extract<Effect, { type: "tool" }>;

/** Runs a tool once and reports how it ended: in time, whether the tool is or not. */
export async function performTool(effect: ToolEffect, work: ToolWork): Promise<void> {
  const { toolCallId, attempt } = effect;
  const start = work.clock.monotonic();
  const { ending, result, blobId, blobDigest, beside, plan } = await ended(effect, work);
  if (work.signal.aborted) return;
  const durationMs = Math.round(work.clock.monotonic() - start);
  await work.send({
    type: "tool-ended",
    toolCallId,
    attempt,
    ending,
    result,
    durationMs,
    ...(blobId !== undefined && { blobId }),
    ...(blobDigest !== undefined && { blobDigest }),
    ...(beside !== undefined && { beside }),
    ...(plan !== undefined && { plan }),
  });
}

interface Ended extends KeptOutput {
  readonly ending: ToolEnding;
  readonly beside?: ToolAside;
  readonly plan?: readonly PlanEntry[];
}

async function ended(effect: ToolEffect, work: ToolWork): Promise<Ended> {
  const { providerCallId: callId, name, input } = effect;
  const { tool } = work;
  if (tool === undefined) {
    const message = `${name} was not run: it is not there any more.`;
    return { ending: "refused", result: toolError(callId, message) };
  }
  // An approver may have changed what the agent asked for.
  const problem = problemWith(tool, input);
  if (problem !== undefined) return { ending: "refused", result: toolError(callId, problem) };
  const limit = { limit: "run", milliseconds: tool.facts.timeoutMs } as const;
  const guard = guardCall(work.clock, work.signal, limit);
  const { context, end } = contextOf(effect, work, guard.signal);
  let made: Ended;
  try {
    const running = Promise.resolve().then(() => tool.run(input, context));
    const output = await untilAborted(running, guard.signal);
    made = succeeded(callId, output);
  } catch (error) {
    if (guard.reached !== null) made = timedOut(effect, tool);
    else {
      if (!work.signal.aborted) work.report(new Error(`The tool ${name} failed`, { cause: error }));
      const result = toolError(callId, `${name} failed: ${messageOf(error)}`);
      made = { ending: isUnknown(error) ? "unknown" : "failed", result };
    }
  } finally {
    guard.release();
    await end();
  }
  return { ...made, ...(await keepOutput(made.result, effect, work)) };
}

/** Whoever was asked what came of the call before does not know. */
function isUnknown(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "outcome_unknown";
}

/** What a tool says beside its output is for people, and not for the model. */
function succeeded(callId: string, output: unknown): Ended {
  if (!isToolOutput(output)) return { ending: "succeeded", result: toolSuccess(callId, output) };
  const result = toolSuccess(callId, output.text);
  const beside = asideOf(output);
  const plan = readPlan(output.plan);
  return {
    ending: "succeeded",
    result,
    ...(beside !== undefined && { beside }),
    ...(plan !== undefined && { plan }),
  };
}

function timedOut({ providerCallId: callId, name }: ToolEffect, { facts }: Tool): Ended {
  const seconds = facts.timeoutMs / 1000;
  const message = `${name} was stopped after ${seconds} seconds. What it had done by then is not known.`;
  return { ending: "timed-out", result: toolError(callId, message) };
}

function contextOf(
  { toolCallId, attempt, isRepeat, paths }: ToolEffect,
  { sessionId, workingDirectory, folders, host, editor, send, clock }: ToolWork,
  signal: AbortSignal,
): { readonly context: ToolContext; readonly end: () => Promise<void> } {
  const progress = progressReport(clock, (news) => {
    // Nobody waits for progress; a session that is closing drops it.
    send({ type: "tool-progressed", toolCallId, attempt, ...news }).catch(() => undefined);
  });
  const programs = spawnFor({
    signal,
    started: async (group) => {
      await send({ type: "tool-spawned", toolCallId, attempt, group });
    },
    ended: async (group) => {
      // A session that is closed here keeps the program in mind, and looks for it when it is taken up again.
      await send({ type: "program-ended", toolCallId, group }).catch(() => undefined);
    },
    ...(workingDirectory !== undefined && { workingDirectory }),
  });
  const context: ToolContext = {
    sessionId,
    toolCallId,
    idempotencyKey: toolCallId,
    attempt,
    ...(isRepeat !== undefined && { isRepeat }),
    ...(workingDirectory !== undefined && { workingDirectory }),
    ...(folders !== undefined && { folders }),
    ...(paths !== undefined && { paths }),
    signal,
    progress: progress.say,
    spawn: programs.spawn,
    host,
    ...(editor !== undefined && { editor }),
  };
  const end = async (): Promise<void> => {
    progress.end();
    await programs.end();
  };
  return { context, end };
}

/** For the model: what went wrong, without where in our code. */
function messageOf(error: unknown): string {
  const message = thrownMessage(error);
  return message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE)}…`;
}

const MAX_MESSAGE = 4000;
