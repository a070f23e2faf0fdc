import type { Right } from "../../../src/domain/actor.ts";
import type { SessionCommand } from "../../../src/domain/session-command.ts";
import type { AgentEvent, AgentFacts } from "../../../src/domain/agent-event.ts";
import type { Envelope } from "../../../src/domain/envelope.ts";
import { due, type Effect } from "../../../src/session/due.ts";
import type { SessionState } from "../../../src/session/state.ts";
import { isIdempotent } from "./agent-facts.ts";
import type { Step } from "./simulated-session.ts";

type Of<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>;

interface SeenTool {
  name: string;
  isRunnable: boolean;
  isClosed: boolean;
  started: number;
  /** Since its last start it was asked about and may be started again. */
  mayStart: boolean;
}

/** What holds of every log, told by the log alone, with a second bookkeeping that shares nothing with the first. */
export function logRules(facts: AgentFacts): (step: Step) => void {
  let seq = 0;
  let turnId: string | undefined;
  let call: { callId: string; upstreamId: string; outgoing: string } | undefined;
  let steps = 0;
  let toolsStarted = 0;
  let isUncertain = false;
  let lastIdAt = 0;
  let lastId = "";
  const ids = new Set<string>();
  const tools = new Map<string, SeenTool>();
  const approvals = new Map<string, Of<"approval.requested">>();
  const openMessages = new Set<string>();
  const messages = new Set<string>();
  const endedBlocks = new Set<string>();
  const openBlocks = new Set<string>();
  const lost = new Set<string>();
  const requests = new Map<string, string>();

  const minted = (id: string, at: number): void => {
    must(!ids.has(id), "an id is minted once");
    ids.add(id);
    const order = id.slice(id.search(/[_-]/) + 1);
    must(at === lastIdAt || order > lastId, "later ids sort behind earlier ones");
    if (order > lastId) lastId = order;
    lastIdAt = at;
  };
  const tool = (toolCallId: string): SeenTool => {
    const seen = tools.get(toolCallId);
    if (seen === undefined) throw new Error(`${toolCallId} was never announced`);
    return seen;
  };
  const hasOpenTools = (): boolean => [...tools.values()].some(({ isClosed }) => !isClosed);
  const endCall = (callId: string): void => {
    must(call?.callId === callId, "the call that ends is the one under way");
    must(openMessages.size === 0, "no message outlives its call");
    must(openBlocks.size === 0, "no block outlives its call");
    call = undefined;
  };
  const delta = (key: string): void => {
    must(!endedBlocks.has(key), "nothing is added to a block that ended");
    openBlocks.add(key);
  };
  const endBlock = (key: string): void => {
    must(!endedBlocks.has(key), "a block ends once");
    openBlocks.delete(key);
    endedBlocks.add(key);
  };

  function take({ event, at, seq: place, turnId: ofTurn }: Envelope, { after }: Step): void {
    seq += 1;
    must(place === seq, "places have no gaps");
    const running = turnId ?? (event.type === "turn.started" ? event.turnId : undefined);
    must(ofTurn === running, "an event is of the turn that runs");
    switch (event.type) {
      case "prompt.accepted":
        return minted(event.promptId, at);
      case "turn.started":
        must(turnId === undefined, "turns are serial");
        minted(event.turnId, at);
        turnId = event.turnId;
        steps = 0;
        toolsStarted = 0;
        return;
      case "turn.finished":
        must(event.turnId === turnId, "only the turn that runs ends, and once");
        must(!hasOpenTools(), "no call of a tool outlives its turn");
        must(approvals.size === 0, "no question outlives its turn");
        must(call === undefined, "no call outlives its turn");
        must(event.steps === steps, "a turn counts its steps");
        turnId = undefined;
        return;
      case "upstream.opened":
        minted(event.upstreamId, at);
        isUncertain = false;
        return;
      case "upstream.settled":
        must(isUncertain, "only what is uncertain is settled");
        isUncertain = false;
        return;
      case "call.started": {
        must(call === undefined, "one call at a time");
        must(turnId !== undefined, "a call is of a turn");
        must(!hasOpenTools(), "no call beside an open tool");
        minted(event.callId, at);
        steps += 1;
        must(steps <= facts.caps.steps, "a step more is not bought");
        const mayRepeat = event.again !== undefined;
        must(!isUncertain || mayRepeat, "nothing is sent to what is not at rest");
        const { stage } = after.turn.current ?? {};
        if (stage?.type !== "calling") return;
        const { outgoing, upstreamId } = stage.call;
        const { texts, answers } = outgoing;
        must(texts.length > 0 || answers !== null, "a call says something");
        for (const { result } of answers?.calls ?? []) {
          must(result !== null, "every call of a tool is answered");
        }
        const key = `${upstreamId} ${JSON.stringify(outgoing)}`;
        const { onLost, provider } = after.agent?.facts ?? {};
        const isFree = onLost === "resend" && provider?.effectFree === true;
        must(isFree || (!mayRepeat && !lost.has(key)), "a lost call is not made again");
        call = { callId: event.callId, upstreamId, outgoing: key };
        return;
      }
      case "call.lost":
        if (call !== undefined) lost.add(call.outgoing);
        isUncertain = true;
        return endCall(event.callId);
      case "call.finished":
        if (event.outcome === "cancelled") isUncertain = true;
        else isUncertain = event.outcome === "refused" && event.failure?.code === "conflict";
        return endCall(event.callId);
      case "message.sent":
        // Told once more to call its last tool, an agent hears the same words, and that is no repetition.
        if (event.origin === "reprompt") lost.clear();
        return minted(event.messageId, at);
      case "message.started":
        must(!messages.has(event.messageId), "a message begins once");
        messages.add(event.messageId);
        openMessages.add(event.messageId);
        return;
      case "message.finished":
        must(openMessages.has(event.messageId), "a message ends once");
        openMessages.delete(event.messageId);
        return;
      case "text.delta":
      case "thought.delta":
        must(messages.has(event.messageId), "a block is in a message");
        return delta(`${event.messageId} ${event.block}`);
      case "text.finished":
      case "thought.finished":
        must(messages.has(event.messageId), "a block is in a message");
        return endBlock(`${event.messageId} ${event.block}`);
      case "message.replaced":
        // Its text is closed by this; what else is open in it is not.
        for (const key of openBlocks) if (key.startsWith(event.messageId)) openBlocks.delete(key);
        return;
      case "tool.announced": {
        must(!tools.has(event.toolCallId), "a call is announced once");
        const { name } = event;
        const seen = { name, isRunnable: false, isClosed: false, started: 0, mayStart: false };
        tools.set(event.toolCallId, seen);
        return;
      }
      case "tool.input.delta":
        must(!tool(event.toolCallId).isClosed, "what is closed gets no more arguments");
        return;
      case "tool.called": {
        const { toolCallId, call: wanted, problem } = event;
        const isRunnable =
          problem === undefined && wanted.input !== null && wanted.runBy === "client";
        const known = tools.get(toolCallId);
        must(known?.isClosed !== true, "a call that is closed stays so");
        const mayStart = isRunnable && wanted.name.startsWith("free_");
        const seen = { name: wanted.name, isRunnable, isClosed: false, started: 0, mayStart };
        tools.set(toolCallId, seen);
        return;
      }
      case "approval.requested":
        minted(event.approvalId, at);
        approvals.set(event.approvalId, event);
        if (event.question === "outcome") tool(event.about).mayStart = false;
        return;
      case "approval.resolved": {
        const asked = approvals.get(event.approvalId);
        must(asked !== undefined, "a question is answered once");
        approvals.delete(event.approvalId);
        must(asked.options.includes(event.decision), "an answer is one of the options");
        const isYes = event.decision === "allow" || event.decision === "run-again";
        must(event.by === "person" || !isYes, "nobody's answer is no yes");
        if (isYes) tool(asked.about).mayStart = true;
        return;
      }
      case "tool.started": {
        const seen = tool(event.toolCallId);
        must(!seen.isClosed, "what is closed does not run");
        must(seen.isRunnable, "what cannot run does not");
        must(!seen.name.startsWith("rm"), "what is denied never runs");
        must(seen.mayStart, "a tool runs when it may, and once for each time it may");
        must(event.attempt === seen.started + 1, "attempts are counted");
        if (seen.started === 0) toolsStarted += 1;
        must(toolsStarted <= facts.caps.toolCalls, "a tool more is not started");
        seen.started += 1;
        seen.mayStart = false;
        return;
      }
      case "session.recovered":
        for (const seen of tools.values()) {
          if (seen.started > 0 && !seen.isClosed && isIdempotent(seen.name)) seen.mayStart = true;
        }
        return;
      case "tool.finished":
        must(!tool(event.toolCallId).isClosed, "a call of a tool is closed once");
        tool(event.toolCallId).isClosed = true;
        return;
      case "host.requested":
        requests.set(event.requestId, event.clientId);
        return;
      case "host.answered":
        must(requests.has(event.requestId), "a request is answered once");
        requests.delete(event.requestId);
        return;
      default:
    }
  }

  function checkState({ after, before, reply, events, happening }: Step): void {
    const { turn, clients, approvals: asked, tools: runs } = after;
    must(reply?.status !== "refused" || events.length === 0, "a refusal changes nothing");
    if (happening.type === "commanded") {
      const right = rightFor(happening.command, turnOwner(before));
      const mayDo = right === undefined || happening.rights.includes(right);
      must(mayDo || reply?.status === "refused", "who may not is refused");
    }
    if (happening.type === "call-said" && happening.callId !== callIn(before)) {
      const isSaid = events.some(({ event }) => event.type === "message.started");
      must(!isSaid, "what a call says that is over is nobody's");
    }
    const attached = new Set(clients.attached.map(({ clientId }) => clientId));
    const { controller } = clients;
    must(controller === null || attached.has(controller), "the controller is attached");
    for (const clientId of requests.values()) {
      must(attached.has(clientId), "who is asked for something is there");
    }
    const running = runs.runs.filter(({ status }) => status === "running").length;
    must(running <= facts.caps.parallelTools, "no more tools run at a time than may");
    must(turn.current?.turnId === turnId, "the state has the turn that the log has");
    must(turn.queue.length === 0 || turn.current !== null, "no prompt waits for nothing");
    const { effects, wakeAt } = due(after);
    const isWaiting = effects.size > 0 || asked.pending.length > 0;
    must(turn.current === null || isWaiting, "a turn always waits for something");
    must(asked.pending.length === 0 || wakeAt !== null, "a question has a deadline");
    for (const effect of effects.values()) {
      checkEffect(effect);
      const isNew = happening.type !== "recovered" || isBegunIn(events, effect);
      must(isNew, "what a process was doing when it was killed is not done again of itself");
    }
  }

  /** What is done outside was written down before. */
  function checkEffect(effect: Effect): void {
    if (effect.type === "call") must(effect.callId === call?.callId, "a call is due once begun");
    if (effect.type === "tool") {
      const { isClosed, started } = tool(effect.toolCallId);
      must(!isClosed && started === effect.attempt, "a tool is due once started");
    }
    if (effect.type === "settle") {
      must(call === undefined && isUncertain, "what is settled is uncertain, and not in use");
    }
  }

  return (step) => {
    for (const envelope of step.events) take(envelope, step);
    checkState(step);
  };
}

/** Everybody here is the same person, who may stop what they began. */
function rightFor(
  { type, ...command }: SessionCommand,
  owner: string | undefined,
): Right | undefined {
  if (type === "prompt" || type === "withdraw") return "prompt";
  if (type === "answer") return "approve";
  if (type === "cancel") return owner === "me" ? "prompt" : "control";
  if (type === "title") return "control";
  return type === "attach" && "mode" in command && command.mode === "controller"
    ? "control"
    : undefined;
}

function turnOwner({ turn }: SessionState): string | undefined {
  return turn.current?.by?.principal;
}

function isBegunIn(events: readonly Envelope[], effect: Effect): boolean {
  return events.some(({ event }) => {
    if (event.type === "call.started" && effect.type === "call")
      return event.callId === effect.callId;
    if (event.type !== "tool.started" || effect.type !== "tool") return effect.type === "settle";
    return event.toolCallId === effect.toolCallId && event.attempt === effect.attempt;
  });
}

function callIn({ turn }: SessionState): string | undefined {
  const stage = turn.current?.stage;
  return stage?.type === "calling" ? stage.call.callId : undefined;
}

/** Not `expect`: these are looked at some hundred times for every story. */
function must(isSo: boolean, rule: string): asserts isSo {
  if (!isSo) throw new Error(`Broken: ${rule}`);
}
