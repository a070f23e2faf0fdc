import type { ToolAside } from "../domain/agent-event.ts";
import { jsonText } from "../domain/json.ts";
import type { ToolOutput } from "../domain/tool-output.ts";

/** What a tool says beside its text, as far as a log should carry it; undefined where that is nothing. */
export function asideOf(output: ToolOutput): ToolAside | undefined {
  const { data, diffs = [], locations = [], undo = [] } = output;
  const small = diffs.filter(({ oldText, newText }) => fits((oldText ?? "") + newText));
  const aside = {
    ...(data !== undefined && fits(jsonText(data)) && { data }),
    ...(small.length > 0 && { diffs: small.slice(0, MOST) }),
    ...(locations.length > 0 && { locations: locations.slice(0, MOST) }),
    ...(undo.length > 0 && { undo: undo.slice(0, MOST) }),
  };
  return Object.keys(aside).length === 0 ? undefined : aside;
}

const MOST = 16;

/** Everybody who follows the session gets it. */
function fits(text: string): boolean {
  return text.length <= MOST_CHARACTERS;
}

const MOST_CHARACTERS = 256 * 1024;
