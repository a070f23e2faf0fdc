import { isObject, toJsonText } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { isConnectionCut } from "../../domain/provider/invocation-outcome.ts";
import { UnexpectedResponseError } from "../../domain/provider/provider-error.ts";
import {
  type TurnEnd,
  OUTCOMES,
  type ProviderEvent,
} from "../../domain/provider/provider-event.ts";
import { formatValue } from "../../text/format-value.ts";
import type { Decision } from "../decision.ts";
import type { TimedInput, ProviderOutput } from "../session-input.ts";
import { finishTool } from "../tools/finish-tool.ts";
import { isOpen } from "../tools/tools-state.ts";
import { listOpenToolCalls } from "./evolve-invocation.ts";
import { translateProviderEvent } from "./translate-provider-event.ts";
import type { Invocation, ReceivedMessage } from "./turn-state.ts";

/** Applies the events of an invocation's stream. Events of a finished invocation are ignored. */
export function applyProviderEvents(
  decision: Decision,
  invocationId: string,
  outputs: readonly ProviderOutput[],
): void {
  for (const { event, problem } of outputs) {
    const invocation = findActiveInvocation(decision, invocationId);
    if (invocation === undefined) return;
    if (event.type === "end") endInvocation(decision, invocation, event);
    else {
      const { tools, turn } = decision.state;
      const options = turn.current?.options ?? null;
      for (const sessionEvent of translateProviderEvent(
        { invocation, tools, problem, options },
        event,
      ))
        decision.emit(sessionEvent);
    }
  }
}

/** Marks the active invocation as lost, because the process which ran it has exited. */
export function loseInvocation(decision: Decision): void {
  const stage = decision.state.turn.current?.stage;
  if (stage?.type !== "invoking") return;
  closeStream(decision, stage.invocation, "The connection to the agent was lost");
  decision.emit({ type: "invocation.lost", invocationId: stage.invocation.invocationId });
}

function findActiveInvocation({ state }: Decision, invocationId: string): Invocation | undefined {
  const stage = state.turn.current?.stage;
  return stage?.type === "invoking" && stage.invocation.invocationId === invocationId
    ? stage.invocation
    : undefined;
}

function endInvocation(decision: Decision, invocation: Invocation, end: TurnEnd): void {
  const { outcome, reason, usage, failure } = end;
  const { invocationId } = invocation;
  if (failure !== undefined && isConnectionCut(failure)) {
    closeStream(decision, invocation, "The connection to the agent was lost");
    decision.emit({ type: "invocation.lost", invocationId, failure });
    return;
  }
  const openToolCalls = outcome === "action-required" ? listOpenToolCalls(invocation) : [];
  const pendingToolCalls = openToolCalls.filter((open) =>
    end.openToolCallIds.includes(open.toolCall.id),
  );
  const why = "The agent did not wait for this call";
  closeStream(
    decision,
    invocation,
    why,
    new Set(pendingToolCalls.map(({ toolCallId }) => toolCallId)),
  );
  decision.emit({
    type: "invocation.finished",
    invocationId,
    outcome,
    reason,
    usage,
    ...omitUndefined({ failure }),
  });
}

type InvocationFailure = Extract<TimedInput, { readonly type: "invocation-failed" }>;

/** An invocation failed without a stream: `lost` if the request may have been sent, else `refused`. */
export function applyInvocationFailure(
  decision: Decision,
  { invocationId: callId, failure, mayHaveBeenSent }: InvocationFailure,
): void {
  const invocation = findActiveInvocation(decision, callId);
  if (invocation === undefined) return;
  closeStream(decision, invocation, "The request to the agent failed");
  if (mayHaveBeenSent || invocation.messages.length > 0) {
    return decision.emit({ type: "invocation.lost", invocationId: callId, failure });
  }
  const resultFields = { outcome: "refused", reason: null, usage: null, failure } as const;
  decision.emit({ type: "invocation.finished", invocationId: callId, ...resultFields });
}

/**
 * Replaces events outside the contract. Our folds follow the types, but a provider may be third-party code, and its
 * output must not produce an unreadable log.
 */
export function sanitizeProviderEvent(output: ProviderOutput): ProviderOutput {
  const { event } = output;
  if (!Object.hasOwn(KNOWN_TYPES, event.type)) return { event: toUnknownEvent(event) };
  const problem = event.type === "end" ? findEndProblem(event) : undefined;
  return problem === undefined ? output : { event: createFailedEnd(problem) };
}

const KNOWN_TYPES: { readonly [Type in ProviderEvent["type"]]: true } = {
  "message.start": true,
  "message.end": true,
  "message.replaced": true,
  "text.delta": true,
  "text.end": true,
  "reasoning.delta": true,
  "reasoning.end": true,
  "tool.start": true,
  "tool.delta": true,
  "tool.end": true,
  "tool.result": true,
  usage: true,
  hook: true,
  activity: true,
  diagnostic: true,
  unknown: true,
  end: true,
};

function toUnknownEvent({ type, ...rest }: { readonly type: unknown }): ProviderEvent {
  const name = typeof type === "string" ? type : typeof type;
  // Converts the value to JSON data, because the log must be able to store it.
  const raw: unknown = JSON.parse(toJsonText({ type, ...rest }));
  return { type: "unknown", what: "event", name, raw };
}

/** Returns why an end event is invalid; undefined if it is valid. */
function findEndProblem({ outcome, reason, openToolCallIds, usage }: Unchecked<TurnEnd>) {
  if (!OUTCOMES.some((known) => known === outcome)) {
    return `outcome is ${formatValue(outcome)}, expected ${OUTCOMES.join(", ")}`;
  }
  if (reason !== null && typeof reason !== "string") {
    return `reason is ${formatValue(reason)}, expected a string or null`;
  }
  if (!Array.isArray(openToolCallIds))
    return `openToolCallIds is ${formatValue(openToolCallIds)}, expected a list of ids`;
  if (usage === null || isObject(usage)) return undefined;
  return `usage is ${formatValue(usage)}, expected tokens or null`;
}

type Unchecked<Event> = { readonly [Name in keyof Event]?: unknown };

/** The outcome is unknown, so no tool call waits for results. */
function createFailedEnd(problem: string): TurnEnd {
  const message = `The provider's end event is invalid: ${problem}`;
  const failure = new UnexpectedResponseError(message, { phase: "stream" }).toFailure();
  return {
    type: "end",
    outcome: "failed",
    reason: null,
    openToolCallIds: [],
    usage: null,
    failure,
  };
}

/**
 * Closes everything a stream left open: blocks and messages as interrupted, tool calls as cancelled. Calls in
 * `pendingToolCallIds` stay open, because the provider waits for their results.
 */
export function closeStream(
  decision: Decision,
  invocation: Invocation,
  why: string,
  pendingToolCallIds: ReadonlySet<string> = new Set(),
): void {
  for (const message of invocation.messages) closeMessage(decision, message);
  for (const run of decision.state.tools.runs) {
    if (!isOpen(run) || pendingToolCallIds.has(run.toolCallId)) continue;
    const text =
      run.toolCall?.runBy === "server"
        ? `No result of ${run.name} arrived. ${why}.`
        : `${run.name} was not run. ${why}.`;
    finishTool(decision, run, { ending: "cancelled", text });
  }
}

function closeMessage(
  decision: Decision,
  { messageId, blocks, isFinished, reason }: ReceivedMessage,
): void {
  for (const block of blocks) {
    if (block.isFinished) continue;
    const { block: number } = block;
    const interruptedBlock = { messageId, block: number, interrupted: true } as const;
    if (block.type === "text")
      decision.emit({ type: "text.finished", ...interruptedBlock, text: block.text });
    if (block.type === "thought")
      decision.emit({ type: "thought.finished", ...interruptedBlock, text: block.text });
  }
  if (!isFinished)
    decision.emit({ type: "message.finished", messageId, reason, interrupted: true });
}
