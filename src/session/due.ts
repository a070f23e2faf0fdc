import type { PromptOptions, Settle } from "../domain/agent-event.ts";
import type { JsonObject } from "../domain/json.ts";
import type { PathFact } from "../domain/policy-decision.ts";
import type { BoundAgent } from "./input.ts";
import type { TurnProgress } from "../providers/provider.ts";
import type { SessionState } from "./state.ts";
import { toExamine } from "./tools/judge-call.ts";
import { isRepeat, isToJudge } from "./tools/tools-state.ts";
import { resultsDeadline } from "./turn/paused-turn.ts";
import { turnProgress } from "./turn/turn-progress.ts";
import type { Outgoing, Stage, Upstream } from "./turn/turn-state.ts";

/** Something to be done outside, known by an id: what is due and not under way is begun, what is no longer due is stopped. */
export type Effect =
  | {
      readonly type: "call";
      readonly callId: string;
      readonly upstreamId: string;
      readonly outgoing: Outgoing;
      /** The agent has not heard what the log has: the conversation begins with it, or nobody else keeps it. */
      readonly isSeeding: boolean;
      /** What the prompt asks for beside its text. */
      readonly options?: PromptOptions;
      /** For a provider that keeps no history. */
      readonly progress?: TurnProgress;
    }
  | {
      readonly type: "examine";
      readonly toolCallId: string;
      readonly name: string;
      readonly input: JsonObject;
      /** Of the arguments. */
      readonly digest: string;
      /** The definition of the agent by which it is to be looked at. */
      readonly agent: string;
    }
  | {
      readonly type: "tool";
      readonly toolCallId: string;
      readonly attempt: number;
      readonly name: string;
      /** The provider's id of the call. */
      readonly providerCallId: string;
      readonly input: JsonObject;
      /** It only asks what came of the attempts before. */
      readonly isRepeat?: true;
      /** Where its paths led when it was judged. */
      readonly paths?: readonly PathFact[];
    }
  | {
      readonly type: "settle";
      readonly upstreamId: string;
      readonly by: Settle;
      /** How often it was tried in this turn. */
      readonly round: number;
    };

export interface Due {
  readonly effects: ReadonlyMap<string, Effect>;
  /** When a deadline comes, in milliseconds since 1970. */
  readonly wakeAt: number | null;
}

export function due(state: SessionState): Due {
  const effects = new Map<string, Effect>();
  for (const effect of dueEffects(state)) effects.set(effectId(effect), effect);
  return { effects, wakeAt: nextDeadline(state) };
}

function effectId(effect: Effect): string {
  switch (effect.type) {
    case "call":
      return effect.callId;
    case "examine":
      return `examine/${effect.toolCallId}/${effect.digest}/${effect.agent}`;
    case "tool":
      return `${effect.toolCallId}/${effect.attempt}`;
    case "settle":
      return `settle/${effect.upstreamId}/${effect.round}`;
    default:
      return effect satisfies never;
  }
}

function* dueEffects({ turn, tools, agent }: SessionState): Generator<Effect> {
  const { current, upstream } = turn;
  if (current?.stage.type === "calling") {
    const { callId, upstreamId, outgoing } = current.stage.call;
    const { options } = current;
    const facts = agent?.facts;
    const wanted = options === null ? {} : { options };
    const call = { type: "call", callId, upstreamId, outgoing, ...wanted } as const;
    if (facts === undefined || facts.provider.keepsHistory !== false) {
      yield { ...call, isSeeding: isSeeding(upstream) };
    } else yield { ...call, isSeeding: true, progress: turnProgress(current, tools.runs, facts) };
  }
  if (upstream?.isUncertain === true) {
    const { settle = "wait", provider } = agent?.facts ?? {};
    const by = settle === "stop" && provider?.canStop !== true ? "wait" : settle;
    // What still works there for a turn that is over is paid for: it is stopped at once, where it may be.
    const isStopped = by === "stop" && provider?.keepsHistory !== false;
    const isWanted = current === null ? isStopped : isNextCallWanted(current.stage, agent);
    const { upstreamId } = upstream;
    if (isWanted) yield { type: "settle", upstreamId, by, round: current?.conflicts ?? 0 };
  }
  for (const run of tools.runs) {
    const { toolCallId, status, attempt, name, call, input, examined } = run;
    if (isToJudge(run) && current?.stage.type === "acting" && agent !== null) {
      const wanted = toExamine(run, agent.facts);
      if (wanted === undefined) continue;
      const { input: given, digest } = wanted;
      yield { type: "examine", toolCallId, name, input: given, digest, agent: agent.digest };
    }
    if (status !== "running" || call === null || input === null) continue;
    const beside = {
      ...(isRepeat(run) && { isRepeat: true as const }),
      ...(examined !== undefined && { paths: examined.paths }),
    };
    yield { type: "tool", toolCallId, attempt, name, providerCallId: call.id, input, ...beside };
  }
}

function isSeeding(upstream: Upstream | null): boolean {
  return upstream !== null && upstream.isSeeded && !upstream.isHeard;
}

/** A lost call that is only asked about needs no rest yet: the answer may be to begin anew. */
function isNextCallWanted(stage: Stage, agent: BoundAgent | null): boolean {
  if (stage.type === "ready") return true;
  if (stage.type !== "lost") return false;
  const decided = stage.approvalId === undefined ? agent?.facts.onLost : stage.decision;
  return decided === "continue";
}

function nextDeadline({ approvals, clients, tools, turn, agent }: SessionState): number | null {
  const pause = turn.current?.pause ?? null;
  const deadlines = [
    ...[...approvals.pending, ...clients.requests].map(({ deadline }) => deadline),
    ...tools.runs.flatMap(({ status, awaited }) =>
      status === "awaited" && awaited !== undefined ? [awaited.until] : [],
    ),
    ...(pause === null ? [] : [resultsDeadline(pause, agent?.facts.resultsMs)]),
  ];
  return deadlines.length === 0 ? null : Math.min(...deadlines);
}
