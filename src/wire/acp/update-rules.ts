import type {
  AgentEvent,
  AgentEventType,
  PromptAccepted,
  TurnFinished,
} from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { jsonText } from "../../domain/json.ts";
import { titleOf } from "../../domain/title-of.ts";
import type { RpcOutcome } from "../jsonrpc/rpc-message.ts";
import { fittedObject, fittedText } from "./fitted.ts";
import { clientAttached, clientDetached, clientSeen, controlPassed } from "./live-updates.ts";
import { logDiagnostic, logUnknown } from "./log-updates.ts";
import { tellPlan } from "./plan-updates.ts";
import { askQuestion, endQuestion, questionRouted } from "./question-updates.ts";
import { cancelledAnswer, promptAnswer, queuedAnswer } from "./prompt-answer.ts";
import { tellMode } from "./mode-updates.ts";
import { showSent } from "./sent-updates.ts";
import { commandsUpdate } from "./slash-commands.ts";
import { addDelta, endBlock, endTexts, replaceText } from "./text-updates.ts";
import {
  announced,
  called,
  closeCalls,
  finished,
  handedOut,
  inputDelta,
  progressed,
  started,
} from "./tool-updates.ts";
import { tellUsage } from "./usage-updates.ts";
import { tell, type AcpOutput, type UpdateState } from "./update-state.ts";

/** What an event comes to: either of the two, and never neither. */
export type UpdateRule<Event extends AgentEvent> =
  | { readonly silent: string; readonly encode?: undefined }
  | { readonly silent?: undefined; readonly encode: Encode<Event> };

type Encode<Event extends AgentEvent> = (
  state: UpdateState,
  event: Event,
  emit: Emit<AcpOutput>,
  envelope: Envelope,
) => void;

export type EventOf<Type extends AgentEventType> = Extract<AgentEvent, { readonly type: Type }>;

/** Every event of a session and what an ACP client is told of it. */
export const UPDATE_RULES: { readonly [Type in AgentEventType]: UpdateRule<EventOf<Type>> } = {
  "session.opened": mapped((state, { workingDirectory, title }, emit) => {
    state.workingDirectory = workingDirectory;
    if (title !== undefined) tellTitle(state, title, emit);
  }),
  "agent.bound": mapped(bindAgent),
  "session.extended": silent("whoever set up the session with them knows"),
  "session.recovered": silent("what follows from it is told"),
  "session.metadata_changed": silent("it is for programs that set it"),
  "session.titled": mapped((state, { title }, emit) => tellTitle(state, title, emit)),
  "session.configured": mapped(tellMode),
  "prompt.accepted": mapped(rememberPrompt),
  "prompt.withdrawn": mapped((state, { promptId }, emit) => {
    state.ownPrompts.delete(promptId);
    state.prompters.delete(promptId);
    state.queue.delete(promptId);
    state.waited.delete(promptId);
    // What has its turn cannot be withdrawn.
    emit({ type: "answer", promptId, outcome: queuedAnswer(cancelledAnswer()) });
  }),
  "turn.started": mapped((state, { turnId, promptId }, emit) => {
    state.turn = { turnId, promptId };
    state.queue.delete(promptId);
    emit({ type: "begun", turnId, promptId });
  }),
  "turn.finished": mapped(finishTurn),
  "upstream.opened": silent("the provider's side is no matter of the client's"),
  "upstream.settled": silent("the provider's side is no matter of the client's"),
  "call.started": silent("the provider's side is no matter of the client's"),
  "call.finished": silent("the turn's end says what came of it"),
  "call.lost": silent("the question about it, or the message that follows, is told"),
  "message.sent": mapped(showSent),
  "message.started": silent("its chunks carry its id"),
  "message.finished": mapped((state, { messageId }) => {
    state.visible.delete(messageId);
  }),
  "message.replaced": duringTurn(replaceText),
  "text.delta": duringTurn((state, event, emit) =>
    addDelta(state, "agent_message_chunk", event, emit),
  ),
  "text.finished": duringTurn((state, event, emit) =>
    endBlock(state, "agent_message_chunk", event, emit),
  ),
  "thought.delta": duringTurn((state, event, emit) =>
    addDelta(state, "agent_thought_chunk", event, emit),
  ),
  "thought.finished": duringTurn((state, event, emit) =>
    endBlock(state, "agent_thought_chunk", event, emit),
  ),
  "tool.announced": duringTurn(announced),
  "tool.input.delta": duringTurn(inputDelta),
  "tool.called": duringTurn(called),
  "tool.examined": silent("what follows from it is told"),
  "policy.decided": silent("the question, or the end of the call, says it"),
  "tool.started": duringTurn(started),
  "tool.awaited": silent("the call is open until it ends"),
  "tool.spawned": silent("a process group is the session's own"),
  "tool.program.ended": silent("a process group is the session's own"),
  "tool.progressed": duringTurn(progressed),
  "tool.finished": duringTurn(finished),
  "plan.updated": duringTurn(tellPlan),
  "approval.requested": mapped(askQuestion),
  "approval.routed": mapped(questionRouted),
  "approval.voted": silent("the question is still open"),
  "approval.resolved": mapped(endQuestion),
  "history.given": silent("it was said elsewhere, to somebody else"),
  "prompt.forgotten": silent("it was said all the same"),
  "turn.paused": duringTurn(handedOut),
  "results.given": silent("each result is told with its call"),
  "grant.given": silent("the client that gave it knows"),
  "grant.revoked": silent("the next call asks again"),
  "approvals.doubted": silent("what is asked again is asked by its own event"),
  "client.attached": mapped(clientAttached),
  "client.seen": mapped(clientSeen),
  "client.detached": mapped(clientDetached),
  "control.passed": mapped(controlPassed),
  "host.requested": silent("the client that is asked gets a request"),
  "host.answered": silent("what came of it is told with the call"),
  "usage.reported": duringTurn(tellUsage),
  "hook.fired": silent("ACP has no word for it"),
  "activity.seen": silent("ACP has no word for it"),
  "diagnostic.raised": mapped(logDiagnostic),
  "unknown.reported": mapped(logUnknown),
};

function silent(why: string): { readonly silent: string } {
  return { silent: why };
}

function mapped<Event extends AgentEvent>(
  encode: Encode<Event>,
): { readonly encode: Encode<Event> } {
  return { encode };
}

/** What a turn still says after it has ended is in the log, and too late for the client, who has its answer. */
function duringTurn<Event extends AgentEvent>(
  encode: Encode<Event>,
): { readonly encode: Encode<Event> } {
  return mapped((state, event, emit, envelope) => {
    const isLate = envelope.turnId !== undefined && envelope.turnId === state.endedTurn;
    if (!isLate) encode(state, event, emit, envelope);
  });
}

/** What can be typed is said in the beginning, by whoever answers the client, and here when it changes. */
function bindAgent(
  state: UpdateState,
  { definition }: EventOf<"agent.bound">,
  emit: Emit<AcpOutput>,
): void {
  const before = jsonText(state.agent?.commands ?? []);
  state.agent = definition;
  const isNew = jsonText(definition.commands ?? []) !== before;
  if (state.isLive && isNew) tell(state, commandsUpdate(definition.commands), emit);
}

function rememberPrompt(
  state: UpdateState,
  { promptId, content }: PromptAccepted,
  emit: Emit<AcpOutput>,
  { actor }: Envelope,
): void {
  if (actor?.clientId === state.clientId) state.ownPrompts.add(promptId);
  if (actor?.clientId !== undefined) state.prompters.set(promptId, actor.clientId);
  const isQueued = state.turn !== undefined || state.queue.size > 0;
  state.queue.add(promptId);
  const title = state.isTitled ? undefined : titleOf(content);
  if (title !== undefined) tellTitle(state, title, emit);
  if (isQueued) tellQueued(state, promptId, emit);
}

/** Who has waited is told so again with the answer; this is for whoever shows what waits. */
function tellQueued(state: UpdateState, promptId: string, emit: Emit<AcpOutput>): void {
  if (!state.isLive || !state.profile().isBridgeHost) return;
  const clientId = state.prompters.get(promptId) ?? null;
  const harn = { queued: { promptId, clientId } };
  tell(state, { sessionUpdate: "session_info_update", _meta: { harn } }, emit);
}

function tellTitle(state: UpdateState, title: string, emit: Emit<AcpOutput>): void {
  state.isTitled = true;
  const shown = fittedText(title, state.lineBytes / 2);
  tell(state, { sessionUpdate: "session_info_update", title: shown }, emit);
}

function finishTurn(
  state: UpdateState,
  event: TurnFinished,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  endTexts(state, emit);
  closeCalls(state, emit, at);
  const promptId = state.turn?.turnId === event.turnId ? state.turn.promptId : undefined;
  state.turn = undefined;
  state.endedTurn = event.turnId;
  const hasWaited = promptId !== undefined && state.waited.delete(promptId);
  const outcome = hasWaited ? queuedAnswer(promptAnswer(event)) : promptAnswer(event);
  for (const waiting of state.queue) state.waited.add(waiting);
  tellTurnEnd(state, { turnId: event.turnId, promptId }, outcome, emit);
  if (promptId !== undefined) emit({ type: "answer", promptId, outcome });
}

function tellTurnEnd(
  state: UpdateState,
  { turnId, promptId }: { readonly turnId: string; readonly promptId: string | undefined },
  outcome: RpcOutcome,
  emit: Emit<AcpOutput>,
): void {
  const clientId = state.prompters.get(promptId ?? "") ?? null;
  state.prompters.delete(promptId ?? "");
  if (!state.profile().isBridgeHost) return;
  const { ok: _, ...answer } = outcome;
  const ended = fittedObject(answer, state.lineBytes / 2);
  const harn = { turn: { turnId, promptId: promptId ?? null, clientId, ...ended } };
  tell(state, { sessionUpdate: "session_info_update", _meta: { harn } }, emit);
}
