import type { QuiescePolicy } from "../domain/agent-spec.ts";
import type { PromptOptions } from "../domain/prompt.ts";
import type { JsonObject } from "../data/json.ts";
import type { PathFact } from "../domain/policy/policy-decision.ts";
import type { ConfiguredAgent } from "./session-input.ts";
import type { TurnProgress } from "../providers/provider.ts";
import type { SessionState } from "./session-state.ts";
import { findPathsToResolve } from "./tools/evaluate-tool-call.ts";
import { isRepeat, isEvaluable } from "./tools/tools-state.ts";
import { computeResultsDeadline } from "./turn/paused-turn.ts";
import { readTurnProgress } from "./turn/turn-progress.ts";
import type { OutgoingContent, Stage, Upstream } from "./turn/turn-state.ts";

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
    };

export interface DueEffects {
  readonly effects: ReadonlyMap<string, Effect>;
  /** Time of the next deadline, in milliseconds since 1970. Null if there is none. */
  readonly wakeAt: number | null;
}

export function due(state: SessionState): DueEffects {
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
    default:
      return effect satisfies never;
  }
}

function* listDueEffects({ turn, tools, agent }: SessionState): Generator<Effect> {
  const { current, upstream } = turn;
  if (current?.stage.type === "invoking") {
    const { invocationId, upstreamId, outgoing } = current.stage.invocation;
    const { options } = current;
    const facts = agent?.spec;
    const optionsField = options === null ? {} : { options };
    const call = { type: "invoke", invocationId, upstreamId, outgoing, ...optionsField } as const;
    if (facts === undefined || facts.provider.keepsHistory !== false) {
      yield { ...call, isSeeding: needsSeeding(upstream) };
    } else
      yield { ...call, isSeeding: true, progress: readTurnProgress(current, tools.runs, facts) };
  }
  if (upstream?.isUncertain === true) {
    const { settle = "wait", provider } = agent?.spec ?? {};
    const policy = settle === "stop" && provider?.canStop !== true ? "wait" : settle;
    // Upstream work for a finished turn still costs money, so the policy `stop` applies at once.
    const isStopped = policy === "stop" && provider?.keepsHistory !== false;
    const isDue = current === null ? isStopped : isNextInvocationDue(current.stage, agent);
    const { upstreamId } = upstream;
    if (isDue)
      yield { type: "settle-upstream", upstreamId, policy, round: current?.conflicts ?? 0 };
  }
  for (const run of tools.runs) {
    const { toolCallId, status, attempt, name, toolCall, input, resolvedPaths } = run;
    if (isEvaluable(run) && current?.stage.type === "running-tools" && agent !== null) {
      const optionsField = findPathsToResolve(run, agent.spec);
      if (optionsField === undefined) continue;
      const { input: resolvedInput, digest } = optionsField;
      yield {
        type: "resolve-paths",
        toolCallId,
        name,
        input: resolvedInput,
        digest,
        agent: agent.digest,
      };
    }
    if (status !== "running" || toolCall === null || input === null) continue;
    const attemptFields = {
      ...(isRepeat(run) && { isRepeat: true as const }),
      ...(resolvedPaths !== undefined && { paths: resolvedPaths.paths }),
    };
    yield {
      type: "run-tool",
      toolCallId,
      attempt,
      name,
      providerToolCallId: toolCall.id,
      input,
      ...attemptFields,
    };
  }
}

function needsSeeding(upstream: Upstream | null): boolean {
  return upstream !== null && upstream.isSeeded && !upstream.hasResponded;
}

/** A lost invocation with an open approval request needs no settling yet: the decision may be `reseed`. */
function isNextInvocationDue(stage: Stage, agent: ConfiguredAgent | null): boolean {
  if (stage.type === "ready") return true;
  if (stage.type !== "invocation-lost") return false;
  const decided = stage.approvalId === undefined ? agent?.spec.onLost : stage.decision;
  return decided === "continue";
}

function findNextDeadline({ approvals, clients, tools, turn, agent }: SessionState): number | null {
  const pause = turn.current?.pause ?? null;
  const deadlines = [
    ...[...approvals.pending, ...clients.requests].map(({ deadline }) => deadline),
    ...tools.runs.flatMap(({ status, hostWait }) =>
      status === "waiting-for-host" && hostWait !== undefined ? [hostWait.deadline] : [],
    ),
    ...(pause === null ? [] : [computeResultsDeadline(pause, agent?.spec.resultsMs)]),
  ];
  return deadlines.length === 0 ? null : Math.min(...deadlines);
}
