import type { JsonObject } from "../../../domain/json.ts";
import {
  WHENCE_SESSIONS,
  isSessionId,
  readResponseId,
  sessionOfCall,
  sessionOfItem,
} from "../ids.ts";
import type { CreateRequest } from "./create-request.ts";
import type { InputItem } from "./input-item.ts";
import { newResults } from "./new-input.ts";
import { missing, refusal, wrongField } from "./refusal.ts";

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
  | { readonly found: "none" }
  | {
      readonly found: "session";
      readonly sessionId: string;
      /** What names it, of several the first. */
      readonly param: string;
      /** Where the response begins that has to be the session's last. */
      readonly after?: number;
      readonly isImplied: boolean;
    };

/** What a surface knows beside the body. */
export interface CarrierFacts {
  /** The value of the header that names a session, and its name. */
  readonly header?: { readonly name: string; readonly value: string };
}

/** Everything that names a session, in the order in which it counts. Throws for what cannot be a session's name. */
export function carriersOf(request: CreateRequest, facts: CarrierFacts = {}): readonly Carrier[] {
  const { input } = request;
  return [
    ...onRequest(request, facts),
    ...newestFirst(input, onItem),
    ...newestFirst(input, onParts),
    ...newestFirst(input, inIds),
  ];
}

/**
 * The same for an agent that is told the whole conversation every time: what was said names the sessions that it was
 * said in, and means none of them. Only who brings the result of a call means that call's.
 */
export function statelessCarriers(
  request: CreateRequest,
  facts: CarrierFacts = {},
): readonly Carrier[] {
  const newest = newResults(request.input).at(-1);
  return [...onRequest(request, facts), ...(newest === undefined ? [] : inIds(newest))];
}

function onRequest(
  { conversation, previousResponseId, sessionId, metadata }: CreateRequest,
  { header }: CarrierFacts,
): Carrier[] {
  if (conversation !== null && previousResponseId !== null)
    throw refusal("Send previous_response_id or conversation, and not both", {
      param: "previous_response_id",
      code: "conflicting_state",
    });
  const named = Object.hasOwn(metadata, "session_id") ? metadata["session_id"] : null;
  return [
    ...explicit(header?.value, header?.name ?? ""),
    ...explicit(conversation, "conversation"),
    ...previous(previousResponseId),
    ...explicit(sessionId, "session_id"),
    ...explicit(named, "metadata.session_id"),
  ];
}

/** The one session that all of them name. */
export function resolveSession(carriers: readonly Carrier[]): ResolvedSession {
  const [first] = carriers;
  if (first === undefined) return { found: "none" };
  const { sessionId, param } = first;
  const other = carriers.find((carrier) => carrier.sessionId !== sessionId);
  if (other !== undefined)
    throw refusal(
      `"${first.param}" and "${other.param}" name different sessions; go on with one of them`,
      { param: other.param, code: "conflicting_session" },
    );
  const after = carriers.find((carrier) => carrier.after !== undefined)?.after;
  const isImplied = carriers.every((carrier) => carrier.isImplied);
  return { found: "session", sessionId, param, isImplied, ...(after !== undefined && { after }) };
}

/** State that the caller carries along on what the assistant said; the newest that has any counts. */
export function carriedState({ input }: Pick<CreateRequest, "input">): JsonObject {
  const newest = input.findLast(
    (item) => item.kind === "message" && Object.keys(item.state).length > 0,
  );
  return newest?.kind === "message" ? newest.state : {};
}

function explicit(value: unknown, param: string): Carrier[] {
  if (value === null || value === undefined || value === "") return [];
  if (typeof value !== "string" || !isSessionId(value))
    throw wrongField(
      param,
      `has to be a session's id: 33 to 256 letters, digits, dashes and underscores. ${WHENCE_SESSIONS}`,
      "invalid_session_id",
    );
  return [{ param, sessionId: value, isImplied: false }];
}

/** An id that was never given out is as unknown as one that is gone. */
function previous(id: string | null): Carrier[] {
  if (id === null) return [];
  const place = readResponseId(id);
  if (place === null) throw previousResponseNotFound(id);
  const { sessionId, seq } = place;
  return [{ param: "previous_response_id", sessionId, after: seq, isImplied: false }];
}

export function previousResponseNotFound(id: string): Error {
  return missing(`There is no response "${id.slice(0, 100)}"; begin without previous_response_id`, {
    param: "previous_response_id",
    code: "previous_response_not_found",
  });
}

function newestFirst(
  items: readonly InputItem[],
  carriersIn: (item: InputItem) => readonly Carrier[],
): Carrier[] {
  return items.toReversed().flatMap(carriersIn);
}

function onItem(item: InputItem): readonly Carrier[] {
  const isOurs = item.kind !== "message" || item.role === "assistant";
  return isOurs ? explicit(item.sessionId, `${item.path}.session_id`) : [];
}

function onParts(item: InputItem): readonly Carrier[] {
  if (item.kind !== "message") return [];
  return item.partSessionIds.flatMap((id) => explicit(id, `${item.path}.content.session_id`));
}

function inIds(item: InputItem): readonly Carrier[] {
  const inItemId = item.id === null ? null : sessionOfItem(item.id);
  const inCallId = "callId" in item ? sessionOfCall(item.callId) : null;
  return [...implied(inItemId, `${item.path}.id`), ...implied(inCallId, `${item.path}.call_id`)];
}

function implied(sessionId: string | null, param: string): Carrier[] {
  return sessionId === null ? [] : [{ param, sessionId, isImplied: true }];
}
