import type { JsonObject, JsonValue } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { accept, readHarnMeta, rejectParams, type DecodeResult } from "../json-fields.ts";
import {
  decodeInject,
  decodePendingInjections,
  decodeRemind,
  decodeReplaceInject,
  decodeResume,
  decodeRevokeInject,
  decodeRevokeReminder,
  decodeSteering,
  decodeUnwatchFiles,
  decodeWatchFiles,
  type SteeringRequest,
} from "./steering-messages.ts";

type DecodeSteeringRequest = (params: JsonObject) => DecodeResult<SteeringRequest>;

/** The methods about messages and reminders for a running turn. */
export const STEERING_METHODS: readonly [string, DecodeSteeringRequest][] = [
  ["session/inject", identified(decodeInject)],
  ["session/replace_inject", identified(decodeReplaceInject)],
  ["session/revoke_inject", identified(decodeRevokeInject)],
  ["session/remind", identified(decodeRemind)],
  ["session/revoke_reminder", identified(decodeRevokeReminder)],
  ["session/pending_injections", decodePendingInjections],
  ["agent/resume", identified(decodeResume)],
  ["session/watch_files", identified(decodeWatchFiles)],
  ["session/unwatch_files", identified(decodeUnwatchFiles)],
];

/** `_session/steering`, with the client's id of the request. */
export const decodeIdentifiedSteering = identified(decodeSteering);

/** Deprecated names of `session/inject`, as earlier bridge hosts send them. */
export const DEPRECATED_INJECT_METHODS: readonly string[] = [
  "user_message",
  "session/input",
  "agent/user_message",
];

/**
 * Decodes a message under a deprecated name. The session id is optional, and the mode has the words of the earlier
 * protocol.
 */
export const decodeDeprecatedInject: DecodeSteeringRequest = identified((params) => {
  const { sessionId: named, mode: word = "steer" } = params;
  const mode = typeof word === "string" ? INJECT_MODES.get(word) : undefined;
  if (mode === undefined)
    return rejectParams(
      `"mode" is not valid: expected ${[...INJECT_MODES.keys()].map((known) => `"${known}"`).join(" or ")}`,
    );
  const decoded = decodeInject({ ...params, sessionId: named ?? UNNAMED_SESSION, mode });
  if (!decoded.ok || named !== undefined) return decoded;
  return accept({ ...decoded.value, sessionId: undefined });
});

/** Stands in for a session id while a message without one is decoded. */
const UNNAMED_SESSION = "unnamed";

const INJECT_MODES: ReadonlyMap<string, "steer" | "queue"> = new Map([
  ["steer", "steer"],
  ["interrupt", "steer"],
  ["interrupt_immediate", "steer"],
  ["finish_step", "steer"],
  ["after_current_operation", "steer"],
  ["queue", "queue"],
  ["wait_for_completion", "queue"],
]);

/** Adds the client's id of the request. A repeated request with the same id has no second effect. */
function identified(decode: DecodeSteeringRequest): DecodeSteeringRequest {
  return (params) => {
    const decoded = decode(params);
    if (!decoded.ok) return decoded;
    const { commandId } = readHarnMeta(params);
    if (commandId !== undefined && !isId(commandId))
      return rejectParams(
        `"_meta.harn.commandId" is not a valid id: expected 1 to ${MAX_ID_CHARACTERS} characters`,
      );
    return accept({ ...decoded.value, ...omitUndefined({ commandId }) });
  };
}

function isId(value: JsonValue): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_CHARACTERS;
}

const MAX_ID_CHARACTERS = 200;
