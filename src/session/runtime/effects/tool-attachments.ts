import type { ToolAttachments } from "../../../domain/events/session-event.ts";
import { toJsonText } from "../../../data/json.ts";
import {
  isShortDiff,
  MAX_LOGGED_LENGTH,
  type ToolOutput,
} from "../../../domain/tools/tool-output.ts";

/** What a tool says beside its text, as far as a log should carry it; undefined where that is nothing. */
export function collectToolAttachments(output: ToolOutput): ToolAttachments | undefined {
  const { data, diffs = [], locations = [], undo = [] } = output;
  const short = diffs.filter(isShortDiff);
  const attachments = {
    ...(data !== undefined && toJsonText(data).length <= MAX_LOGGED_LENGTH && { data }),
    ...(short.length > 0 && { diffs: short.slice(0, MAX_ATTACHMENTS) }),
    ...(locations.length > 0 && { locations: locations.slice(0, MAX_ATTACHMENTS) }),
    ...(undo.length > 0 && { undo: undo.slice(0, MAX_ATTACHMENTS) }),
  };
  return Object.keys(attachments).length === 0 ? undefined : attachments;
}

const MAX_ATTACHMENTS = 16;
