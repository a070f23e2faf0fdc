import { isObject, toJsonText } from "../../data/json.ts";
import { diagnose } from "../converse/state.ts";
import { getCurrentMessage, stepConverseMessage } from "./message-tracker.ts";
import type { Fields, EmitEvent, StrandsState } from "./state.ts";

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

/** Whether an object that is not understood speaks of an error. It may be data of an app, or its last word. */
export function isSuspectedError(fields: Fields): boolean {
  const { type, error } = fields;
  if (type === "error") return true;
  return isObject(error)
    ? Object.keys(error).length > 0
    : typeof error === "string" && error !== "";
}

/**
 * The shapes in which what stands before an agent refuses: an AWS error (`__type`), a Lambda error (`errorMessage`), or
 * nothing but a `message` (gateways) or a `detail` (FastAPI). The last two are an app's own answer where the status of
 * the answer says that nobody refused.
 */
export function isRefusal({ settings }: StrandsState, fields: Fields): boolean {
  const [name, ...others] = Object.keys(fields);
  if (others.length === 0 && (name === "message" || name === "detail")) {
    return typeof fields[name] === "string" && !settings.hasSuccessStatus;
  }
  const { __type: type, errorMessage, status, message } = fields;
  return [type, errorMessage, status === "error" ? message : null].some(
    (text) => typeof text === "string",
  );
}

export function foldError(state: StrandsState, fields: Fields, emit: EmitEvent): void {
  if (fields["error"] === SERIALIZATION_FAILED)
    return foldSerializationFailure(state, fields, emit);
  const { error_type: type } = fields;
  const { forceStop } = state;
  state.forceStop = null;
  const details = {
    type: typeof type === "string" ? type : "error",
    payload: fields,
    ...(forceStop !== null && { forceStop }),
  };
  const errorMessage = readErrorMessage(fields);
  const message = typeof type === "string" ? `${type}: ${errorMessage}` : errorMessage;
  const failure = { code: "stream_exception", message, details } as const;
  stepConverseMessage(state, { type: "failure", failure }, emit);
}

function readErrorMessage(fields: Fields): string {
  const { error, message, detail, errorMessage } = fields;
  const inner = isObject(error) ? error["message"] : undefined;
  const candidates = [error, inner, message, errorMessage, detail];
  const firstText = candidates.find((text) => typeof text === "string");
  return typeof firstText === "string" ? firstText : toJsonText(error ?? fields);
}

const SERIALIZATION_FAILED = "Serialization failed";

/** What was lost may be a piece of the message that is open; between messages it is none. */
function foldSerializationFailure(
  state: StrandsState,
  { original_type }: Fields,
  emit: EmitEvent,
): void {
  const message = `The agent could not send an event of type ${toJsonText(original_type)}`;
  if (getCurrentMessage(state)?.isOpen === true) state.missingContent ??= message;
  diagnose(state.converse, "content_lost", message, emit);
}

/** Announces the error that comes next, or stands for it if the stream ends first. */
export function foldForceStop(state: StrandsState, fields: Fields): void {
  const { force_stop_reason: reason } = fields;
  state.forceStop = typeof reason === "string" ? reason : "";
}

/** Errors that agents print into their stream instead of sending them. */
export const KNOWN_ERROR_TEXTS: readonly string[] = ["'MCPAgentTool' object"];

export function foldKnownError(state: StrandsState, text: string, emit: EmitEvent): void {
  state.knownError ??= text;
  diagnose(state.converse, "malformed_event", `The agent printed an error: ${text}`, emit);
}
