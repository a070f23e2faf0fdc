import { toJsonText } from "../data/json.ts";
import type { AgentSpec, QuiescePolicy } from "../domain/agent-spec.ts";
import type { AgentBudgets, BudgetAmounts } from "../domain/budget.ts";
import type { PromptOptions } from "../domain/prompt.ts";
import { selectStricterMode, type SessionMode } from "../domain/session-mode.ts";
import type { SessionLineage } from "../domain/workers/session-lineage.ts";
import { isTerminalStatus, type Worker } from "../domain/workers/worker.ts";
import type { JsonObject } from "../data/json.ts";
import { omitUndefined } from "../data/omit-undefined.ts";
import type { PathFact } from "../domain/policy/policy-decision.ts";
import type { RaisedCap } from "./budgets/budgets-state.ts";
import type { ProjectionCounts } from "../domain/transcript/projection.ts";
import type { ConfiguredAgent } from "./session-input.ts";
import type { AnsweredToolCall, TurnProgress } from "../providers/provider.ts";
import type { SessionState } from "./session-state.ts";
import type { WatchRequest } from "../domain/outputs/file-watch.ts";
import { findDaemonDeadline } from "./daemon/daemon-state.ts";
import { findPathsToResolve } from "./tools/evaluate-tool-call.ts";
import { computeCompactionDeadline } from "./transcript/compaction-steps.ts";
import type { PreservedReminder, RunningCompaction } from "./transcript/transcript-state.ts";
import { isRepeat, isEvaluable, type ToolRun } from "./tools/tools-state.ts";
import { computeResultsDeadline } from "./turn/paused-turn.ts";
import { findMissingTerminalTool } from "./turn/advance-turn.ts";
import { listActiveSubscriptions } from "./watches/watches-state.ts";
import type { CurrentTurn, OutgoingContent, Stage, Upstream } from "./turn/turn-state.ts";
import { findAwaitedWorker, isRunningWorker } from "./workers/workers-state.ts";

/**
 * An effect to perform outside the session. Its id identifies it: the driver starts due effects which are not running,
 * and aborts running effects which are no longer due.
 */
export type Effect =
  | {
      readonly type: "invoke";
      readonly invocationId: string;
      readonly upstreamId: string;
      readonly outgoing: OutgoingContent;
      /**
       * True if the invocation must carry the history from the log: the upstream session is new, or the provider keeps
       * no history.
       */
      readonly isSeeding: boolean;
      /** Options of the prompt. Absent if it has none. */
      readonly options?: PromptOptions;
      /** Only for providers without history. */
      readonly progress?: TurnProgress;
      /** The counts of the last logged projection. Absent if none was logged. */
      readonly projected?: ProjectionCounts;
    }
  | {
      readonly type: "resolve-paths";
      readonly toolCallId: string;
      readonly name: string;
      readonly input: JsonObject;
      /** Digest of the arguments. */
      readonly digest: string;
      /** Digest of the agent definition used to resolve the paths. */
      readonly agent: string;
    }
  | {
      readonly type: "run-tool";
      readonly toolCallId: string;
      readonly attempt: number;
      readonly name: string;
      /** The provider's id of the tool call. */
      readonly providerToolCallId: string;
      readonly input: JsonObject;
      /** Set if the attempt only asks the host for the result of earlier attempts. */
      readonly isRepeat?: true;
      /** Targets of its paths at the time of evaluation. */
      readonly paths?: readonly PathFact[];
    }
  | {
      readonly type: "settle-upstream";
      readonly upstreamId: string;
      readonly policy: QuiescePolicy;
      /** Number of conflicts in this turn so far. Part of the effect id, so each attempt is a new effect. */
      readonly round: number;
    }
  | (BudgetEffect & {
      readonly type: "reserve-budget";
      /** Number of refused attempts. Part of the effect id, so each attempt is a new effect. */
      readonly round: number;
      readonly estimate: BudgetAmounts;
      readonly raisedCaps: readonly RaisedCap[];
      /** Milliseconds until other sessions ignore the reservation. */
      readonly ttlMs: number;
    })
  | ({
      readonly type: "watch-files";
      readonly subscriptionId: string;
      /** The folders besides the working directory. Another list starts the watchers again. */
      readonly folders: readonly string[];
    } & WatchRequest)
  | (BudgetEffect & { readonly type: "settle-budget"; readonly amounts: BudgetAmounts })
  | {
      readonly type: "compact";
      readonly compaction: RunningCompaction;
      readonly preserved: readonly PreservedReminder[];
    }
  /** Opens the session of a worker if it is missing, sends the prompt of the cycle once, and follows the turn. */
  | (WorkerEffect & {
      readonly type: "run-worker";
      /** The session's own place in its tree. Null for a root session. */
      readonly lineage: SessionLineage | null;
    })
  /** Follows the session of a waiting worker, whose own workers may still run and make requests. */
  | (WorkerEffect & { readonly type: "follow-worker" })
  /** Ends all work in the session of an ended worker. */
  | { readonly type: "close-worker"; readonly worker: Worker; readonly principal: string };

interface WorkerEffect {
  readonly worker: Worker;
  readonly principal: string;
  /**
   * The widest session mode of the worker. Part of the effect id, so a stricter mode of the session reaches the worker also
   * after a kill.
   */
  readonly mode: SessionMode;
  /** Ids of the worker's open requests which this session shows. */
  readonly copiedRequests: readonly string[];
}

/** An invocation and the shared budgets it belongs to. */
interface BudgetEffect {
  readonly invocationId: string;
  /** Name of the agent. */
  readonly agent: string;
  readonly principal: string;
  readonly day: string;
  readonly budgets: AgentBudgets;
}

export interface DueEffects {
  readonly effects: ReadonlyMap<string, Effect>;
  /** Time of the next deadline, in milliseconds since 1970. Null if there is none. */
  readonly wakeAt: number | null;
}

export function findDueEffects(state: SessionState): DueEffects {
  const effects = new Map<string, Effect>();
  for (const effect of listDueEffects(state)) effects.set(createEffectId(effect), effect);
  return { effects, wakeAt: findNextDeadline(state) };
}

function createEffectId(effect: Effect): string {
  switch (effect.type) {
    case "invoke":
      return effect.invocationId;
    case "resolve-paths":
      return `resolve-paths/${effect.toolCallId}/${effect.digest}/${effect.agent}`;
    case "run-tool":
      return `${effect.toolCallId}/${effect.attempt}`;
    case "settle-upstream":
      return `settle/${effect.upstreamId}/${effect.round}`;
    case "reserve-budget":
      return `reserve-budget/${effect.invocationId}/${effect.round}`;
    case "watch-files":
      return `watch-files/${effect.subscriptionId}/${toJsonText(effect.folders)}`;
    case "settle-budget":
      return `settle-budget/${effect.invocationId}`;
    case "compact":
      return `${effect.compaction.compactionId}/${effect.compaction.attempt}`;
    case "run-worker":
    case "follow-worker":
      return createWorkerEffectId(effect);
    case "close-worker":
      return `close-worker/${effect.worker.workerId}`;
    default:
      return effect satisfies never;
  }
}

/** A narrower mode or a further reminder is another effect: its start brings the worker's session up to date. */
function createWorkerEffectId({ type, worker, mode }: WorkerEffect & { type: string }): string {
  const { workerId, cycle, reminders } = worker;
  return `${type}/${workerId}/${cycle}/${mode}/${reminders.at(-1)?.reminderId ?? ""}`;
}

function* listDueEffects(state: SessionState): Generator<Effect> {
  yield* listBudgetEffects(state);
  const { running: compaction, preserved } = state.transcript;
  if (compaction !== null) yield { type: "compact", compaction, preserved };
  yield* listWorkerEffects(state);
  yield* listWatchEffects(state);
  yield* listInvocationEffects(state);
  yield* listSettlingEffects(state);
  for (const run of state.tools.runs) {
    yield* listPathEffects(run, state);
    yield* listToolEffects(run, state);
  }
}

function* listBudgetEffects({ budgets, turn, agent }: SessionState): Generator<Effect> {
  const { reservation, charge, raisedCaps } = budgets;
  if (reservation === null && charge === null) return;
  const { name = "", caps, budgets: configured = {} } = agent?.spec ?? {};
  const context = { agent: name, budgets: configured };
  if (charge !== null) yield { type: "settle-budget", ...charge, ...context };
  // The charge precedes the reservation: a session has one entry in each shared budget.
  if (charge !== null || reservation?.status !== "requested" || turn.current === null) return;
  const { invocationId, principal, day, estimate, round } = reservation;
  const ttlMs = Math.max(MIN_RESERVATION_MS, 2000 * (caps?.seconds ?? 0));
  const request = { invocationId, principal, day, estimate, round, raisedCaps, ttlMs };
  yield { type: "reserve-budget", ...request, ...context };
}

/** Long enough for the longest invocation. Only the reservation of a session which never returns expires. */
const MIN_RESERVATION_MS = 3_600_000;

function* listWorkerEffects(state: SessionState): Generator<Effect> {
  const { workers, lineage, principal } = state;
  for (const worker of workers.open) {
    const { workerId, status, sessionMode = "default" } = worker;
    if (isTerminalStatus(status)) {
      yield { type: "close-worker", worker, principal };
      continue;
    }
    const copies = state.approvals.pending.filter(({ worker: from }) => from?.through === workerId);
    const effect = {
      worker,
      principal,
      mode: selectStricterMode(state.mode, sessionMode),
      copiedRequests: copies.map(({ approvalId }) => approvalId),
    };
    if (isRunningWorker(worker)) yield { type: "run-worker", lineage, ...effect };
    else yield { type: "follow-worker", ...effect };
  }
}

function* listWatchEffects({ watches, clients, folders }: SessionState): Generator<Effect> {
  for (const subscription of listActiveSubscriptions(watches, clients.attached)) {
    const { subscriptionId, paths, globs } = subscription;
    yield { type: "watch-files", subscriptionId, paths, globs, folders };
  }
}

function* listInvocationEffects(state: SessionState): Generator<Effect> {
  const { current, upstream } = state.turn;
  if (current?.stage.type !== "invoking") return;
  const { invocationId, upstreamId, outgoing } = current.stage.invocation;
  const { options } = current;
  const { projected } = state.transcript;
  const invocation = {
    type: "invoke",
    invocationId,
    upstreamId,
    outgoing,
    ...(projected !== null && { projected }),
    ...(options !== null && { options }),
  } as const;
  const spec = state.agent?.spec;
  if (spec === undefined || spec.provider.keepsHistory !== false) {
    yield { ...invocation, isSeeding: needsSeeding(upstream) };
  } else {
    const progress = readTurnProgress(current, state.tools.runs, spec);
    yield { ...invocation, isSeeding: true, progress };
  }
}

function needsSeeding(upstream: Upstream | null): boolean {
  return upstream !== null && upstream.isSeeded && !upstream.hasResponded;
}

/** Returns the progress of the turn at the start of an invocation, which already counts as a step. */
function readTurnProgress(
  { steps, options }: CurrentTurn,
  runs: readonly ToolRun[],
  agent: AgentSpec,
): TurnProgress {
  const missing = findMissingTerminalTool(runs, agent, options);
  return {
    remainingInvocations: Math.max(1, agent.caps.steps - steps + 1),
    answeredToolCalls: runs.flatMap(toAnsweredToolCall),
    ...omitUndefined({ terminalTool: missing }),
  };
}

/** Excludes cancelled calls: they were cut off with their message, so the agent does not know them. */
function toAnsweredToolCall({ toolCall, result, ending }: ToolRun): AnsweredToolCall[] {
  if (toolCall === null || result === undefined || ending === "cancelled") return [];
  return [{ toolCall, result }];
}

function* listSettlingEffects({ turn, agent }: SessionState): Generator<Effect> {
  const { current, upstream } = turn;
  if (upstream?.isUncertain !== true) return;
  const { settle = "wait", provider } = agent?.spec ?? {};
  const policy = settle === "stop" && provider?.canStop !== true ? "wait" : settle;
  // Upstream work for a finished turn still costs money, so the policy `stop` applies at once.
  const isStopped = policy === "stop" && provider?.keepsHistory !== false;
  const isDue = current === null ? isStopped : isNextInvocationDue(current.stage, agent);
  const { upstreamId } = upstream;
  // The policy `reseed` leaves this upstream session with the next invocation, which may wait for a budget.
  if (isDue && policy !== "reseed")
    yield { type: "settle-upstream", upstreamId, policy, round: current?.conflicts ?? 0 };
}

/** A lost invocation with an open approval request needs no settling yet: the decision may be `reseed`. */
function isNextInvocationDue(stage: Stage, agent: ConfiguredAgent | null): boolean {
  if (stage.type === "ready") return true;
  if (stage.type !== "invocation-lost") return false;
  const decided = stage.approvalId === undefined ? agent?.spec.onLost : stage.decision;
  return decided === "continue";
}

function* listPathEffects(run: ToolRun, { turn, agent }: SessionState): Generator<Effect> {
  if (!isEvaluable(run) || turn.current?.stage.type !== "running-tools" || agent === null) return;
  const request = findPathsToResolve(run, agent.spec);
  if (request === undefined) return;
  const { toolCallId, name } = run;
  const { input, digest } = request;
  yield { type: "resolve-paths", toolCallId, name, input, digest, agent: agent.digest };
}

function* listToolEffects(run: ToolRun, { workers }: SessionState): Generator<Effect> {
  const { toolCallId, status, attempt, name, toolCall, input, resolvedPaths } = run;
  if (status !== "running" || toolCall === null || input === null) return;
  // The effect of the worker delivers the result.
  if (findAwaitedWorker(workers, toolCallId) !== undefined) return;
  yield {
    type: "run-tool",
    toolCallId,
    attempt,
    name,
    providerToolCallId: toolCall.id,
    input,
    ...(isRepeat(run) && { isRepeat: true as const }),
    ...(resolvedPaths !== undefined && { paths: resolvedPaths.paths }),
  };
}

function findNextDeadline(state: SessionState): number | null {
  const { approvals, clients, tools, turn, agent, daemon, transcript, watches } = state;
  const pause = turn.current?.pause ?? null;
  const { daemon: daemonSpec } = agent?.spec ?? {};
  // A worker waits for its parent, even if its agent is a daemon.
  const isDaemon = daemonSpec !== undefined && state.lineage === null;
  const wakeAt = isDaemon ? findDaemonDeadline(daemon, daemonSpec) : null;
  const ownRequests = approvals.pending.filter((request) => request.worker === undefined);
  const deadlines = [
    ...[...ownRequests, ...clients.requests].map(({ deadline }) => deadline),
    ...tools.runs.flatMap(({ status, hostWait }) =>
      status === "waiting-for-host" && hostWait !== undefined ? [hostWait.deadline] : [],
    ),
    ...(pause === null ? [] : [computeResultsDeadline(pause, agent?.spec.resultsMs)]),
    ...(wakeAt === null ? [] : [wakeAt]),
    ...(transcript.running === null ? [] : [computeCompactionDeadline(transcript.running)]),
    // Also keeps a session with active subscriptions in memory, and resumes it after a restart.
    ...listActiveSubscriptions(watches, clients.attached).map(({ expiresAt }) => expiresAt),
  ];
  return deadlines.length === 0 ? null : Math.min(...deadlines);
}
