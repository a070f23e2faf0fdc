import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import {
  REMINDER_AUTHORITIES,
  REMINDER_MODES,
  REMINDER_PROPAGATIONS,
  REMINDER_ROLES,
  type Reminder,
} from "../../../domain/reminder.ts";
import { formatNames, formatUnknownName } from "../../../text/unknown-name.ts";
import { RPC_CODES } from "../../jsonrpc/rpc-error.ts";
import { accept, type DecodeResult } from "../json-fields.ts";

/** A reminder of a host. The host may choose the id. */
export interface DecodedReminder {
  readonly reminder: Reminder;
  readonly reminderId?: string;
}

/** The keys of a reminder. Any other key is an error, so a misspelled option is not ignored. */
const REMINDER_KEYS: ReadonlySet<string> = new Set([
  "_meta",
  "authority",
  "body",
  "dedupe_key",
  "fired_at_turn",
  "goal_pin",
  "id",
  "mode",
  "preserve_on_compact",
  "propagate",
  "role_hint",
  "source",
  "tags",
  "ttl_turns",
]);

/** Decodes a reminder. The codes of the errors are those of the bridge protocol. */
export function decodeReminder(spec: JsonObject): DecodeResult<DecodedReminder> {
  if ("content" in spec)
    return rejectReminder(
      "HARN-RMD-002",
      'Key "content" does not exist in a reminder. Fix: use "body"',
    );
  const unknown = Object.keys(spec).find((key) => !REMINDER_KEYS.has(key));
  if (unknown !== undefined) return rejectReminder("HARN-RMD-001", describeUnknownKey(unknown));
  const problem = findReminderProblem(spec);
  if (problem !== undefined) return rejectReminder("HARN-RMD-002", problem);
  const { propagate = "session" } = spec;
  if (!isOneOf(REMINDER_PROPAGATIONS, propagate))
    return rejectReminder(
      "HARN-RMD-005",
      `"propagate" is not valid: expected ${formatNames(REMINDER_PROPAGATIONS)}`,
    );
  const { id } = spec;
  const reminderId = typeof id === "string" ? id : undefined;
  return accept({ reminder: readReminder(spec, propagate), ...omitUndefined({ reminderId }) });
}

/** Names the key that the sender may have meant. A long key is cut, because the sender chooses its length. */
function describeUnknownKey(key: string): string {
  const fix = "put data of the host under `_meta`";
  const options = { names: [...REMINDER_KEYS], isListed: false, where: "in a reminder", fix };
  return formatUnknownName("Key", key.slice(0, 100), options);
}

/** Rejects a reminder. `data.code` is the diagnostic code of the bridge protocol. */
export function rejectReminder(code: string, reason: string): DecodeResult<never> {
  const message = `Invalid params: ${reason} (${code})`;
  return { ok: false, error: { code: RPC_CODES.invalidParams, message, data: { code, reason } } };
}

/** Reads a checked reminder. The default mode is `finish_step`: the model sees the reminder. */
function readReminder(spec: JsonObject, propagate: Reminder["propagate"]): Reminder {
  const { mode, role_hint: role, authority, tags } = spec;
  const read = (key: string) => (typeof spec[key] === "string" ? spec[key] : undefined);
  const count = (key: string) => (typeof spec[key] === "number" ? spec[key] : undefined);
  const flag = (key: string) => (spec[key] === true ? (true as const) : undefined);
  const meta = spec["_meta"];
  return {
    body: read("body") ?? "",
    tags: Array.isArray(tags) ? [...new Set(tags.map(String))] : [],
    mode: isOneOf(REMINDER_MODES, mode) ? mode : "finish_step",
    roleHint: isOneOf(REMINDER_ROLES, role) ? role : "system",
    authority: isOneOf(REMINDER_AUTHORITIES, authority) ? authority : "contract",
    source: "bridge",
    propagate,
    ...omitUndefined({
      dedupeKey: read("dedupe_key"),
      ttlTurns: count("ttl_turns"),
      firedAtTurn: count("fired_at_turn"),
      preserveOnCompact: flag("preserve_on_compact"),
      goalPin: flag("goal_pin"),
      metadata: isObject(meta) ? meta : undefined,
    }),
  };
}

function findReminderProblem(spec: JsonObject): string | undefined {
  const { body } = spec;
  if (typeof body !== "string" || body.trim() === "")
    return '"body" is not valid: expected a string that is not empty';
  if (body.length > MAX_BODY_CHARACTERS)
    return `"body" has more than ${MAX_BODY_CHARACTERS} characters`;
  return (
    findTagProblem(spec["tags"] ?? []) ??
    findMetaProblem(spec["_meta"] ?? {}) ??
    findFlagProblem(spec) ??
    findChoiceProblem(spec) ??
    findNumberProblem(spec) ??
    findTextProblem(spec)
  );
}

/** Limits of a reminder. Every pending reminder is part of the session's state, and of a request to the model. */
const MAX_BODY_CHARACTERS = 65_536;
const MAX_TAGS = 32;
const MAX_TAG_CHARACTERS = 100;
const MAX_KEY_CHARACTERS = 200;
const MAX_META_CHARACTERS = 16_384;

function findTagProblem(tags: JsonValue): string | undefined {
  const tagList: readonly JsonValue[] | undefined = Array.isArray(tags) ? tags : undefined;
  if (tagList?.every((tag) => typeof tag === "string" && tag.trim() !== "") !== true)
    return '"tags" is not a valid list: expected strings that are not empty';
  if (tagList.length > MAX_TAGS) return `"tags" has more than ${MAX_TAGS} entries`;
  return tagList.some((tag) => typeof tag === "string" && tag.length > MAX_TAG_CHARACTERS)
    ? `A tag has more than ${MAX_TAG_CHARACTERS} characters`
    : undefined;
}

function findMetaProblem(meta: JsonValue): string | undefined {
  if (!isObject(meta)) return '"_meta" is not valid: expected an object';
  return toJsonText(meta).length > MAX_META_CHARACTERS
    ? `"_meta" has more than ${MAX_META_CHARACTERS} characters`
    : undefined;
}

function findFlagProblem(spec: JsonObject): string | undefined {
  const key = ["preserve_on_compact", "goal_pin"].find(
    (flag) => spec[flag] !== undefined && typeof spec[flag] !== "boolean",
  );
  return key === undefined ? undefined : `"${key}" is not valid: expected true or false`;
}

function findChoiceProblem(spec: JsonObject): string | undefined {
  const choices = {
    mode: REMINDER_MODES,
    role_hint: REMINDER_ROLES,
    authority: REMINDER_AUTHORITIES,
    source: ["bridge"],
  };
  for (const [key, allowed] of Object.entries(choices)) {
    const value = spec[key];
    if (value !== undefined && !isOneOf(allowed, value))
      return `"${key}" is not valid: expected ${formatNames(allowed)}`;
  }
  return undefined;
}

function findNumberProblem(spec: JsonObject): string | undefined {
  for (const [key, least] of [["ttl_turns", 1] as const, ["fired_at_turn", 0] as const]) {
    const value = spec[key];
    const isValid = typeof value === "number" && Number.isSafeInteger(value) && value >= least;
    if (value !== undefined && !isValid)
      return `"${key}" is not valid: expected an integer of at least ${least}`;
  }
  return undefined;
}

function findTextProblem(spec: JsonObject): string | undefined {
  for (const key of ["dedupe_key", "id"]) {
    const value = spec[key];
    const isValid = typeof value === "string" && value.trim() !== "";
    if (value !== undefined && (!isValid || value.length > MAX_KEY_CHARACTERS))
      return `"${key}" is not valid: expected a string of 1 to ${MAX_KEY_CHARACTERS} characters`;
  }
  return undefined;
}

function isOneOf<const Word extends string>(
  words: readonly Word[],
  value: JsonValue | undefined,
): value is Word {
  return words.some((word) => word === value);
}
