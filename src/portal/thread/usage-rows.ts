import { countInput, measureTurn, readPromptText } from "./describe-turn.ts";
import type { SessionView } from "../state/session-view.ts";

/** The use of one turn. Shares are relative to the largest turn. */
export interface UsageRow {
  readonly turnId: string;
  readonly number: number;
  readonly seq: number;
  readonly title: string;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly durationMs: number;
  readonly inputShare: number;
  readonly outputShare: number;
  readonly timeShare: number;
}

/** Lists the turns of a session with their tokens and times. A turn without reported tokens has zero. */
export function createUsageRows({ turns }: SessionView, now: number): readonly UsageRow[] {
  const rows = turns.map((turn, index) => {
    const usage = turn.end?.usage ?? turn.usage;
    return {
      turnId: turn.turnId,
      number: index + 1,
      seq: turn.items[0]?.seq ?? 0,
      title: readPromptText(turn),
      input: usage === null ? 0 : countInput(usage),
      cached: usage?.cacheReadTokens ?? 0,
      output: usage?.outputTokens ?? 0,
      durationMs: measureTurn(turn, now),
    };
  });
  const maxTokens = findMax(rows.map(({ input, output }) => input + output));
  const maxTime = findMax(rows.map(({ durationMs }) => durationMs));
  return rows.map((row) => ({
    ...row,
    inputShare: row.input / maxTokens,
    outputShare: row.output / maxTokens,
    timeShare: row.durationMs / maxTime,
  }));
}

/** At least 1, to divide by. */
function findMax(values: readonly number[]): number {
  return values.reduce((max, value) => Math.max(max, value), 1);
}
