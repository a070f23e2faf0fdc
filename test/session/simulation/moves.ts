import { createHash } from "node:crypto";
import * as fc from "fast-check";
import type { ToolEnding } from "../../../src/domain/events/tool-events.ts";
import type { ApprovalDecision } from "../../../src/domain/policy/approval-decision.ts";
import type { PromptOptions, PromptPart } from "../../../src/domain/prompt.ts";
import { REMINDER_MODES, type Reminder, type ReminderMode } from "../../../src/domain/reminder.ts";
import type { Right } from "../../../src/domain/actor.ts";
import type { Failure } from "../../../src/domain/errors.ts";
import type { SessionCommand } from "../../../src/domain/session-command.ts";
import { createToolError, createToolSuccess } from "../../../src/domain/tools/tool-call.ts";
import { SESSION_MODES, type SessionMode } from "../../../src/domain/session-mode.ts";
import type { JsonObject } from "../../../src/data/json.ts";
import type { PathFact } from "../../../src/domain/policy/policy-decision.ts";
import type { Effect } from "../../../src/session/due-effects.ts";
import type { ConfiguredAgent, SessionInput } from "../../../src/session/session-input.ts";
import { listItems } from "../../../src/data/chunked-list.ts";
import type { PendingInjection } from "../../../src/session/steering/steering-state.ts";
import { CHANGES, changedAgent, PROMPT_TOOL, TOOL_NAMES, type Change } from "./agent-specs.ts";
import { anyCalls, anyFailure, anySaying, type Saying } from "./provider-outputs.ts";
import type { SimulatedSession } from "./simulated-session.ts";

/** A possible next input. Its target is chosen when it is applied, mostly an existing one. */
export type Move =
  /** The next due effect ends, or the oldest approval request is decided with one of its options. */
  | {
      readonly do: "go-on";
      readonly saying: Saying;
      readonly ending: ToolEnding;
      readonly found: Found;
      readonly option: number;
    }
  | { readonly do: "prompt"; readonly options?: PromptOptions | undefined }
  /** Submits the results of a paused turn, or an invalid variant. */
  | { readonly do: "give"; readonly how: Giving; readonly isSpeaking: boolean }
  /** The prompter disconnects, while others may follow the session. */
  | { readonly do: "leave"; readonly client: string; readonly readers: number }
  | { readonly do: "inject"; readonly mode: "steer" | "queue"; readonly isOnlyIntoTurn: boolean }
  | { readonly do: "replace-inject" | "revoke-inject" | "revoke-reminder"; readonly pick: number }
  | {
      readonly do: "remind";
      readonly mode: ReminderMode;
      readonly key: string | undefined;
      readonly ttl: number | undefined;
    }
  | { readonly do: "hide-prompt" }
  | { readonly do: "set-title" }
  | { readonly do: "set-mode"; readonly mode: SessionMode }
  | { readonly do: "withdraw-prompt" | "cancel" | "upstream-settled"; readonly pick: number }
  | {
      readonly do: "decide-approval";
      readonly pick: number;
      readonly decision: ApprovalDecision;
      /** Edited arguments. */
      readonly input: JsonObject | undefined;
    }
  | { readonly do: "revoke-grant"; readonly pick: number }
  | { readonly do: "examined"; readonly pick: number; readonly found: Found }
  | {
      readonly do: "attach";
      readonly client: string;
      readonly from: string;
      readonly isTaking: boolean;
    }
  | { readonly do: "observe" | "detach"; readonly client: string; readonly from: string }
  | { readonly do: "host-requested"; readonly client: string }
  | { readonly do: "submit-host-reply"; readonly client: string; readonly pick: number }
  | { readonly do: "say"; readonly pick: number; readonly saying: Saying }
  | {
      readonly do: "invocation-failed";
      readonly pick: number;
      readonly failure: Failure;
      readonly isMade: boolean;
    }
  | { readonly do: "tool-finished"; readonly pick: number; readonly ending: ToolEnding }
  | { readonly do: "tool-news"; readonly pick: number; readonly isProgram: boolean }
  | { readonly do: "process-exited"; readonly pick: number }
  | { readonly do: "wake" }
  /** The agent or its tools change during the session. */
  | {
      readonly do: "change";
      readonly change: Change;
      readonly isStarting: boolean;
      readonly pick: number;
    }
  | {
      readonly do: "kill";
      readonly from: "log" | "snapshot";
      readonly change: Change | undefined;
      /** A receipt of the log does not verify at the next start. */
      readonly isDoubted: boolean;
    };

/** Result of a path resolution. `forgotten`: the resolver omits the path. */
type Found = "inside" | "outside" | "invalid" | "forgotten" | "problem";

/** Submitted results: all, all as errors, too few, an unknown one in addition, or each twice. */
type Giving = "all" | "failed" | "some" | "more" | "twice";

/** An input with its circumstances: the pause before it, the rights and the principal of its sender. */
export interface Moved {
  readonly move: Move;
  /** Milliseconds without input before this one. */
  readonly pause: number;
  readonly rights: readonly Right[];
  readonly who: string;
}

const ALL_RIGHTS = ["prompt", "approve", "control"] as const;
const DECISIONS = [
  "allow",
  "allow",
  "allow-always",
  "deny",
  "done",
  "failed",
  "run-again",
  "continue",
  "reseed",
  "stop",
] as const;

/** 0: the current target. Others are outdated or never existed. */
const pick = fc.constantFrom(0, 0, 0, 0, 1, 2);
const client = fc.constantFrom("a", "b", "c");

const FOUND = ["inside", "inside", "outside", "invalid", "forgotten", "problem"] as const;
const anyFound = fc.constantFrom<Found>(...FOUND);
const INPUTS = [{}, { path: "a.txt" }, { path: "b.txt" }, { changed: true }];
const anyInput = fc.constantFrom<JsonObject | undefined>(undefined, undefined, ...INPUTS);

const anyEnding = fc.constantFrom<ToolEnding>("succeeded", "failed", "timed-out", "refused");

function anyGoingOn(saying: fc.Arbitrary<Saying>): fc.Arbitrary<Move> {
  return fc.record({
    do: fc.constant("go-on"),
    saying,
    ending: anyEnding,
    found: anyFound,
    option: fc.nat({ max: 2 }),
  });
}

const anyKill: fc.Arbitrary<Move> = fc.record({
  do: fc.constant("kill"),
  from: fc.constantFrom("log", "snapshot"),
  change: fc.constantFrom(undefined, ...CHANGES),
  isDoubted: fc.boolean(),
});

const anyChange: fc.Arbitrary<Move> = fc.record({
  do: fc.constant("change"),
  // Clients come and go more often than other changes happen.
  change: fc.constantFrom(...CHANGES, "tools", "tools"),
  isStarting: fc.boolean(),
  pick: fc.nat({ max: 2 }),
});

const MINE = { name: PROMPT_TOOL, description: "Mine", schema: { type: "object" } };

const anyOptions: fc.Arbitrary<PromptOptions | undefined> = fc.option(
  fc
    .record({
      isMine: fc.constantFrom(true, true, true, false),
      allowedTools: fc.option(fc.subarray([...TOOL_NAMES, PROMPT_TOOL]), {
        nil: undefined,
        freq: 3,
      }),
      maxToolCalls: fc.option(fc.nat({ max: 3 }), { nil: undefined, freq: 3 }),
      approvalMs: fc.option(fc.constant(2000), { nil: undefined }),
    })
    .map(({ isMine, allowedTools, maxToolCalls, approvalMs }) => ({
      ...(isMine && { tools: [MINE] }),
      ...(allowedTools !== undefined && { allowedTools }),
      ...(maxToolCalls !== undefined && { maxToolCalls }),
      ...(approvalMs !== undefined && { approvalMs }),
    })),
  { nil: undefined },
);

const anyConfigure: fc.Arbitrary<Move> = fc.record({
  do: fc.constant("set-mode"),
  mode: fc.constantFrom(...SESSION_MODES, "default"),
});

const anyMove: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 70,
    arbitrary: anyGoingOn(anySaying),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("prompt"), options: anyOptions }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("give"),
      how: fc.constantFrom<Giving>("all", "failed", "some", "more", "twice"),
      isSpeaking: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("leave"), client, readers: fc.nat({ max: 1 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("inject"),
      mode: fc.constantFrom("steer", "queue"),
      isOnlyIntoTurn: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("replace-inject", "revoke-inject", "revoke-reminder"),
      pick,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("remind"),
      mode: fc.constantFrom(...REMINDER_MODES),
      key: fc.constantFrom(undefined, "k"),
      ttl: fc.constantFrom(undefined, 1, 2),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Move>({ do: "hide-prompt" }) },
  { weight: 1, arbitrary: fc.constant<Move>({ do: "set-title" }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("withdraw-prompt", "cancel"), pick }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("upstream-settled"), pick }) },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("decide-approval"),
      pick: fc.constantFrom(0, 0, 0, 1),
      decision: fc.constantFrom(...DECISIONS),
      input: anyInput,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("revoke-grant"), pick }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("examined"), pick, found: anyFound }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("attach"),
      client,
      from: client,
      isTaking: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom("observe", "detach"), client, from: client }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("host-requested"), client }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("submit-host-reply"), client, pick }) },
  { weight: 22, arbitrary: fc.record({ do: fc.constant("say"), pick, saying: anySaying }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("invocation-failed"),
      pick,
      failure: anyFailure,
      isMade: fc.boolean(),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("tool-finished"),
      pick,
      ending: anyEnding,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("tool-news"), pick, isProgram: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("process-exited"), pick }) },
  { weight: 5, arbitrary: fc.constant<Move>({ do: "wake" }) },
  { weight: 8, arbitrary: anyKill },
  { weight: 4, arbitrary: anyChange },
  { weight: 2, arbitrary: anyConfigure },
);

/** Inputs about permissions: tool calls, decisions, changing rules. */
const anyAskingMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 40, arbitrary: anyGoingOn(anyCalls) },
  {
    weight: 30,
    arbitrary: fc.record({
      do: fc.constant("decide-approval"),
      pick: fc.constantFrom(0, 0, 1),
      decision: fc.constantFrom("allow", "allow", "allow-always", "deny", "run-again"),
      input: anyInput,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("revoke-grant"), pick }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("examined"), pick, found: anyFound }) },
  { weight: 10, arbitrary: anyKill },
  { weight: 4, arbitrary: anyChange },
  { weight: 4, arbitrary: anyConfigure },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel"), pick }) },
);

export const anyMoved = anyMovedBy(anyMove);
export const anyAskingMoved = anyMovedBy(anyAskingMove);

function anyMovedBy(move: fc.Arbitrary<Move>): fc.Arbitrary<Moved> {
  return fc.record({
    move,
    pause: fc.oneof(
      { weight: 15, arbitrary: fc.constantFrom(0, 1, 1) },
      { weight: 1, arbitrary: fc.constantFrom(1000, 61_000, 1_000_000) },
    ),
    rights: fc.oneof(
      { weight: 9, arbitrary: fc.constant(ALL_RIGHTS) },
      { weight: 1, arbitrary: fc.subarray([...ALL_RIGHTS]) },
    ),
    who: fc.constantFrom("me", "me", "me", "you", "you", "her"),
  });
}

/** The result of a reservation. */
export function budgetChecked(
  { invocationId, round, estimate }: Extract<Effect, { type: "reserve-budget" }>,
  isReached: boolean,
): SessionInput {
  const tokens = { scope: "principal", unit: "tokens", used: 100, cap: 100 } as const;
  const toolCalls = { scope: "principal", unit: "toolCalls", used: 1, cap: 2 } as const;
  const isForTools = estimate.toolCalls > 0;
  const result = isReached
    ? ({ status: "reached", level: isForTools ? { ...toolCalls, used: 2 } : tokens } as const)
    : ({
        status: "reserved",
        levels: [{ ...tokens, used: 90 }, toolCalls],
        ...(isForTools && { toolCalls: 1 }),
      } as const);
  return { type: "budget-checked", invocationId, round, result };
}

/** Creates the input of a move for the present state of the session. */
export function happeningOf(session: SimulatedSession, moved: Moved): SessionInput {
  const { move, rights, who } = moved;
  const command = (made: SessionCommand<PromptPart>, clientId?: string): SessionInput => ({
    type: "command-received",
    command: made,
    actor: { kind: "user", principal: who, ...(clientId !== undefined && { clientId }) },
    rights,
  });
  const { state, log } = session;
  switch (move.do) {
    case "go-on": {
      const [effect] = session.effects;
      const [approval] = state.approvals.pending;
      if (effect?.type === "invoke") {
        return { type: "provider-events", invocationId: effect.invocationId, outputs: move.saying };
      }
      if (effect?.type === "settle-upstream") {
        return { type: "upstream-settled", upstreamId: effect.upstreamId, policy: effect.policy };
      }
      if (effect?.type === "resolve-paths") return examined(effect, move.found);
      if (effect?.type === "reserve-budget") return budgetChecked(effect, move.option === 2);
      if (effect?.type === "settle-budget")
        return { type: "budget-settled", invocationId: effect.invocationId };
      if (effect?.type === "run-tool") {
        return toolEnded({ ...effect, callId: effect.providerToolCallId }, move.ending);
      }
      if (approval === undefined && (state.turn.current?.pause ?? null) !== null) {
        return command(giving(session, { do: "give", how: "all", isSpeaking: false }));
      }
      // Every other prompt brings its own tool.
      const expectedOptions = log.length % 2 === 0 ? { tools: [MINE] } : undefined;
      if (approval === undefined) return nextPrompt(session, moved, expectedOptions);
      const { approvalId, options } = approval;
      const decision = options[move.option % options.length] ?? "deny";
      return command({ type: "decide-approval", approvalId, decision });
    }
    case "prompt":
      return nextPrompt(session, moved, move.options);
    case "give":
      return command(giving(session, move));
    case "leave": {
      const cancelInput = command({ type: "cancel", unlessWatched: true }, move.client);
      return cancelInput.type === "command-received"
        ? { ...cancelInput, readerCount: move.readers }
        : cancelInput;
    }
    case "inject": {
      const content = [{ type: "text", text: `Injected ${log.length}` }] as const;
      const only = move.isOnlyIntoTurn ? { onlyIntoTurn: true as const } : {};
      return command({ type: "inject", mode: move.mode, content, ...only });
    }
    case "replace-inject": {
      const content = [{ type: "text", text: `Replaced ${log.length}` }] as const;
      return command({
        type: move.do,
        messageId: injectionAt(session, "user", move.pick),
        content,
      });
    }
    case "revoke-inject":
      return command({ type: move.do, messageId: injectionAt(session, "user", move.pick) });
    case "revoke-reminder":
      return command({ type: move.do, reminderId: injectionAt(session, "reminder", move.pick) });
    case "remind":
      return command({ type: "remind", reminder: reminderOf(session, move) });
    case "hide-prompt":
      return command({ type: "hide-prompt", promptId: "prompt_1" });
    case "set-title":
      return command({ type: "set-title", title: "Called so" });
    case "set-mode":
      return command({ type: "set-mode", mode: move.mode });
    case "withdraw-prompt": {
      const promptId = state.turn.queue[move.pick]?.promptId ?? "prompt_none";
      return command({ type: "withdraw-prompt", promptId });
    }
    case "cancel": {
      const turnId = [state.turn.current?.turnId, undefined][move.pick] ?? "turn_none";
      return command({ type: "cancel", ...(move.pick !== 1 && { turnId }) });
    }
    case "decide-approval": {
      const pendingApproval = state.approvals.pending[move.pick];
      const approvalId = pendingApproval?.approvalId ?? "appr_none";
      const { decision, input } = move;
      const inputField = input === undefined ? {} : { input };
      return command({ type: "decide-approval", approvalId, decision, ...inputField });
    }
    case "revoke-grant": {
      const grantId = state.approvals.grants[move.pick]?.grantId ?? "grant_none";
      return command({ type: "revoke-grant", grantId });
    }
    case "examined": {
      const { toolCallId = "tool_none", input } = state.tools.runs.at(-1 - move.pick) ?? {};
      // Mostly for outdated arguments.
      const digest = sha256(move.pick === 0 ? JSON.stringify(input ?? {}) : "stale");
      const agent = state.agent?.digest ?? "";
      return examined({ toolCallId, agent, input: input ?? {}, digest }, move.found);
    }
    case "attach": {
      const { client: clientId, isTaking: takeOver, from } = move;
      const attach = { type: "attach", clientId, name: clientId, takeOver } as const;
      return command({ ...attach, mode: "controller" }, from);
    }
    case "observe":
      return command(
        { type: "attach", clientId: move.client, mode: "observer", name: "o" },
        move.from,
      );
    case "detach":
      return command({ type: "detach", clientId: move.client, reason: "left" }, move.from);
    case "submit-host-reply": {
      const requestId = state.clients.requests[move.pick]?.requestId ?? "host_none";
      return command({ type: "submit-host-reply", requestId, outcome: "replied" }, move.client);
    }
    case "host-requested": {
      const requestId = `host_${log.length}`;
      const deadline = session.now + 5000;
      const { toolCallId } = toolAt(session, 0);
      const payload = { toolCallId };
      const hostRequest = { requestId, clientId: move.client, kind: "tool", payload, deadline };
      return { type: "host-requested", ...hostRequest };
    }
    case "say":
      return {
        type: "provider-events",
        invocationId: callAt(session, move.pick),
        outputs: move.saying,
      };
    case "invocation-failed": {
      const { failure, isMade: mayHaveBeenSent } = move;
      return {
        type: "invocation-failed",
        invocationId: callAt(session, move.pick),
        failure,
        mayHaveBeenSent,
      };
    }
    case "upstream-settled": {
      const upstreamId = [state.turn.upstream?.upstreamId][move.pick] ?? "gone";
      return { type: "upstream-settled", upstreamId, policy: "wait" };
    }
    case "tool-finished":
      return toolEnded(toolAt(session, move.pick), move.ending);
    case "tool-news": {
      const { toolCallId, attempt } = toolAt(session, move.pick);
      if (!move.isProgram) return { type: "tool-progress", toolCallId, attempt, text: "half" };
      const group = { id: log.length, startTime: "then" };
      return { type: "process-started", toolCallId, attempt, group };
    }
    case "process-exited": {
      const { toolCallId = "tool_none", group = { id: 0, startTime: "" } } =
        state.tools.processes[move.pick] ?? {};
      return { type: "process-exited", toolCallId, group };
    }
    case "wake":
      return { type: "time-passed" };
    case "change": {
      const agent = agentAfter(session, move.change);
      if (!move.isStarting) return { type: "agent-changed", agent };
      const { toolCallId, attempt } = toolAt(session, move.pick);
      return { type: "agent-changed", agent, startingTool: { toolCallId, attempt } };
    }
    case "kill": {
      session.kill(move.from);
      const epoch = log.length;
      const doubt = move.isDoubted ? { invalidReceiptSeq: 1 } : {};
      if (move.change === undefined) return { type: "recovery-started", epoch, ...doubt };
      return { type: "recovery-started", epoch, agent: agentAfter(session, move.change), ...doubt };
    }
    default:
      return move satisfies never;
  }
}

/** A pending injection, or an unknown one. */
function injectionAt(
  { state }: SimulatedSession,
  kind: PendingInjection["kind"],
  at: number,
): string {
  return (
    listItems(state.steering.pending).filter((one) => one.kind === kind)[at]?.id ?? "msg_inj_none"
  );
}

function reminderOf(
  { log }: SimulatedSession,
  { mode, key, ttl }: Extract<Move, { readonly do: "remind" }>,
): Reminder {
  return {
    body: `Remember ${log.length}`,
    tags: [],
    mode,
    roleHint: "system",
    authority: log.length % 2 === 0 ? "contract" : "advisory",
    source: "bridge",
    propagate: "session",
    ...(key !== undefined && { dedupeKey: key }),
    ...(ttl !== undefined && { ttlTurns: ttl }),
  };
}

/** Every prompt has a distinct text, so a repeated message is recognizable. */
function nextPrompt(
  { log }: SimulatedSession,
  { rights, who }: Moved,
  options?: PromptOptions,
): SessionInput {
  const content = [{ type: "text", text: `No. ${log.length}` }] as const;
  const actor = { kind: "user", principal: who } as const;
  const optionsField = options === undefined ? {} : { options };
  return {
    type: "command-received",
    command: { type: "prompt", content, ...optionsField },
    actor,
    rights,
  };
}

type Give = Extract<Move, { readonly do: "give" }>;

export function giving(
  { state, log }: SimulatedSession,
  { how, isSpeaking }: Give,
): SessionCommand<PromptPart> {
  const open = state.turn.current?.pause?.toolCallIds ?? [];
  const ids = {
    all: open,
    failed: open,
    some: open.slice(1),
    more: [...open, "tool_none"],
    twice: [...open, ...open],
  }[how];
  const results = ids.map((toolCallId) => ({
    toolCallId,
    parts: [{ type: "text", text: `given ${log.length}` }] as const,
    isError: how === "failed",
  }));
  const content = [{ type: "text", text: `Beside ${log.length}` }] as const;
  return { type: "submit-results", results, ...(isSpeaking && { content }) };
}

interface Attempt {
  readonly toolCallId: string;
  readonly attempt: number;
  readonly callId: string;
}

const UNDER_WAY = { content: "Go on", status: "in_progress", priority: "medium" } as const;

function toolEnded({ toolCallId, attempt, callId }: Attempt, ending: ToolEnding): SessionInput {
  const result =
    ending === "succeeded" ? createToolSuccess(callId, "ok") : createToolError(callId, "no");
  const ended = {
    type: "tool-finished",
    toolCallId,
    attempt,
    ending,
    result,
    durationMs: 1,
  } as const;
  return ending === "succeeded" ? { ...ended, plan: [UNDER_WAY] } : ended;
}

function agentAfter({ state, log }: SimulatedSession, change: Change): ConfiguredAgent {
  if (state.agent === null) throw new Error("The session was never opened");
  return { digest: `changed ${log.length}`, spec: changedAgent(state.agent.spec, change) };
}

interface Looked {
  readonly toolCallId: string;
  readonly agent: string;
  readonly input: JsonObject;
  readonly digest: string;
}

export function examined({ input, ...looked }: Looked, found: Found): SessionInput {
  const { toolCallId, agent, digest } = looked;
  const of = { type: "paths-resolved", toolCallId, agent, digest } as const;
  if (found === "problem") return { ...of, paths: [], problem: "Not like this" };
  const { path } = input;
  if (typeof path !== "string" || found === "forgotten") {
    return { ...of, paths: [] };
  }
  const workspacePath = found === "inside" ? path : null;
  const hostPath = found === "invalid" ? null : `/work/${path}`;
  const fact: PathFact = {
    argument: "path",
    input: path,
    location: found,
    workspacePath,
    hostPath,
  };
  return { ...of, paths: [fact] };
}

/** Independent of the session's digest function: arguments here have at most one key, so key order does not matter. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The active invocation, or a finished one. */
function callAt({ log }: SimulatedSession, at: number): string {
  const calls = log.flatMap(({ event }) =>
    event.type === "invocation.started" ? [event.invocationId] : [],
  );
  return calls.at(-1 - at) ?? "call_none";
}

/** A running tool, or a finished attempt. */
function toolAt({ state, log }: SimulatedSession, at: number): Attempt {
  const run = state.tools.runs.find(({ status }) => status === "running");
  if (at === 0 && run !== undefined) {
    return { toolCallId: run.toolCallId, attempt: run.attempt, callId: run.toolCall?.id ?? "" };
  }
  const started = log.flatMap(({ event }) => (event.type === "tool.started" ? [event] : []));
  const { toolCallId = "tool_none", attempt = 1 } = started.at(-at) ?? {};
  const known = state.tools.runs.find((one) => one.toolCallId === toolCallId);
  return { toolCallId, attempt, callId: known?.toolCall?.id ?? "c0" };
}
