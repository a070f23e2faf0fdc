import type { ClientRole } from "../../../domain/events/client-events.ts";
import { isObject, toJsonText, type JsonObject } from "../../../data/json.ts";
import type { LiveClient, ClientStatus } from "../../../domain/live-client.ts";
import type {
  LiveClient as VendorClient,
  LiveClients as VendorClients,
} from "../encode/vendor-fields.ts";
import { parseUpdateCursor, readCursorMeta, type UpdateCursor } from "../encode/update-cursor.ts";
import { DEFAULT_LINE_BYTES } from "../fit-json.ts";
import { type DecodeResult, accept, decodeSessionId, rejectParams } from "../json-fields.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** A bridge host's request about the clients of a session. */
export type LiveClientRequest = SessionReference &
  (
    | ({ readonly type: "attach" } & AttachParams)
    | { readonly type: "heartbeat"; readonly clientId: string; readonly metadata?: JsonObject }
    | ({ readonly type: "detach"; readonly clientId: string; readonly reason: string } & Pick<
        AttachParams,
        "secret"
      >)
    | { readonly type: "clients" }
  );

interface SessionReference {
  readonly sessionId: string;
}

export interface AttachParams {
  readonly clientId: string;
  readonly mode: ClientRole;
  readonly takeOver: boolean;
  readonly mayPrompt?: boolean;
  readonly mayApprove?: boolean;
  readonly metadata?: JsonObject;
  /** The secret which binds the client id. Never write this secret to the log. */
  readonly secret?: string;
  /** The last update that the client received. Default: the client receives the updates after its attach. */
  readonly from?: UpdateCursor;
}

export function decodeAttach(params: JsonObject): DecodeResult<LiveClientRequest> {
  const reference = decodeClientReference(params);
  if (!reference.ok) return reference;
  const mode = params["mode"] ?? "observer";
  const takeover = params["takeover"] ?? false;
  if (mode !== "observer" && mode !== "controller")
    return rejectParams('"mode" is not valid: expected "observer" or "controller"');
  if (typeof takeover !== "boolean")
    return rejectParams('"takeover" is not valid: expected true or false');
  return accept({
    type: "attach",
    ...reference.value,
    mode,
    takeOver: takeover,
    ...readClientOptions(params),
  });
}

export function decodeTakeover(params: JsonObject): DecodeResult<LiveClientRequest> {
  const reference = decodeClientReference(params);
  if (!reference.ok) return reference;
  const clientOptions = readClientOptions(params);
  return accept({
    type: "attach",
    ...reference.value,
    mode: "controller",
    takeOver: true,
    ...clientOptions,
  });
}

export function decodeHeartbeat(params: JsonObject): DecodeResult<LiveClientRequest> {
  const reference = decodeClientReference(params);
  if (!reference.ok) return reference;
  const { metadata } = readClientOptions(params);
  return accept({
    type: "heartbeat",
    ...reference.value,
    ...omitUndefined({ metadata }),
  });
}

export function decodeDetach(params: JsonObject): DecodeResult<LiveClientRequest> {
  const reference = decodeClientReference(params);
  if (!reference.ok) return reference;
  const { reason } = params;
  const why = typeof reason === "string" && reason !== "" ? reason : "client_detached";
  const { secret } = readClientOptions(params);
  return accept({
    type: "detach",
    ...reference.value,
    reason: why.slice(0, MAX_REASON_CHARACTERS),
    ...omitUndefined({ secret }),
  });
}

export function decodeLiveClients(params: JsonObject): DecodeResult<LiveClientRequest> {
  const session = decodeSessionId(params);
  return session.ok ? accept({ type: "clients", sessionId: session.value }) : session;
}

function decodeClientReference(
  params: JsonObject,
): DecodeResult<SessionReference & Pick<AttachParams, "clientId">> {
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const { clientId, _meta: meta } = params;
  if (clientId === undefined)
    return rejectParams('"clientId" is missing: expected the id under which the client attached');
  if (toJsonText(meta).length > MAX_META_CHARACTERS)
    return rejectParams(`"_meta" has more than ${MAX_META_CHARACTERS} characters`);
  const cursor = readCursorMeta(meta);
  if (cursor !== undefined && readCursor(cursor) === undefined)
    return rejectParams(
      '"_meta.harn.cursor" is not a valid cursor: expected the cursor of an update',
    );
  if (typeof clientId !== "string" || clientId === "" || clientId.length > MAX_ID_CHARACTERS)
    return rejectParams(
      `"clientId" is not a valid id: expected 1 to ${MAX_ID_CHARACTERS} characters`,
    );
  return accept({ sessionId: session.value, clientId });
}

function readCursor(cursor: unknown): UpdateCursor | undefined {
  return typeof cursor === "string" ? parseUpdateCursor(cursor) : undefined;
}

/**
 * Reads the options of a client. The attach secret and the cursor are removed from the metadata, because other clients
 * can read it.
 */
function readClientOptions(params: JsonObject) {
  const { _meta: meta, promptInjection, permissionRouting } = params;
  const harn = isObject(meta) && isObject(meta["harn"]) ? meta["harn"] : undefined;
  const { attachSecret, cursor, ...metadata } = harn ?? {};
  const from = readCursor(cursor);
  // A secret or a cursor alone does not replace the metadata.
  const hasNoMetadata =
    (attachSecret !== undefined || cursor !== undefined) && Object.keys(metadata).length === 0;
  return {
    ...(typeof promptInjection === "boolean" && { mayPrompt: promptInjection }),
    ...(typeof permissionRouting === "boolean" && { mayApprove: permissionRouting }),
    ...(harn !== undefined && !hasNoMetadata && { metadata }),
    ...(typeof attachSecret === "string" && { secret: attachSecret }),
    ...omitUndefined({ from }),
  };
}

const MAX_ID_CHARACTERS = 200;
const MAX_REASON_CHARACTERS = 200;
const MAX_META_CHARACTERS = 16 * 1024;

/** Encodes the result that all live-client methods share. */
export function encodeLiveClients({
  client,
  previousController,
  controller,
  clients,
}: ClientStatus): VendorClients {
  return {
    client: client === null ? null : encodeClient(client),
    previous_controller_id: previousController,
    active_controller_id: controller,
    clients: encodeClients(clients),
  };
}

export function encodeClientList(clients: readonly LiveClient[]) {
  return { object: "list", data: encodeClients(clients) };
}

/**
 * Encodes all clients. Metadata is included while it fits into half a line; without the limit, a client could fill
 * every other client's line.
 */
function encodeClients(clients: readonly LiveClient[]): readonly VendorClient[] {
  let remainingCharacters = DEFAULT_LINE_BYTES / 2;
  return clients.map((client) => {
    const length = toJsonText(client.metadata).length;
    const hasRoom = length <= remainingCharacters;
    if (hasRoom) remainingCharacters -= length;
    return encodeClient(hasRoom ? client : { ...client, metadata: {} });
  });
}

export function encodeClient(client: LiveClient): VendorClient {
  return {
    client_id: client.clientId,
    mode: client.role,
    attached_at: formatSeconds(client.attachedAt),
    last_seen_at: formatSeconds(client.lastSeenAt),
    prompt_injection: client.mayPrompt,
    permission_routing: client.mayApprove,
    metadata: client.metadata,
  };
}

/** Seconds since 1970, as a string. */
function formatSeconds(at: number): string {
  return String(Math.floor(at / 1000));
}
