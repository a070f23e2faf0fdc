import type { ToolAside } from "../domain/agent-event.ts";
import { jsonText } from "../domain/json.ts";
import { isShortDiff, MOST_LOGGED, type ToolOutput } from "../domain/tool-output.ts";

/** What a tool says beside its text, as far as a log should carry it; undefined where that is nothing. */
export function asideOf(output: ToolOutput): ToolAside | undefined {
  const { data, diffs = [], locations = [], undo = [] } = output;
  const short = diffs.filter(isShortDiff);
  const aside = {
    ...(data !== undefined && jsonText(data).length <= MOST_LOGGED && { data }),
    ...(short.length > 0 && { diffs: short.slice(0, MOST) }),
    ...(locations.length > 0 && { locations: locations.slice(0, MOST) }),
    ...(undo.length > 0 && { undo: undo.slice(0, MOST) }),
  };
  return Object.keys(aside).length === 0 ? undefined : aside;
}

const MOST = 16;
