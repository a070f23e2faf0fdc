import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { SpanlineError, toSpanlineError } from "../../domain/errors.ts";
import { DENYING_DECISIONS } from "../../domain/policy/approval-decision.ts";
import { systemClock } from "../../platform/clock.ts";
import type { Agent } from "../../session/runtime/agent/agent.ts";
import type { RunningSessions } from "../../session/runtime/create-sessions.ts";
import { localPrincipal } from "../local-principal.ts";
import { prepareRunAgent } from "./prepare-run-agent.ts";
import { requestDecision } from "./request-decision.ts";
import type { RunOptions } from "./run-options.ts";
import { createRunRecord } from "./run-record.ts";
import type { RunResult } from "./run-result.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { SchemaError, throwInvalid } from "../../data/schema-error.ts";
import {
  anything,
  boolean,
  object,
  optional,
  string,
  type Schema,
} from "../../data/schema-reader.ts";
import { isObject } from "../../data/json.ts";
import { CAPS_SCHEMA } from "../../config/agent/turn-caps.ts";
import { readOptions } from "../../domain/option-reader.ts";

/**
 * Runs one turn of an agent, including its tools, and returns the result. A failure of the agent, the provider or a
 * tool is part of the result. Throws if the run cannot start, and rethrows exceptions of `onEvent`.
 *
 * The session is the same as in a bridge, but exists only in memory.
 */
export async function runToCompletion(agent: Agent, options: RunOptions): Promise<RunResult> {
  checkRunOptions(agent, options);
  const { clock = systemClock, workingDirectory, signal } = options;
  const running = prepareRunAgent(agent, options);
  // Loaded here, so programs which only import this module to define tools do not load the session runtime.
  const { createSessions } = await import("../../session/runtime/create-sessions.ts");
  const { createMemoryStore } = await import("../../store/memory/memory-store.ts");
  const { stopUpstream } = await import("./stop-upstream.ts");
  const broken = new AbortController();
  const store = createMemoryStore();
  const sessions = createSessions({
    store,
    agents: [running.agent],
    clock,
    owner: "run",
    coalesceMs: 0,
    ...omitUndefined({ signal }),
    report: (error) => options.report?.(error),
    onSessionFailed: (_, error) => broken.abort(error),
  });
  try {
    const { sessionId } = await sessions.open({
      principal: localPrincipal,
      ...omitUndefined({ workingDirectory }),
    });
    const record = createRunRecord(sessionId);
    // No invocation is paid for if the caller has already aborted.
    if (signal?.aborted !== true) {
      await submitPrompt(sessions, sessionId, options.prompt);
      for await (const envelope of readTurnEvents(sessions, sessionId, broken.signal, signal)) {
        record.add(envelope);
        options.onEvent?.(envelope);
        if (envelope.event.type === "approval.requested") {
          void decideApproval(sessions, sessionId, envelope.event, options);
        }
      }
    }
    if (signal?.aborted === true) await stopUpstream(record.upstreamId, agent.provider, clock);
    return record.result(running.turnUsage);
  } finally {
    await sessions.close();
    await store.close();
  }
}

async function submitPrompt(
  sessions: RunningSessions,
  sessionId: string,
  prompt: string,
): Promise<void> {
  const command = { type: "prompt", content: [{ type: "text", text: prompt }] } as const;
  const reply = await sessions.command(sessionId, command, { principal: localPrincipal });
  if (reply.status === "refused") {
    const { code, message, details } = reply.failure;
    throw new SpanlineError(code, message, { details: { ...details, path: "prompt" } });
  }
}

/** Yields all events until the end of the turn. The caller's signal cancels the turn. */
async function* readTurnEvents(
  sessions: RunningSessions,
  sessionId: string,
  broken: AbortSignal,
  caller: AbortSignal | undefined,
): AsyncGenerator<Envelope> {
  const cancel = (): void => {
    const from = { principal: localPrincipal };
    // A broken session ends without the cancel.
    sessions.command(sessionId, { type: "cancel" }, from).catch(() => undefined);
  };
  if (caller?.aborted === true) cancel();
  caller?.addEventListener("abort", cancel, { once: true });
  try {
    for await (const batch of sessions.subscribe(sessionId, undefined, broken)) {
      for (const envelope of batch.events) {
        yield envelope;
        if (envelope.event.type === "turn.finished") return;
      }
    }
  } finally {
    caller?.removeEventListener("abort", cancel);
  }
  const cause: unknown = broken.reason;
  throw new SpanlineError("aborted", "The run was aborted before its turn ended", { cause });
}

async function decideApproval(
  sessions: RunningSessions,
  sessionId: string,
  request: ApprovalRequested,
  options: RunOptions,
): Promise<void> {
  const runDecision = await requestDecision(request, options);
  const { approvalId } = request;
  const answer = { type: "decide-approval", approvalId, ...runDecision } as const;
  const from = { principal: localPrincipal };
  try {
    // A deadline or a cancel may have resolved the approval meanwhile.
    const reply = await sessions.command(sessionId, answer, from);
    if (reply.status === "accepted" || reply.failure.code !== "invalid_option") return;
    // No other client can answer, so the run would wait until the deadline.
    options.report?.(toSpanlineError(reply.failure));
    const decision = DENYING_DECISIONS[request.question];
    const reason = reply.failure.message;
    await sessions.command(
      sessionId,
      { type: "decide-approval", approvalId, decision, reason },
      from,
    );
  } catch {
    // The session has ended.
  }
}

const FUNCTION = optional((value, path) =>
  typeof value === "function" ? value : throwInvalid({ path, value, expected: "a function" }),
);

const OPTIONS_SHAPE: { readonly [Name in keyof RunOptions]-?: Schema<unknown> } = {
  prompt: anything,
  approve: FUNCTION,
  onEvent: FUNCTION,
  report: FUNCTION,
  guard: FUNCTION,
  caps: optional(CAPS_SCHEMA),
  stopAtTerminalTool: optional(boolean()),
  signal: createMethodsSchema(["addEventListener", "removeEventListener"]),
  workingDirectory: optional(string()),
  clock: createMethodsSchema(["now", "schedule", "monotonic"]),
};

/**
 * Throws `invalid_option` for an invalid agent and for invalid or unknown options, and `invalid_message` for an invalid
 * prompt.
 */
function checkRunOptions(agent: unknown, options: unknown): void {
  readOptions(checkAgent, agent, "agent");
  const { prompt } = readOptions(object(OPTIONS_SHAPE), options, "");
  try {
    string()(prompt, "prompt");
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw new SpanlineError("invalid_message", error.message, { details: { path: "prompt" } });
  }
}

function checkAgent(value: unknown, path: string): void {
  const { spec, provider, tools } = isObject(value) ? value : {};
  if (isObject(spec) && isObject(provider) && tools instanceof Map) return;
  throwInvalid({ path, value, expected: "an agent", fix: "create it with defineAgent" });
}

function createMethodsSchema(methods: readonly string[]): Schema<unknown> {
  const expected = `an object with ${methods.map((method) => `${method}()`).join(", ")}`;
  return optional((value, path) => {
    const hasAll = methods.every((name) => isObject(value) && typeof value[name] === "function");
    return hasAll ? value : throwInvalid({ path, value, expected });
  });
}
