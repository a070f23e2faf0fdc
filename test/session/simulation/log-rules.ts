import type { Right } from "../../../src/domain/actor.ts";
import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import type { EventOf, SessionEvent } from "../../../src/domain/events/session-event.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { formatPromptPart } from "../../../src/domain/format-prompt-part.ts";
import { due, type Effect } from "../../../src/session/due.ts";
import { evolve } from "../../../src/session/evolve.ts";
import type { SessionInput } from "../../../src/session/session-input.ts";
import { collectSessionFields } from "../../../src/session/runtime/log/append-decision.ts";
import type { SessionMode } from "../../../src/domain/session-mode.ts";
import type { SessionState } from "../../../src/session/session-state.ts";
import { fitsToolCall } from "../../../src/session/tools/match-receipt.ts";
import { isIdempotent, isOfClient } from "./agent-specs.ts";
import { approvalRules } from "./approval-rules.ts";
import { must } from "./assert-rule.ts";
import { pauseRules } from "./pause-rules.ts";
import type { Step } from "./simulated-session.ts";

interface SeenTool {
  name: string;
  isRunnable: boolean;
  isClosed: boolean;
  started: number;
  /** Since its last start it was asked about and may be started again. */
  mayStart: boolean;
}

interface CallSeen {
  readonly callId: string;
  readonly upstreamId: string;
  readonly outgoing: string;
  readonly hasAnswers: boolean;
  /** It begins the conversation with what the log has. */
  readonly hasSeed: boolean;
}

/** What holds of every log, told by the log alone, with a second bookkeeping that shares nothing with the first. */
export function logRules(facts: AgentSpec): (step: Step) => void {
  let seq = 0;
  let turnId: string | undefined;
  let call: CallSeen | undefined;
  let steps = 0;
  let toolsStarted = 0;
  let isUncertain = false;
  let conflicts = 0;
  let lastIdAt = 0;
  let lastId = "";
  const ids = new Set<string>();
  const tools = new Map<string, SeenTool>();
  const approvals = new Map<string, EventOf<"approval.requested">>();
  const openMessages = new Set<string>();
  const messages = new Set<string>();
  const endedBlocks = new Set<string>();
  const openBlocks = new Set<string>();
  const lost = new Set<string>();
  const requests = new Map<string, string>();
  /** Who asked what. */
  const askers = new Map<string, string | undefined>();
  const programs = new Set<string>();
  let plan: EventOf<"plan.updated">["entries"] = [];
  const permissions = approvalRules();
  const pauses = pauseRules();
  /** A conversation that may not know what its tools gave, and whether that was said in this turn. */
  let owed: { readonly upstreamId: string; isSaid: boolean } | undefined;
  let lastAt = 0;
  let activeMs = 0;

  const passed = (event: SessionEvent, at: number): void => {
    const isNobodys = event.type === "session.recovered" || approvals.size > 0 || pauses.isPaused();
    if (!isNobodys) activeMs += at - lastAt;
    if (event.type === "turn.started") activeMs = 0;
    lastAt = at;
  };
  /** Nobody knows what became of what it brought. */
  const cutCall = (): void => {
    if (call === undefined) return;
    lost.add(call.outgoing);
    if (call.hasAnswers) owed = { upstreamId: call.upstreamId, isSaid: false };
  };

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

  function take({ event, at, seq: place, turnId: ofTurn, actor }: Envelope, { after }: Step): void {
    seq += 1;
    passed(event, at);
    must(place === seq, "places have no gaps");
    const running = turnId ?? (event.type === "turn.started" ? event.turnId : undefined);
    must(ofTurn === running, "an event is of the turn that runs");
    switch (event.type) {
      case "prompt.accepted":
        askers.set(event.promptId, actor?.principal);
        return minted(event.promptId, at);
      case "turn.started":
        must(turnId === undefined, "turns are serial");
        minted(event.turnId, at);
        turnId = event.turnId;
        if (owed !== undefined) owed.isSaid = false;
        steps = 0;
        conflicts = 0;
        toolsStarted = 0;
        return;
      case "turn.finished":
        must(event.turnId === turnId, "only the turn that runs ends, and once");
        must(!hasOpenTools(), "no call of a tool outlives its turn");
        must(approvals.size === 0, "no question outlives its turn");
        must(!plan.some(({ status }) => status === "in_progress"), "nothing planned is under way");
        must(call === undefined, "no call outlives its turn");
        must(event.steps === steps, "a turn counts its steps");
        must(
          event.reason !== "max_seconds" || activeMs >= facts.caps.seconds * 1000,
          "a turn's seconds are those in which somebody was at it, and nobody was asked",
        );
        turnId = undefined;
        return;
      case "upstream.opened":
        minted(event.upstreamId, at);
        isUncertain = false;
        owed = undefined;
        return;
      case "upstream.settled":
        must(isUncertain, "only what is uncertain is settled");
        isUncertain = false;
        return;
      case "invocation.started": {
        must(call === undefined, "one call at a time");
        must(turnId !== undefined, "a call is of a turn");
        must(!hasOpenTools(), "no call beside an open tool");
        minted(event.invocationId, at);
        steps += 1;
        must(steps <= facts.caps.steps, "a step more is not bought");
        const mayRepeat = event.retryOf !== undefined;
        const isAlone = forgets(after) && conflicts === 0;
        must(!isUncertain || mayRepeat || isAlone, "nothing is sent to what is not at rest");
        const { stage } = after.turn.current ?? {};
        if (stage?.type !== "invoking") return;
        const { outgoing, upstreamId } = stage.invocation;
        const { texts, toolResults } = outgoing;
        must(texts.length > 0 || toolResults !== null, "a call says something");
        for (const { result } of toolResults?.toolCalls ?? []) {
          must(result !== null, "every call of a tool is answered");
        }
        // A recovery message restates results as text, and two tool calls may have had the same result: the message is another
        // one if a tool call ended since.
        const ended = [...tools.values()].filter(({ isClosed }) => isClosed).length;
        const identity = event.purpose === "recovery" ? `after ${ended} tool calls` : "";
        const key = `${upstreamId} ${identity} ${JSON.stringify(outgoing)}`;
        const { onLost, provider } = after.agent?.spec ?? {};
        const isFree = onLost === "resend" && provider?.effectFree === true;
        must(isFree || (!mayRepeat && !lost.has(key)), "a lost call is not made again");
        const isKnown = owed?.upstreamId !== upstreamId || owed.isSaid;
        const isBrought = isFree && toolResults !== null;
        must(
          isKnown || isBrought || isSeeding(after),
          "what tools gave is said again where it may be unknown",
        );
        const hasAnswers = toolResults !== null;
        const hasSeed = hasSeedNow(after);
        call = { callId: event.invocationId, upstreamId, outgoing: key, hasAnswers, hasSeed };
        return;
      }
      case "invocation.lost":
        cutCall();
        isUncertain = true;
        return endCall(event.invocationId);
      case "invocation.finished": {
        const { outcome, failure } = event;
        const isTurnedAway = ["conflict", "throttled"].includes(failure?.code ?? "");
        const isUnsure = outcome === "refused" && !isTurnedAway;
        if (outcome === "cancelled" || outcome === "failed" || isUnsure) cutCall();
        else if (outcome !== "refused") owed = undefined;
        const isBusy = outcome === "refused" && failure?.code === "conflict";
        isUncertain = outcome === "cancelled" || isUnsure || isBusy;
        if (isBusy) conflicts += 1;
        return endCall(event.invocationId);
      }
      case "message.sent":
        if (event.origin === "recovery") {
          if (owed !== undefined) owed.isSaid = true;
          // Tools that give the same once more are told of in the same words.
          const texts = event.content.map(formatPromptPart);
          const words = JSON.stringify({ texts, answers: null });
          for (const key of lost) if (key.endsWith(` ${words}`)) lost.delete(key);
        }
        // Told once more to call its last tool, an agent hears the same words, and that is no repetition.
        if (event.origin === "reprompt") lost.clear();
        return minted(event.messageId, at);
      case "message.started":
        must(!messages.has(event.messageId), "a message begins once");
        messages.add(event.messageId);
        openMessages.add(event.messageId);
        // Who answers has what the conversation began with, and that is all that tools gave before.
        if (call?.hasSeed === true) owed = undefined;
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
      case "tool_call.opened": {
        must(!tools.has(event.toolCallId), "a call is announced once");
        const { name } = event;
        const seen = { name, isRunnable: false, isClosed: false, started: 0, mayStart: false };
        tools.set(event.toolCallId, seen);
        return;
      }
      case "tool_call.input.delta":
        must(!tool(event.toolCallId).isClosed, "what is closed gets no more arguments");
        return;
      case "tool_call.received": {
        const { toolCallId, toolCall: wanted, problem } = event;
        const isRunnable =
          problem === undefined && wanted.input !== null && wanted.runBy === "client";
        const known = tools.get(toolCallId);
        must(known?.isClosed !== true, "a call that is closed stays so");
        const { name } = wanted;
        const seen = { name, isRunnable, isClosed: false, started: 0, mayStart: false };
        tools.set(toolCallId, seen);
        return;
      }
      case "policy.decided": {
        const seen = tool(event.toolCallId);
        must(seen.isRunnable, "what cannot run is not judged");
        if (event.decision.action === "allow" && seen.started === 0) seen.mayStart = true;
        return;
      }
      case "grant.added":
        return minted(event.grantId, at);
      case "approval.requested":
        minted(event.approvalId, at);
        approvals.set(event.approvalId, event);
        if (event.question === "outcome") tool(event.subjectId).mayStart = false;
        return;
      case "approval.resolved": {
        const asked = approvals.get(event.approvalId);
        must(asked !== undefined, "a question is answered once");
        approvals.delete(event.approvalId);
        // What came of it is asked again, or found out by running it once more where that does no harm.
        if (event.resolvedBy === "change" && asked.question === "outcome")
          mayRepeat(tool(asked.subjectId));
        must(asked.options.includes(event.decision), "an answer is one of the options");
        const isYes = ["allow", "allow-always", "run-again"].includes(event.decision);
        must(event.resolvedBy === "person" || !isYes, "nobody's answer is no yes");
        if (isYes) tool(asked.subjectId).mayStart = true;
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
      case "tool.waiting_for_host": {
        const seen = tool(event.toolCallId);
        must(seen.started > 0 && !seen.isClosed, "what is waited for has begun, and has no end");
        must(isOfClient(seen.name), "only a client's machine is waited for");
        must(event.deadline > at, "nobody is waited for without an end");
        seen.mayStart = true;
        return;
      }
      case "session.recovered":
        for (const seen of tools.values()) mayRepeat(seen);
        programs.clear();
        return;
      case "tool.process_started":
        programs.add(`${event.toolCallId} ${event.group.id}`);
        return;
      case "tool.process_exited":
        must(programs.delete(`${event.toolCallId} ${event.group.id}`), "a program ends once");
        return;
      case "tool.finished":
        must(!tool(event.toolCallId).isClosed, "a call of a tool is closed once");
        tool(event.toolCallId).isClosed = true;
        if (event.durationMs === undefined) return;
        for (const key of programs)
          if (key.startsWith(`${event.toolCallId} `)) programs.delete(key);
        return;
      case "plan.updated":
        must(JSON.stringify(event.entries) !== "[]", "no plan is made up");
        plan = event.entries;
        return;
      case "host.requested":
        requests.set(event.requestId, event.clientId);
        return;
      case "host.replied":
        must(requests.has(event.requestId), "a request is answered once");
        requests.delete(event.requestId);
        return;
      default:
    }
  }

  function checkState({ after, before, reply, events, happening }: Step): void {
    const { turn, clients, approvals: asked, tools: runs } = after;
    must(reply?.status !== "refused" || events.length === 0, "a refusal changes nothing");
    if (happening.type === "command-received") {
      const { current } = before.turn;
      const isPaused = (current?.pause ?? null) !== null;
      const now = { running: current?.promptId, isPaused, mode: before.mode };
      const right = rightFor(happening, askers, now);
      const mayDo = right === undefined || happening.rights.includes(right);
      must(mayDo || reply?.status === "refused", "who may not is refused");
      const { command, actor: by } = happening;
      const isTaken =
        command.type === "attach" &&
        command.clientId !== by.clientId &&
        before.clients.attached.some(({ clientId }) => clientId === command.clientId);
      must(!isTaken || reply?.status === "refused", "nobody comes under another's name");
    }
    const isListedIdle = collectSessionFields([], after).state === "idle";
    must(runs.processes.length === programs.size, "every program that may run is known");
    must(programs.size === 0 || !isListedIdle, "who looks for work finds programs that may run");
    if (happening.type === "provider-events" && happening.invocationId !== callIn(before)) {
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
    const isAwaited = runs.runs.some(({ status }) => status === "waiting-for-host");
    must(!isAwaited || wakeAt !== null, "a client is not waited for for ever");
    const isAsking = asked.pending.length > 0 || isAwaited;
    const isWaiting = effects.size > 0 || isAsking || pauses.isPaused();
    must(turn.current === null || isWaiting, "a turn always waits for something");
    must(asked.pending.length === 0 || wakeAt !== null, "a question has a deadline");
    for (const effect of effects.values()) {
      checkEffect(effect);
      // To bring somebody to rest, or to look at something, has no effects.
      const isHarmless = effect.type === "settle-upstream" || effect.type === "resolve-paths";
      const isNew =
        happening.type !== "recovery-started" || isHarmless || isBegunIn(events, effect);
      must(isNew, "what a process was doing when it was killed is not done again of itself");
    }
  }

  /** What is done outside was written down before. */
  function checkEffect(effect: Effect): void {
    if (effect.type === "invoke")
      must(effect.invocationId === call?.callId, "a call is due once begun");
    if (effect.type === "run-tool") {
      const { isClosed, started } = tool(effect.toolCallId);
      must(!isClosed && started === effect.attempt, "a tool is due once started");
    }
    if (effect.type === "settle-upstream") {
      must(call === undefined && isUncertain, "what is settled is uncertain, and not in use");
    }
  }

  return (step) => {
    let state = step.before;
    for (const envelope of step.events) {
      take(envelope, step);
      must(
        fitsToolCall(envelope.event, state.tools),
        "a log that nobody changed has the tool calls that its receipts are about",
      );
      state = evolve(state, envelope);
      pauses.take(envelope);
      permissions.take(envelope);
    }
    checkState(step);
    pauses.check(step);
    permissions.check(step);
  };
}

type Commanded = Extract<SessionInput, { readonly type: "command-received" }>;

/** What is one's own, a turn, a prompt or a connection, needs no right over others. */
function rightFor(
  { command, actor: by }: Commanded,
  askers: ReadonlyMap<string, string | undefined>,
  { running, isPaused, mode }: Now,
): Right | undefined {
  const isOwn = (promptId: string | undefined): boolean =>
    promptId !== undefined && askers.get(promptId) === by.principal;
  switch (command.type) {
    case "prompt":
    case "hide-prompt":
      return "prompt";
    case "set-mode":
      return WIDTHS[command.mode] > WIDTHS[mode] ? "approve" : "prompt";
    case "submit-results":
      return !isPaused || isOwn(running) ? "prompt" : "control";
    case "decide-approval":
    case "revoke-grant":
      return "approve";
    case "withdraw-prompt":
      return isOwn(command.promptId) || !askers.has(command.promptId) ? "prompt" : "control";
    case "cancel":
      return isOwn(running) ? "prompt" : "control";
    case "attach":
      return command.mode === "controller" ? "control" : undefined;
    case "heartbeat":
    case "detach":
      return command.clientId === by.clientId ? undefined : "control";
    case "set-title":
      return "control";
    default:
      return undefined;
  }
}

interface Now {
  readonly running: string | undefined;
  readonly isPaused: boolean;
  readonly mode: SessionMode;
}

const WIDTHS: { readonly [Mode in SessionMode]: number } = { "read-only": 0, ask: 1, default: 2 };

/** It is told all that the log has with every call. */
function forgets({ agent }: SessionState): boolean {
  return agent?.spec.provider.keepsHistory === false;
}

function isSeeding(state: SessionState): boolean {
  return forgets(state) || hasSeedNow(state);
}

function hasSeedNow({ turn: { upstream } }: SessionState): boolean {
  return upstream?.isSeeded === true && !upstream.hasResponded;
}

function isBegunIn(events: readonly Envelope[], effect: Effect): boolean {
  return events.some(({ event }) => {
    if (event.type === "invocation.started" && effect.type === "invoke")
      return event.invocationId === effect.invocationId;
    if (event.type !== "tool.started" || effect.type !== "run-tool") return false;
    return event.toolCallId === effect.toolCallId && event.attempt === effect.attempt;
  });
}

function callIn({ turn }: SessionState): string | undefined {
  const stage = turn.current?.stage;
  return stage?.type === "invoking" ? stage.invocation.invocationId : undefined;
}

/** One that was under way at a kill may be run again where that does no harm, three times in all. */
function mayRepeat(seen: SeenTool): void {
  const isTried = seen.started > 0 && seen.started < 3;
  if (isTried && !seen.isClosed && isIdempotent(seen.name)) seen.mayStart = true;
}
