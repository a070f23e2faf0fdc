import { isObject } from "../../data/json.ts";
import type { Right } from "../../domain/actor.ts";
import { EVENT_VERSIONS, readStoredEvent } from "../../domain/events/upcast.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { InboxItem, LiveError, LiveFrame, ReadyFrame, SessionSummary } from "./live-frames.ts";
import { createInvalidFrame, createUnknownFrame, type DecodedLive } from "./live-problem.ts";

/**
 * Decodes a message of the server, such as the `data` of a browser's message event. Unknown fields are ignored. The
 * contents of events and approval requests are not validated: their source is the server's own log.
 */
export function decodeLiveFrame(data: unknown): DecodedLive<LiveFrame> {
  const fields = typeof data === "string" ? parseObject(data) : undefined;
  const type = fields?.["type"];
  if (fields === undefined || typeof type !== "string")
    return createInvalidFrame(`The message is not a JSON object with a "type"`);
  const id = typeof fields["id"] === "string" ? fields["id"] : undefined;
  if (!isFrameType(type)) return createUnknownFrame(type, FRAME_TYPES, id);
  const frame = DECODERS[type](fields);
  return frame === undefined
    ? createInvalidFrame(`The frame "${type}" has a missing or invalid field`, id)
    : { ok: true, frame };
}

interface Fields {
  readonly [name: string]: unknown;
}

/** The type of a frame after the check of its fields. Undefined: a field is missing or invalid. */
const DECODERS: {
  readonly [Type in LiveFrame["type"]]: (
    fields: Fields,
  ) => Extract<LiveFrame, { readonly type: Type }> | undefined;
} = {
  ready: decodeReady,
  events(fields) {
    const { id, cursor, events } = fields;
    if (!isString(id) || !isString(cursor)) return undefined;
    const envelopes = readList(events, readEnvelope);
    return envelopes && { type: "events", id, cursor, events: envelopes };
  },
  live: ({ id, cursor }) =>
    isString(id) && isString(cursor) ? { type: "live", id, cursor } : undefined,
  gap: ({ id, cursor, error }) =>
    isString(id) && isString(cursor) && isLiveError(error)
      ? { type: "gap", id, cursor, error }
      : undefined,
  ended: ({ id, error }) =>
    isString(id) && isLiveError(error) ? { type: "ended", id, error } : undefined,
  attached: ({ id, clientId, role }) =>
    isString(id) && isString(clientId) && (role === "controller" || role === "observer")
      ? { type: "attached", id, clientId, role }
      : undefined,
  sessions(fields) {
    const { reset, removed, complete } = fields;
    const sessions = readList(fields["sessions"], (item) => (isSummary(item) ? item : undefined));
    if (!isBoolean(reset) || sessions === undefined || !isStringList(removed)) return undefined;
    return { type: "sessions", reset, sessions, removed, ...(isBoolean(complete) && { complete }) };
  },
  inbox(fields) {
    const { reset, removed, complete } = fields;
    const items = readList(fields["items"], (item) => (isInboxItem(item) ? item : undefined));
    if (!isBoolean(reset) || items === undefined || !isStringList(removed)) return undefined;
    return { type: "inbox", reset, items, removed, ...(isBoolean(complete) && { complete }) };
  },
  refused: ({ id, error }) =>
    isLiveError(error) ? { type: "refused", error, ...(isString(id) && { id }) } : undefined,
  pong: ({ id }) => (isInteger(id) ? { type: "pong", id } : undefined),
};

const FRAME_TYPES = Object.keys(DECODERS);

function isFrameType(type: string): type is LiveFrame["type"] {
  return Object.hasOwn(DECODERS, type);
}

function decodeReady(fields: Fields): ReadyFrame | undefined {
  const { protocol, principal, agents, version, now } = fields;
  if (!isInteger(protocol) || !isStringList(agents) || !isString(version)) return undefined;
  if (!isObject(principal) || !isString(principal["id"]) || !isNumber(now)) return undefined;
  const { id, rights } = principal;
  if (!isStringList(rights)) return undefined;
  return {
    type: "ready",
    protocol,
    principal: { id, rights: rights.filter(isRight) },
    agents,
    version,
    now,
  };
}

const RIGHTS: readonly string[] = ["prompt", "approve", "control"] satisfies readonly Right[];

function isRight(name: string): name is Right {
  return RIGHTS.includes(name);
}

/** Reads an envelope. An event of an unknown type becomes `provider.unknown`. */
function readEnvelope(value: unknown): Envelope | undefined {
  if (!isObject(value) || !isString(value["sessionId"])) return undefined;
  const { sessionId, seq, at, turnId, actor, cause, visibility } = value;
  if (!isInteger(seq) || !isNumber(at)) return undefined;
  const event = readEvent(value["event"]);
  if (event === undefined || (visibility !== "public" && visibility !== "internal"))
    return undefined;
  return {
    sessionId,
    seq,
    at,
    ...(isString(turnId) && { turnId }),
    ...(isActor(actor) && { actor }),
    ...(isString(cause) && { cause }),
    visibility,
    event,
  };
}

/** The server sends events in the current version. */
function readEvent(event: unknown): Envelope["event"] | undefined {
  if (!isObject(event) || !isString(event["type"])) return undefined;
  const { type } = event;
  const { manifest } = EVENT_VERSIONS;
  const version = Object.hasOwn(manifest, type) ? (manifest[type]?.version ?? 0) : 0;
  return readStoredEvent({ type, version, event }, EVENT_VERSIONS);
}

function isActor(value: unknown): value is NonNullable<Envelope["actor"]> {
  return isObject(value) && ["user", "agent", "session"].includes(String(value["kind"]));
}

function isSummary(value: unknown): value is SessionSummary {
  if (!isObject(value)) return false;
  const { title, workingDirectory, state, createdAt, updatedAt } = value;
  const names = [value["sessionId"], value["agent"], value["principal"], value["cursor"]];
  return (
    names.every(isString) &&
    isStringOrNull(title) &&
    isStringOrNull(workingDirectory) &&
    ["idle", "running", "waiting"].includes(String(state)) &&
    isNumber(createdAt) &&
    isNumber(updatedAt)
  );
}

function isInboxItem(value: unknown): value is InboxItem {
  if (!isObject(value)) return false;
  const { title, requestedAt, request, votes } = value;
  const names = [value["key"], value["sessionId"], value["agent"], value["principal"]];
  return (
    names.every(isString) &&
    isStringOrNull(title) &&
    isNumber(requestedAt) &&
    isObject(request) &&
    request["type"] === "approval.requested" &&
    isString(request["approvalId"]) &&
    isString(request["question"]) &&
    isStringList(request["options"]) &&
    isNumber(request["deadline"]) &&
    Array.isArray(votes) &&
    votes.every((vote) => isObject(vote) && isString(vote["principal"]))
  );
}

function isLiveError(value: unknown): value is LiveError {
  if (!isObject(value)) return false;
  const { code, message, hint } = value;
  return isString(code) && isString(message) && (hint === undefined || isString(hint));
}

function readList<Item>(
  value: unknown,
  read: (item: unknown) => Item | undefined,
): readonly Item[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: Item[] = [];
  for (const entry of value) {
    const item = read(entry);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

/** Parses without a depth limit: an event may be nested as deep as the limit for tool input. */
function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isStringOrNull(value: unknown): value is string | null {
  return value === null || isString(value);
}

function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isString);
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
