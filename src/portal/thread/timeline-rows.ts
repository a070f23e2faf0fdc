import { describeToolInput, describeToolStatus, type ToolStatus } from "./describe-tool.ts";
import { readPromptText } from "./describe-turn.ts";
import type { SessionView, ToolItem, TurnView } from "../state/session-view.ts";

/** A turn in the timeline, with a row for each tool call. Offsets and lengths are shares of the turn, from 0 to 1. */
export interface TimelineTurn {
  readonly turnId: string;
  readonly seq: number;
  readonly title: string;
  readonly durationMs: number;
  readonly isRunning: boolean;
  readonly calls: readonly TimelineCall[];
  /** Calls beyond the limit. */
  readonly omittedCalls: number;
}

export interface TimelineCall {
  readonly key: string;
  readonly seq: number;
  readonly name: string;
  readonly about: string;
  readonly status: ToolStatus;
  readonly durationMs: number | null;
  readonly offset: number;
  readonly length: number;
}

const MAX_CALLS = 200;

/** Lists the turns for the timeline, the latest last. `now` is the end of a running turn. */
export function createTimeline({ turns }: SessionView, now: number): readonly TimelineTurn[] {
  return turns.map((turn) => createTurn(turn, now));
}

const finishedTurns = new WeakMap<TurnView, TimelineTurn>();

function createTurn(turn: TurnView, now: number): TimelineTurn {
  const known = finishedTurns.get(turn);
  if (known !== undefined) return known;
  const end = turn.end?.at ?? now;
  const calls = turn.items.filter((item): item is ToolItem => item.kind === "tool");
  const row: TimelineTurn = {
    turnId: turn.turnId,
    seq: turn.items[0]?.seq ?? 0,
    title: readPromptText(turn),
    durationMs: Math.max(0, end - turn.startedAt),
    isRunning: turn.end === null,
    calls: calls.slice(-MAX_CALLS).map((call) => createCall(call, turn.startedAt, end)),
    omittedCalls: Math.max(0, calls.length - MAX_CALLS),
  };
  if (turn.end !== null) finishedTurns.set(turn, row);
  return row;
}

function createCall(item: ToolItem, turnStart: number, turnEnd: number): TimelineCall {
  const total = Math.max(1, turnEnd - turnStart);
  const startedAt = item.startedAt ?? item.at;
  const duration = item.durationMs ?? (item.ending === null ? turnEnd - startedAt : 0);
  const offset = clampShare((startedAt - turnStart) / total);
  return {
    key: item.key,
    seq: item.seq,
    name: item.name,
    about: describeToolInput(item),
    status: describeToolStatus(item),
    durationMs: item.durationMs,
    offset,
    length: Math.min(clampShare(duration / total), 1 - offset),
  };
}

function clampShare(share: number): number {
  return Math.min(1, Math.max(0, share));
}
