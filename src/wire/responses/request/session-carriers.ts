import type { JsonObject } from "../../../data/json.ts";
import { isSessionId } from "../../../domain/events/log-position.ts";
import {
  SESSION_ID_HINT,
  parseResponseId,
  parseCallSession,
  parseItemSession,
} from "../response-ids.ts";
import type { CreateRequest } from "./create-request.ts";
import type { InputItem } from "./input-item.ts";
import { findNewResults } from "./new-input.ts";
import { createNotFoundError, createRequestError, createFieldError } from "./request-error.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";

/** A field or header of a request with a session id. */
export interface Carrier {
  /** The name of the field or header. */
  readonly param: string;
  readonly sessionId: string;
  /** Sequence number of the previous response, from which the request continues. */
  readonly after?: number;
  /**
   * True if the session is only derived from an echoed id. A foreign id may look like an id of this server, so an
   * unknown session then means an imported conversation and not an error.
   */
  readonly isImplied: boolean;
}

export type ResolvedSession =
  | { readonly type: "none" }
  | {
      readonly type: "session";
      readonly sessionId: string;
      /** The field with the session id. The first field if several have the id. */
      readonly param: string;
      /** Sequence number of the previous response, which must be the last of the session. */
      readonly after?: number;
      readonly isImplied: boolean;
    };

/** Session fields outside the body. */
export interface CarrierContext {
  /** Name and value of the session header. */
  readonly header?: { readonly name: string; readonly value: string };
}

/** Finds all session ids of a request, in order of priority. Throws `invalid_session_id` for an invalid id. */
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
 * Finds the session ids for an agent which receives the whole conversation with every request: messages name the
 * sessions of earlier turns, not the session of this request. Only a new tool result implies the session of its tool
 * call.
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
    throw createRequestError("Send either previous_response_id or conversation, not both", {
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

/** Resolves the session named by all carriers. Throws `conflicting_session` if two differ. */
export function resolveSession(carriers: readonly Carrier[]): ResolvedSession {
  const [first] = carriers;
  if (first === undefined) return { type: "none" };
  const { sessionId, param } = first;
  const conflicting = carriers.find((carrier) => carrier.sessionId !== sessionId);
  if (conflicting !== undefined)
    throw createRequestError(
      `"${first.param}" and "${conflicting.param}" name different sessions; continue with one of them`,
      { param: conflicting.param, code: "conflicting_session" },
    );
  const after = carriers.find((carrier) => carrier.after !== undefined)?.after;
  const isImplied = carriers.every((carrier) => carrier.isImplied);
  return { type: "session", sessionId, param, isImplied, ...omitUndefined({ after }) };
}

/** Reads the state carried by the caller on assistant messages. The newest message with state counts. */
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
      `has to be a session id: 33 to 256 letters, digits, dashes and underscores. ${SESSION_ID_HINT}`,
      "invalid_session_id",
    );
  return [{ param, sessionId: value, isImplied: false }];
}

/** An id which was never issued is reported like the id of a deleted response. */
function toPreviousResponseCarriers(id: string | null): Carrier[] {
  if (id === null) return [];
  const position = parseResponseId(id);
  if (position === null) throw createPreviousResponseNotFoundError(id);
  const { sessionId, seq } = position;
  return [{ param: "previous_response_id", sessionId, after: seq, isImplied: false }];
}

export function createPreviousResponseNotFoundError(id: string): Error {
  return createNotFoundError(
    formatUnknownName("Response", id, { fix: "omit previous_response_id" }),
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
