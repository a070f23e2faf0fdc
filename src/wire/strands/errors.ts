import { diagnose } from "../converse/state.ts";
import { tellMessage } from "./heard.ts";
import type { Fields, Out, StrandsState } from "./state.ts";

/** An error inside an answer that began well: the HTTP status is 200 all the same. */
export function isError(fields: Fields): boolean {
  const { error, error_type, type = "error" } = fields;
  if (typeof error !== "string") return false;
  if (typeof error_type === "string") return true;
  return type === "error" && Object.keys(fields).every((name) => ERROR_FIELDS.has(name));
}

/** What an app may say of an error in its own words; with anything else beside it, `error` is just a field. */
const ERROR_FIELDS: ReadonlySet<string> = new Set([
  "error",
  "type",
  "message",
  "details",
  "original_type",
]);

export function foldError(state: StrandsState, fields: Fields, emit: Out): void {
  const { error, error_type: type, original_type } = fields;
  if (error === NOT_SERIALISED) {
    const message = `The agent could not send an event of type ${JSON.stringify(original_type)}`;
    return diagnose(state.converse, "content_lost", message, emit);
  }
  const { forceStop } = state;
  state.forceStop = null;
  const details = {
    type: typeof type === "string" ? type : "error",
    payload: fields,
    ...(forceStop !== null && { forceStop }),
  };
  const message = typeof type === "string" ? `${type}: ${String(error)}` : String(error);
  const failure = { code: "stream_exception", message, details } as const;
  tellMessage(state, { type: "failure", failure }, emit);
}

const NOT_SERIALISED = "Serialization failed";

/** Announces the error that comes next, or stands for it if the stream ends first. */
export function foldForceStop(state: StrandsState, fields: Fields): void {
  const { force_stop_reason: reason } = fields;
  state.forceStop = typeof reason === "string" ? reason : "";
}

/** Errors that agents print into their stream instead of sending them. */
export const KNOWN_ERROR_TEXTS: readonly string[] = ["'MCPAgentTool' object"];

export function foldKnownError(state: StrandsState, text: string, emit: Out): void {
  state.knownError ??= text;
  diagnose(state.converse, "malformed_event", `The agent printed an error: ${text}`, emit);
}
