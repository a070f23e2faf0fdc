import type { JsonObject } from "../../../data/json.ts";
import {
  SESSION_ID_HINT,
  isSessionId,
  parseResponseId,
  parseCallSession,
  parseItemSession,
} from "../response-ids.ts";
import type { CreateRequest } from "./create-request.ts";
import type { InputItem } from "./input-item.ts";
import { findNewResults } from "./new-input.ts";
import { createNotFoundError, createRequestError, createFieldError } from "./request-error.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** One thing in a request that names a session. */
export interface Carrier {
  /** The field or header. */
  readonly param: string;
  readonly sessionId: string;
  /** Where the response begins that the request goes on from. */
  readonly after?: number;
  /**
   * The session is only read out of an id that was echoed. An id of somebody else's may look like one of ours, so a
   * session that is not there then means a conversation from elsewhere, and no mistake.
   */
  readonly isImplied: boolean;
}

export type ResolvedSession =
  | { readonly type: "none" }
  | {
      readonly type: "session";
      readonly sessionId: string;
      /** What names it, of several the first. */
      readonly param: string;
      /** Where the response begins that has to be the session's last. */
      readonly after?: number;
      readonly isImplied: boolean;
    };

/** What a surface knows beside the body. */
export interface CarrierContext {
  /** The value of the header that names a session, and its name. */
  readonly header?: { readonly name: string; readonly value: string };
}

/** Everything that names a session, in the order in which it counts. Throws for what cannot be a session's name. */
export function findCarriers(
  request: CreateRequest,
  facts: CarrierContext = {},
): readonly Carrier[] {
  const { input } = request;
  return [
    ...findRequestCarriers(request, facts),
    ...collectNewestFirst(input, findSessionIdCarriers),
    ...collectNewestFirst(input, findPartCarriers),
    ...collectNewestFirst(input, findIdCarriers),
  ];
}

/**
 * The same for an agent that is told the whole conversation every time: what was said names the sessions that it was
 * said in, and means none of them. Only who brings the result of a call means that call's.
 */
export function findStatelessCarriers(
  request: CreateRequest,
  facts: CarrierContext = {},
): readonly Carrier[] {
  const newest = findNewResults(request.input).at(-1);
  return [
    ...findRequestCarriers(request, facts),
    ...(newest === undefined ? [] : findIdCarriers(newest)),
  ];
}

function findRequestCarriers(
  { conversation, previousResponseId, sessionId, metadata }: CreateRequest,
  { header }: CarrierContext,
): Carrier[] {
  if (conversation !== null && previousResponseId !== null)
    throw createRequestError("Send previous_response_id or conversation, and not both", {
      param: "previous_response_id",
      code: "conflicting_state",
    });
  const metadataSessionId = Object.hasOwn(metadata, "session_id") ? metadata["session_id"] : null;
  return [
    ...toExplicitCarriers(header?.value, header?.name ?? ""),
    ...toExplicitCarriers(conversation, "conversation"),
    ...toPreviousResponseCarriers(previousResponseId),
    ...toExplicitCarriers(sessionId, "session_id"),
    ...toExplicitCarriers(metadataSessionId, "metadata.session_id"),
  ];
}

/** The one session that all of them name. */
export function resolveSession(carriers: readonly Carrier[]): ResolvedSession {
  const [first] = carriers;
  if (first === undefined) return { type: "none" };
  const { sessionId, param } = first;
  const conflicting = carriers.find((carrier) => carrier.sessionId !== sessionId);
  if (conflicting !== undefined)
    throw createRequestError(
      `"${first.param}" and "${conflicting.param}" name different sessions; go on with one of them`,
      { param: conflicting.param, code: "conflicting_session" },
    );
  const after = carriers.find((carrier) => carrier.after !== undefined)?.after;
  const isImplied = carriers.every((carrier) => carrier.isImplied);
  return { type: "session", sessionId, param, isImplied, ...omitUndefined({ after }) };
}

/** State that the caller carries along on what the assistant said; the newest that has any counts. */
export function readCarriedState({ input }: Pick<CreateRequest, "input">): JsonObject {
  const newest = input.findLast(
    (item) => item.kind === "message" && Object.keys(item.state).length > 0,
  );
  return newest?.kind === "message" ? newest.state : {};
}

function toExplicitCarriers(value: unknown, param: string): Carrier[] {
  if (value === null || value === undefined || value === "") return [];
  if (typeof value !== "string" || !isSessionId(value))
    throw createFieldError(
      param,
      `has to be a session's id: 33 to 256 letters, digits, dashes and underscores. ${SESSION_ID_HINT}`,
      "invalid_session_id",
    );
  return [{ param, sessionId: value, isImplied: false }];
}

/** An id that was never given out is as unknown as one that is gone. */
function toPreviousResponseCarriers(id: string | null): Carrier[] {
  if (id === null) return [];
  const position = parseResponseId(id);
  if (position === null) throw createPreviousResponseNotFoundError(id);
  const { sessionId, seq } = position;
  return [{ param: "previous_response_id", sessionId, after: seq, isImplied: false }];
}

export function createPreviousResponseNotFoundError(id: string): Error {
  return createNotFoundError(
    `There is no response "${id.slice(0, 100)}"; begin without previous_response_id`,
    {
      param: "previous_response_id",
      code: "previous_response_not_found",
    },
  );
}

function collectNewestFirst(
  items: readonly InputItem[],
  findItemCarriers: (item: InputItem) => readonly Carrier[],
): Carrier[] {
  return items.toReversed().flatMap(findItemCarriers);
}

function findSessionIdCarriers(item: InputItem): readonly Carrier[] {
  const isOurs = item.kind !== "message" || item.role === "assistant";
  return isOurs ? toExplicitCarriers(item.sessionId, `${item.path}.session_id`) : [];
}

function findPartCarriers(item: InputItem): readonly Carrier[] {
  if (item.kind !== "message") return [];
  return item.partSessionIds.flatMap((id) =>
    toExplicitCarriers(id, `${item.path}.content.session_id`),
  );
}

function findIdCarriers(item: InputItem): readonly Carrier[] {
  const inItemId = item.id === null ? null : parseItemSession(item.id);
  const inCallId = "callId" in item ? parseCallSession(item.callId) : null;
  return [
    ...toImpliedCarriers(inItemId, `${item.path}.id`),
    ...toImpliedCarriers(inCallId, `${item.path}.call_id`),
  ];
}

function toImpliedCarriers(sessionId: string | null, param: string): Carrier[] {
  return sessionId === null ? [] : [{ param, sessionId, isImplied: true }];
}
