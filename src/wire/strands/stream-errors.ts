import { isObject, toJsonText } from "../../data/json.ts";
import { diagnose } from "../converse/state.ts";
import { getCurrentMessage, stepConverseMessage } from "./message-tracker.ts";
import type { Fields, EmitEvent, StrandsState } from "./state.ts";

/** Returns whether an object is an error inside a response with HTTP status 200. */
export function isError(fields: Fields): boolean {
  const { error, error_type, type = "error" } = fields;
  if (typeof error !== "string") return false;
  if (typeof error_type === "string") return true;
  return type === "error" && Object.keys(fields).every((name) => ERROR_FIELDS.has(name));
}

/** The fields of an app's own error object. With any other field, `error` is ordinary data. */
const ERROR_FIELDS: ReadonlySet<string> = new Set([
  "error",
  "type",
  "message",
  "details",
  "original_type",
]);

/**
 * Returns whether an unknown object mentions an error. The object may be data of an app or the error which ended the
 * stream.
 */
export function isSuspectedError(fields: Fields): boolean {
  const { type, error } = fields;
  if (type === "error") return true;
  return isObject(error)
    ? Object.keys(error).length > 0
    : typeof error === "string" && error !== "";
}

/**
 * Returns whether an object is a refusal by a component in front of the agent: an AWS error (`__type`), a Lambda error
 * (`errorMessage`), or an object with only `message` (gateways) or `detail` (FastAPI). With a success status, an object
 * with only `message` or `detail` is a result of the app.
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

/** A lost event is missing content only while a message is open; between messages no content is missing. */
function foldSerializationFailure(
  state: StrandsState,
  { original_type }: Fields,
  emit: EmitEvent,
): void {
  const message = `The agent could not send an event of type ${toJsonText(original_type)}`;
  if (getCurrentMessage(state)?.isOpen === true) state.missingContent ??= message;
  diagnose(state.converse, "content_lost", message, emit);
}

/**
 * Records the reason of a forced stop. The reason is added to the following error, or becomes the error if the stream
 * ends.
 */
export function foldForceStop(state: StrandsState, fields: Fields): void {
  const { force_stop_reason: reason } = fields;
  state.forceStop = typeof reason === "string" ? reason : "";
}

/** Errors which agents print into their stream as text. */
export const KNOWN_ERROR_TEXTS: readonly string[] = ["'MCPAgentTool' object"];

export function foldKnownError(state: StrandsState, text: string, emit: EmitEvent): void {
  state.knownError ??= text;
  diagnose(state.converse, "malformed_event", `The agent printed an error: ${text}`, emit);
}
