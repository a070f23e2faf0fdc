import type {
  AgentEvent,
  AgentEventType,
  TurnFinished,
  TurnPaused,
} from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { addUsage } from "../../domain/usage.ts";
import { INSTRUCTIONS_AS_TEXT } from "../responses/anomaly.ts";
import { NO_USAGE, responseUsage } from "../responses/response-usage.ts";
import { chatError, type ChatDelta, type ChatOutput, type FinishReason } from "./chat-chunk.ts";
import {
  argumentsOf,
  tracedCall,
  tracedResult,
  tracedThought,
  withTexts,
  type ChatTraceItem,
} from "./chat-trace.ts";
import { chatUsage } from "./chat-usage.ts";
import { tell, type ChunkState } from "./chunk-state.ts";
import { addText, endText, replaceText } from "./chunk-text.ts";
import { chatEnding } from "./chat-ending.ts";

/** What an event comes to: either of the two, and never neither. */
export type ChunkRule<Event extends AgentEvent> =
  | { readonly silent: string; readonly encode?: undefined }
  | { readonly silent?: undefined; readonly encode: Encode<Event> };

type Encode<Event extends AgentEvent> = (
  state: ChunkState,
  event: Event,
  emit: Emit<ChatOutput>,
  envelope: Envelope,
) => void;

export type EventOf<Type extends AgentEventType> = Extract<AgentEvent, { readonly type: Type }>;

const UPSTREAM = "the provider's side is no matter of the client's";
const APPROVALS = "chat completions have no word for it; what comes of it is told";
const CLIENTS = "chat completions know one client";
const PROCESSES = "a process group is the session's own";

/** Every event of a session and what a client of chat completions is told of it. */
export const CHUNK_RULES: { readonly [Type in AgentEventType]: ChunkRule<EventOf<Type>> } = {
  "session.opened": silent("the answer names the session"),
  "agent.bound": silent("the client has named the agent"),
  "session.extended": silent("chat completions have no folders"),
  "session.recovered": silent("what follows from it is told"),
  "session.metadata_changed": silent("chat completions have no conversations"),
  "session.titled": silent("chat completions have no titles"),
  "session.configured": silent("chat completions have no modes"),
  "history.given": silent("the client has said it"),
  "prompt.accepted": mapped((state, { promptId }, emit, envelope) =>
    begin(state, promptId, emit, envelope),
  ),
  "prompt.withdrawn": mapped((state, { promptId, reason }, emit) => {
    if (state.answer?.promptId !== promptId) return;
    state.isOver = true;
    emit(chatError("cancelled", `The request was withdrawn before its turn: ${reason}`));
  }),
  "prompt.forgotten": silent("it was said all the same"),
  "turn.started": mapped((state, { turnId, promptId }) => {
    if (state.answer?.promptId === promptId) state.turnId = turnId;
  }),
  "turn.paused": duringTurn(pause),
  "results.given": mapped((state, { promptId, turnId }, emit, envelope) => {
    if (state.answer !== null) return;
    begin(state, promptId, emit, envelope);
    state.turnId = turnId;
  }),
  "turn.finished": duringTurn(finishTurn),
  "upstream.opened": silent(UPSTREAM),
  "upstream.settled": silent(UPSTREAM),
  "call.started": silent(UPSTREAM),
  "call.finished": duringTurn((state, { usage }) => {
    if (usage !== null) state.usage = state.usage === null ? usage : addUsage(state.usage, usage);
  }),
  "call.lost": silent("the turn's end says what came of it"),
  "message.sent": duringTurn((state, { origin }, emit) => {
    if (origin === "instructions") tell(state, { anomalies: [INSTRUCTIONS_AS_TEXT] }, emit);
  }),
  "message.started": duringTurn((state, { messageId, role }) => {
    state.speakers.set(messageId, role);
  }),
  "message.finished": silent("an answer is one message, whatever it was made of"),
  "message.replaced": duringTurn((state, event, emit) => replaceText(state, event, emit)),
  "text.delta": duringTurn((state, event, emit) => addText(state, event, emit)),
  "text.finished": duringTurn((state, event, emit) => endText(state, event, emit)),
  "thought.delta": silent("its end has the whole of it"),
  "thought.finished": duringTurn((state, { text }, _, envelope) => {
    if (text !== "") state.trace.push({ toolCallId: null, item: tracedThought(text, envelope) });
  }),
  "tool.announced": duringTurn((state, { toolCallId }, _, { seq }) => {
    if (!state.calls.has(toolCallId)) state.calls.set(toolCallId, { seq, call: null });
  }),
  "tool.input.delta": silent("the call in full has its arguments"),
  "tool.called": duringTurn((state, { toolCallId, call }, _, { sessionId, seq }) => {
    const known = state.calls.get(toolCallId) ?? { seq, call: null };
    known.call = call;
    state.calls.set(toolCallId, known);
    const outer = state.options.outerCallId(toolCallId);
    state.trace.push({ toolCallId, item: tracedCall(call, outer, { sessionId, seq: known.seq }) });
  }),
  "tool.examined": silent("what follows from it is told"),
  "policy.decided": silent(APPROVALS),
  "tool.started": silent("its result is told"),
  "tool.awaited": silent("its result is told"),
  "tool.spawned": silent(PROCESSES),
  "tool.program.ended": silent(PROCESSES),
  "tool.progressed": silent("its result is told"),
  "tool.finished": duringTurn((state, event, _, envelope) => {
    const { toolCallId } = event;
    // What the client itself brought to a call of an answer before this one, it knows.
    if (!state.calls.has(toolCallId)) return;
    const outer = state.options.outerCallId(toolCallId);
    state.trace.push({ toolCallId, item: tracedResult(event, outer, envelope) });
  }),
  "plan.updated": silent("chat completions have no plans"),
  "approval.requested": silent(APPROVALS),
  "approval.routed": silent(APPROVALS),
  "approval.voted": silent(APPROVALS),
  "approval.resolved": silent(APPROVALS),
  "approvals.doubted": silent("whoever has to be asked is asked again"),
  "grant.given": silent(APPROVALS),
  "grant.revoked": silent(APPROVALS),
  "client.attached": silent(CLIENTS),
  "client.seen": silent(CLIENTS),
  "client.detached": silent(CLIENTS),
  "control.passed": silent(CLIENTS),
  "host.requested": silent(CLIENTS),
  "host.answered": silent(CLIENTS),
  "usage.reported": duringTurn((state, { usage }) => void state.steps.push({ usage })),
  "hook.fired": silent("chat completions have no word for it"),
  "activity.seen": silent("chat completions have no word for it"),
  "diagnostic.raised": silent("for the operator, who reads the log"),
  "unknown.reported": silent("for the operator, who reads the log"),
};

function silent(why: string): { readonly silent: string } {
  return { silent: why };
}

function mapped<Event extends AgentEvent>(
  encode: Encode<Event>,
): { readonly encode: Encode<Event> } {
  return { encode };
}

/** Another turn may run while this one waits for it. */
function duringTurn<Event extends AgentEvent>(
  encode: Encode<Event>,
): { readonly encode: Encode<Event> } {
  return mapped((state, event, emit, envelope) => {
    const { turnId } = state;
    if (turnId === null || (envelope.turnId ?? turnId) !== turnId) return;
    encode(state, event, emit, envelope);
  });
}

/** An answer is named after the event that it answers, so that it has the same name whenever the log is read. */
function begin(
  state: ChunkState,
  promptId: string,
  emit: Emit<ChatOutput>,
  { sessionId, seq, at }: Envelope,
): void {
  if (state.answer !== null) return;
  const created = Math.floor(at / 1000);
  state.answer = { id: `chatcmpl_${sessionId}_${seq}`, created, promptId };
  const said = { role: "assistant", content: "", session_id: sessionId } as const;
  tell(state, { ...state.options.state, ...said }, emit);
}

function pause(state: ChunkState, { toolCallIds }: TurnPaused, emit: Emit<ChatOutput>): void {
  for (const [index, toolCallId] of toolCallIds.entries()) {
    const call = state.calls.get(toolCallId)?.call;
    if (call === undefined || call === null) continue;
    const wanted = { name: call.name, arguments: argumentsOf(call) };
    const id = state.options.outerCallId(toolCallId);
    tell(state, { tool_calls: [{ index, id, type: "function", function: wanted }] }, emit);
  }
  end(state, { reason: "tool_calls", handedOut: toolCallIds }, emit);
}

function finishTurn(state: ChunkState, event: TurnFinished, emit: Emit<ChatOutput>): void {
  const ending = chatEnding(event);
  if (typeof ending === "string") return end(state, { reason: ending, handedOut: [] }, emit);
  // What was done is done, however the turn ended.
  const trace = tracedBut(state, []);
  if (trace.length > 0) tell(state, { trace }, emit);
  state.isOver = true;
  emit(ending);
}

interface Ending {
  readonly reason: FinishReason;
  /** Calls that are the client's to run, and so are not done. */
  readonly handedOut: readonly string[];
}

function end(state: ChunkState, { reason, handedOut }: Ending, emit: Emit<ChatOutput>): void {
  const { options, answer } = state;
  const trace = tracedBut(state, handedOut);
  const delta: ChatDelta = trace.length > 0 ? { trace } : {};
  tell(state, delta, emit, reason);
  state.isOver = true;
  if (!options.includeUsage || answer === null) return;
  const { id, created } = answer;
  const { model } = options;
  // A turn may have been several answers: its calls of the provider say what this one used.
  const usage = chatUsage(responseUsage(state.usage, state.steps) ?? NO_USAGE);
  emit({ id, object: "chat.completion.chunk", created, model, choices: [], usage });
}

/** What was done, without calls that somebody else still has to run. */
function tracedBut({ options, trace }: ChunkState, handedOut: readonly string[]): ChatTraceItem[] {
  if (options.trace === "none") return [];
  const done = trace.flatMap(({ toolCallId, item }): ChatTraceItem[] => {
    if (toolCallId !== null && handedOut.includes(toolCallId)) return [];
    return "type" in item ? [item] : [{ type: "text", text: item.text }];
  });
  return withTexts(done);
}
