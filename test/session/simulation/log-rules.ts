import type { Right } from "../../../src/domain/actor.ts";
import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import type { EventOf, SessionEvent } from "../../../src/domain/events/session-event.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { formatPromptPart } from "../../../src/domain/prompt.ts";
import { findDueEffects, type Effect } from "../../../src/session/due-effects.ts";
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
import { steeringRules } from "./steering-rules.ts";
import type { Step } from "./simulated-session.ts";

/** The progress of a tool call in the log. */
interface SeenTool {
  name: string;
  isRunnable: boolean;
  isClosed: boolean;
  started: number;
  /** True if a decision since its last start lets it start again. */
  mayStart: boolean;
}

/** The active invocation with its content. */
interface CallSeen {
  readonly callId: string;
  readonly upstreamId: string;
  readonly outgoing: string;
  readonly hasAnswers: boolean;
  /** The invocation carries the history from the log. */
  readonly hasSeed: boolean;
}

/** Checks invariants of every log from the log alone, with bookkeeping independent of the session's. */
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
  const calls = new Set<string>();
  /** The turn's cap of invocations by its budget. */
  let budgetSteps = Infinity;
  /** The reservations in the shared budgets which are not charged yet: of an invocation, or the calls of tools. */
  const reservations = new Map<string, number>();
  /** A request which waits for the charge of the previous reservation. */
  let unmadeReservation: string | undefined;
  const charges = new Set<string>();
  /** Number of reserved tool calls which have not started. Undefined without a reservation of tool calls. */
  let reservedCalls: number | undefined;
  const tools = new Map<string, SeenTool>();
  const approvals = new Map<string, EventOf<"approval.requested">>();
  const openMessages = new Set<string>();
  const messages = new Set<string>();
  const endedBlocks = new Set<string>();
  const openBlocks = new Set<string>();
  const lost = new Set<string>();
  const requests = new Map<string, string>();
  /** The principal of each prompt. */
  const askers = new Map<string, string | undefined>();
  const programs = new Set<string>();
  let plan: EventOf<"plan.updated">["entries"] = [];
  const permissions = approvalRules();
  const pauses = pauseRules();
  const steering = steeringRules();
  /** An upstream session which may lack tool results, and whether they were restated in this turn. */
  let owed: { readonly upstreamId: string; isSaid: boolean } | undefined;
  let lastAt = 0;
  let activeMs = 0;

  /** Adds the time since the previous event to the turn, unless the bridge was down or the turn waited for people. */
  const passed = (event: SessionEvent, at: number): void => {
    const isNobodys = event.type === "session.recovered" || approvals.size > 0 || pauses.isPaused();
    if (!isNobodys) activeMs += at - lastAt;
    if (event.type === "turn.started") activeMs = 0;
    lastAt = at;
  };
  /** The content of the invocation may or may not have arrived. */
  const cutCall = (): void => {
    if (call === undefined) return;
    lost.add(call.outgoing);
    if (call.hasAnswers) owed = { upstreamId: call.upstreamId, isSaid: false };
  };

  const minted = (id: string, at: number): void => {
    must(!ids.has(id), "an id is created once");
    ids.add(id);
    const order = id.split(/[_-]/).at(-1) ?? "";
    must(at === lastIdAt || order > lastId, "later ids sort after earlier ones");
    if (order > lastId) lastId = order;
    lastIdAt = at;
  };
  const tool = (toolCallId: string): SeenTool => {
    const seen = tools.get(toolCallId);
    if (seen === undefined) throw new Error(`${toolCallId} was never opened`);
    return seen;
  };
  const hasOpenTools = (): boolean => [...tools.values()].some(({ isClosed }) => !isClosed);
  const endCall = (callId: string): void => {
    must(call?.callId === callId, "only the active invocation ends");
    must(openMessages.size === 0, "no message outlives its invocation");
    must(openBlocks.size === 0, "no block outlives its invocation");
    call = undefined;
  };
  const delta = (key: string): void => {
    must(!endedBlocks.has(key), "a finished block gets no deltas");
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
    must(place === seq, "sequence numbers have no gaps");
    const running = turnId ?? (event.type === "turn.started" ? event.turnId : undefined);
    must(ofTurn === running, "an event belongs to the running turn");
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
        budgetSteps = facts.budgets?.turn?.invocations ?? Infinity;
        conflicts = 0;
        toolsStarted = 0;
        return;
      case "budget.requested":
        must(
          [...reservations.values()].every((toolCalls) => toolCalls > 0),
          "a reservation follows the charge of the previous invocation",
        );
        must(reservations.size < 2, "at most one reservation of tool calls waits for its charge");
        unmadeReservation = reservations.size > 0 ? event.invocationId : undefined;
        reservations.set(event.invocationId, event.estimate.toolCalls);
        reservedCalls = undefined;
        return minted(event.invocationId, at);
      case "budget.reserved":
        reservedCalls = event.toolCalls;
        return;
      case "budget.extended":
        if (event.scope === "turn" && event.unit === "invocations") budgetSteps = event.cap;
        return;
      case "budget.settled":
        must(!charges.has(event.invocationId), "a reservation is charged once");
        charges.add(event.invocationId);
        reservations.delete(event.invocationId);
        unmadeReservation = undefined;
        return;
      case "turn.finished":
        must(event.turnId === turnId, "only the running turn ends, once");
        // The store has no entry of such a request, so no charge follows.
        if (unmadeReservation !== undefined) reservations.delete(unmadeReservation);
        unmadeReservation = undefined;
        must(!hasOpenTools(), "no tool call outlives its turn");
        must(approvals.size === 0, "no approval request outlives its turn");
        must(
          !plan.some(({ status }) => status === "in_progress"),
          "no plan entry is in progress after a turn",
        );
        must(call === undefined, "no invocation outlives its turn");
        must(event.steps === steps, "a turn counts its steps");
        must(
          event.reason !== "max_seconds" || activeMs >= facts.caps.seconds * 1000,
          "a turn's seconds exclude downtime and waits for people",
        );
        turnId = undefined;
        return;
      case "upstream.opened":
        minted(event.upstreamId, at);
        isUncertain = false;
        owed = undefined;
        return;
      case "upstream.settled":
        must(isUncertain, "only an uncertain upstream session is settled");
        isUncertain = false;
        return;
      case "invocation.started": {
        must(call === undefined, "one invocation at a time");
        must(turnId !== undefined, "an invocation belongs to a turn");
        must(!hasOpenTools(), "no invocation while a tool call is open");
        // The id of an invocation with a reservation was created with it.
        if (!ids.has(event.invocationId)) minted(event.invocationId, at);
        must(!calls.has(event.invocationId), "an invocation starts once");
        calls.add(event.invocationId);
        steps += 1;
        must(steps <= budgetSteps, "the budget of invocations is kept or extended");
        must(steps <= facts.caps.steps, "the cap of steps is kept");
        const mayRepeat = event.retryOf !== undefined;
        const isAlone = forgets(after) && conflicts === 0;
        must(
          !isUncertain || mayRepeat || isAlone,
          "nothing is sent to an unsettled upstream session",
        );
        const { stage } = after.turn.current ?? {};
        if (stage?.type !== "invoking") return;
        const { outgoing, upstreamId } = stage.invocation;
        const { texts, toolResults } = outgoing;
        must(texts.length > 0 || toolResults !== null, "an invocation has content");
        for (const { result } of toolResults?.toolCalls ?? []) {
          must(result !== null, "every tool call has a result");
        }
        // A recovery message restates results as text, and two tool calls may have the same result: the message differs
        // if a tool call has ended since.
        const ended = [...tools.values()].filter(({ isClosed }) => isClosed).length;
        const identity = event.purpose === "recovery" ? `after ${ended} tool calls` : "";
        const key = `${upstreamId} ${identity} ${JSON.stringify(outgoing)}`;
        const { onLost, provider } = after.agent?.spec ?? {};
        const isFree = onLost === "resend" && provider?.effectFree === true;
        must(isFree || (!mayRepeat && !lost.has(key)), "a lost invocation is not repeated");
        const isKnown = owed?.upstreamId !== upstreamId || owed.isSaid;
        const isBrought = isFree && toolResults !== null;
        must(
          isKnown || isBrought || isSeeding(after),
          "tool results which may be unknown are restated",
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
          // Equal tool results are restated in the same words.
          const texts = event.content.map(formatPromptPart);
          const words = JSON.stringify({ texts, toolResults: null });
          for (const key of lost) if (key.endsWith(` ${words}`)) lost.delete(key);
        }
        // A repeated reprompt has the same text, which is not a repetition of a lost message.
        if (event.origin === "reprompt") lost.clear();
        // An injected message has the id of its acceptance.
        if (event.origin !== "inject") minted(event.messageId, at);
        return;
      case "inject.accepted":
        return minted(event.messageId, at);
      case "reminder.queued":
        return minted(event.reminderId, at);
      case "message.started":
        must(!messages.has(event.messageId), "a message starts once");
        messages.add(event.messageId);
        openMessages.add(event.messageId);
        // A response proves the agent has the seeded history, which includes all earlier tool results.
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
        // A replacement closes the text blocks of its message, and no others.
        for (const key of openBlocks) if (key.startsWith(event.messageId)) openBlocks.delete(key);
        return;
      case "tool_call.opened": {
        must(!tools.has(event.toolCallId), "a tool call is opened once");
        const { name } = event;
        const seen = { name, isRunnable: false, isClosed: false, started: 0, mayStart: false };
        tools.set(event.toolCallId, seen);
        return;
      }
      case "tool_call.input.delta":
        must(!tool(event.toolCallId).isClosed, "a finished call gets no more arguments");
        return;
      case "tool_call.received": {
        const { toolCallId, toolCall: requestedCall, problem } = event;
        const isRunnable =
          problem === undefined && requestedCall.input !== null && requestedCall.runBy === "client";
        const known = tools.get(toolCallId);
        must(known?.isClosed !== true, "a finished call stays finished");
        const { name } = requestedCall;
        const seen = { name, isRunnable, isClosed: false, started: 0, mayStart: false };
        tools.set(toolCallId, seen);
        return;
      }
      case "policy.decided": {
        const seen = tool(event.toolCallId);
        must(seen.isRunnable, "a call which cannot run is not evaluated");
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
        const openRequest = approvals.get(event.approvalId);
        must(openRequest !== undefined, "an approval request is resolved once");
        approvals.delete(event.approvalId);
        // The outcome is asked again, or an idempotent tool runs again.
        if (event.resolvedBy === "change" && openRequest.question === "outcome")
          mayRepeat(tool(openRequest.subjectId));
        must(openRequest.options.includes(event.decision), "a decision is one of the options");
        const isYes = ["allow", "allow-always", "run-again"].includes(event.decision);
        must(event.resolvedBy === "person" || !isYes, "only a person approves");
        if (isYes) tool(openRequest.subjectId).mayStart = true;
        return;
      }
      case "tool.started": {
        const seen = tool(event.toolCallId);
        must(!seen.isClosed, "a finished call does not run");
        must(seen.isRunnable, "a call which cannot run does not run");
        must(!seen.name.startsWith("rm"), "a denied tool never runs");
        must(seen.mayStart, "a tool starts once per permission");
        must(event.attempt === seen.started + 1, "attempts are counted");
        if (seen.started === 0) {
          toolsStarted += 1;
          if (facts.budgets?.principal?.toolCalls !== undefined) {
            reservedCalls = (reservedCalls ?? 0) - 1;
            must(reservedCalls >= 0, "a tool call starts with a share of the shared budget");
          }
        }
        must(toolsStarted <= facts.caps.toolCalls, "the cap of tool calls is kept");
        seen.started += 1;
        seen.mayStart = false;
        return;
      }
      case "tool.waiting_for_host": {
        const seen = tool(event.toolCallId);
        must(seen.started > 0 && !seen.isClosed, "a waiting call has started and not finished");
        must(isOfClient(seen.name), "only host tools wait for a host");
        must(event.deadline > at, "a wait for a host has a deadline");
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
        must(programs.delete(`${event.toolCallId} ${event.group.id}`), "a process exits once");
        return;
      case "tool.finished":
        must(!tool(event.toolCallId).isClosed, "a tool call finishes once");
        tool(event.toolCallId).isClosed = true;
        if (event.durationMs === undefined) return;
        for (const key of programs)
          if (key.startsWith(`${event.toolCallId} `)) programs.delete(key);
        return;
      case "plan.updated":
        must(JSON.stringify(event.entries) !== "[]", "no plan is invented");
        plan = event.entries;
        return;
      case "host.requested":
        requests.set(event.requestId, event.clientId);
        return;
      case "host.replied":
        must(requests.has(event.requestId), "a host request is replied to once");
        requests.delete(event.requestId);
        return;
      default:
    }
  }

  /** Checks the state, the reply and the due effects after each input. */
  function checkState({ after, before, reply, events, happening }: Step): void {
    const { turn, clients, approvals: approvalState, tools: runs } = after;
    must(reply?.status !== "refused" || events.length === 0, "a refused command changes nothing");
    if (happening.type === "command-received") {
      const { current } = before.turn;
      const isPaused = (current?.pause ?? null) !== null;
      const now = { running: current?.promptId, isPaused, mode: before.mode };
      const right = rightFor(happening, askers, now);
      const mayDo = right === undefined || happening.rights.includes(right);
      must(mayDo || reply?.status === "refused", "a command without its right is refused");
      const { command, actor: by } = happening;
      const isTaken =
        command.type === "attach" &&
        command.clientId !== by.clientId &&
        before.clients.attached.some(({ clientId }) => clientId === command.clientId);
      must(!isTaken || reply?.status === "refused", "no client attaches under another's id");
    }
    const isListedIdle = collectSessionFields([], after).state === "idle";
    must(runs.processes.length === programs.size, "every process which may run is in the state");
    must(programs.size === 0 || !isListedIdle, "a session with processes is not listed as idle");
    if (happening.type === "provider-events" && happening.invocationId !== callIn(before)) {
      const isSaid = events.some(({ event }) => event.type === "message.started");
      must(!isSaid, "events of a finished invocation are ignored");
    }
    const attached = new Set(clients.attached.map(({ clientId }) => clientId));
    const { controller } = clients;
    must(controller === null || attached.has(controller), "the controller is attached");
    for (const clientId of requests.values()) {
      must(attached.has(clientId), "host requests go to attached clients");
    }
    const running = runs.runs.filter(({ status }) => status === "running").length;
    must(running <= facts.caps.parallelTools, "the limit of parallel tools is kept");
    must(turn.current?.turnId === turnId, "the state has the turn of the log");
    must(turn.queue.length === 0 || turn.current !== null, "a queued prompt waits for a turn");
    const { effects, wakeAt } = findDueEffects(after);
    const isAwaited = runs.runs.some(({ status }) => status === "waiting-for-host");
    must(!isAwaited || wakeAt !== null, "a wait for a client has a deadline");
    const isAsking = approvalState.pending.length > 0 || isAwaited;
    const isWaiting = effects.size > 0 || isAsking || pauses.isPaused();
    must(turn.current === null || isWaiting, "a turn always waits for something");
    must(
      approvalState.pending.length === 0 || wakeAt !== null,
      "an approval request has a deadline",
    );
    for (const effect of effects.values()) {
      checkEffect(effect);
      // Settling and path resolution have no external effects. Reservations and charges are idempotent.
      const isHarmless = effect.type !== "invoke" && effect.type !== "run-tool";
      const isNew =
        happening.type !== "recovery-started" || isHarmless || isBegunIn(events, effect);
      must(isNew, "effects interrupted by a kill are not repeated automatically");
    }
  }

  /** Every effect is logged before it is due. */
  function checkEffect(effect: Effect): void {
    if (effect.type === "invoke")
      must(effect.invocationId === call?.callId, "an invocation is due once started");
    if (effect.type === "run-tool") {
      const { isClosed, started } = tool(effect.toolCallId);
      must(!isClosed && started === effect.attempt, "a tool is due once started");
    }
    if (effect.type === "settle-upstream") {
      must(
        call === undefined && isUncertain,
        "settling concerns an uncertain, unused upstream session",
      );
    }
  }

  return (step) => {
    let state = step.before;
    for (const envelope of step.events) {
      take(envelope, step);
      must(
        fitsToolCall(envelope.event, state.tools),
        "receipts of an unmodified log fit their tool calls",
      );
      state = evolve(state, envelope);
      pauses.take(envelope);
      steering.take(envelope);
      permissions.take(envelope);
    }
    checkState(step);
    pauses.check(step);
    steering.check(step);
    permissions.check(step);
  };
}

type Commanded = Extract<SessionInput, { readonly type: "command-received" }>;

/** The right required for a command. Acting on one's own turn, prompt or connection needs no right to control. */
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

/** Whether every invocation carries the history from the log. */
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

/** An interrupted idempotent tool may run again, at most three times in all. */
function mayRepeat(seen: SeenTool): void {
  const isTried = seen.started > 0 && seen.started < 3;
  if (isTried && !seen.isClosed && isIdempotent(seen.name)) seen.mayStart = true;
}
