import type { ClientMode } from "../../domain/agent-event.ts";
import { isObject, jsonText, type JsonObject } from "../../domain/json.ts";
import type { LiveClient, LiveClients } from "../../domain/live-client.ts";
import type { LiveClient as VendorClient, LiveClients as VendorClients } from "./vendor-fields.ts";
import { LINE_BYTES } from "./fitted.ts";
import { type Decoded, decoded, decodeSessionId, refusedParams } from "./decoded.ts";

/** What a host asks about the clients of a session. */
export type LiveRequest = Named &
  (
    | ({ readonly type: "attach" } & Attaching)
    | { readonly type: "heartbeat"; readonly clientId: string; readonly metadata?: JsonObject }
    | { readonly type: "detach"; readonly clientId: string; readonly reason: string }
    | { readonly type: "clients" }
  );

interface Named {
  readonly sessionId: string;
}

export interface Attaching {
  readonly clientId: string;
  readonly mode: ClientMode;
  readonly takeOver: boolean;
  readonly mayPrompt?: boolean;
  readonly mayApprove?: boolean;
  readonly metadata?: JsonObject;
  /** Binds the client's id. It is not to be written down. */
  readonly secret?: string;
}

export function decodeAttach(params: JsonObject): Decoded<LiveRequest> {
  const place = placeIn(params);
  if (!place.ok) return place;
  const mode = params["mode"] ?? "observer";
  const takeover = params["takeover"] ?? false;
  if (mode !== "observer" && mode !== "controller")
    return refusedParams('"mode" is neither "observer" nor "controller"');
  if (typeof takeover !== "boolean") return refusedParams('"takeover" is neither true nor false');
  return decoded({
    type: "attach",
    ...place.value,
    mode,
    takeOver: takeover,
    ...ownWords(params),
  });
}

export function decodeTakeover(params: JsonObject): Decoded<LiveRequest> {
  const place = placeIn(params);
  if (!place.ok) return place;
  const own = ownWords(params);
  return decoded({ type: "attach", ...place.value, mode: "controller", takeOver: true, ...own });
}

export function decodeHeartbeat(params: JsonObject): Decoded<LiveRequest> {
  const place = placeIn(params);
  if (!place.ok) return place;
  const { metadata } = ownWords(params);
  return decoded({
    type: "heartbeat",
    ...place.value,
    ...(metadata !== undefined && { metadata }),
  });
}

export function decodeDetach(params: JsonObject): Decoded<LiveRequest> {
  const place = placeIn(params);
  if (!place.ok) return place;
  const { reason } = params;
  const why = typeof reason === "string" && reason !== "" ? reason : "client_detached";
  return decoded({ type: "detach", ...place.value, reason: why.slice(0, MAX_REASON) });
}

export function decodeClients(params: JsonObject): Decoded<LiveRequest> {
  const session = decodeSessionId(params);
  return session.ok ? decoded({ type: "clients", sessionId: session.value }) : session;
}

function placeIn(params: JsonObject): Decoded<Named & Pick<Attaching, "clientId">> {
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const { clientId, _meta: meta } = params;
  if (clientId === undefined)
    return refusedParams('"clientId" is missing: the name that the client is attached under');
  if (jsonText(meta).length > MAX_META)
    return refusedParams(`"_meta" has more than ${MAX_META} characters`);
  if (typeof clientId !== "string" || clientId === "" || clientId.length > MAX_ID)
    return refusedParams(`"clientId" is no name of 1 to ${MAX_ID} characters`);
  return decoded({ sessionId: session.value, clientId });
}

/** What a client says of itself, but for what is not for others. */
function ownWords(params: JsonObject) {
  const { _meta: meta, promptInjection, permissionRouting } = params;
  const harn = isObject(meta) && isObject(meta["harn"]) ? meta["harn"] : undefined;
  const { attachSecret, ...metadata } = harn ?? {};
  // A secret alone proves who the client is; it does not replace the metadata.
  const isSecretOnly = attachSecret !== undefined && Object.keys(metadata).length === 0;
  return {
    ...(typeof promptInjection === "boolean" && { mayPrompt: promptInjection }),
    ...(typeof permissionRouting === "boolean" && { mayApprove: permissionRouting }),
    ...(harn !== undefined && !isSecretOnly && { metadata }),
    ...(typeof attachSecret === "string" && { secret: attachSecret }),
  };
}

const MAX_ID = 200;
const MAX_REASON = 200;
const MAX_META = 16 * 1024;

/** The answer that all of them share. */
export function liveAnswer({
  client,
  previousController,
  controller,
  clients,
}: LiveClients): VendorClients {
  return {
    client: client === null ? null : clientRow(client),
    previous_controller_id: previousController,
    active_controller_id: controller,
    clients: clientRows(clients),
  };
}

export function clientsAnswer(clients: readonly LiveClient[]) {
  return { object: "list", data: clientRows(clients) };
}

/** All of them, and of what they say of themselves as much as a line has room for: each could say it to all others. */
function clientRows(clients: readonly LiveClient[]): readonly VendorClient[] {
  let room = LINE_BYTES / 2;
  return clients.map((client) => {
    const length = jsonText(client.metadata).length;
    const isShown = length <= room;
    if (isShown) room -= length;
    return clientRow(isShown ? client : { ...client, metadata: {} });
  });
}

export function clientRow(client: LiveClient): VendorClient {
  return {
    client_id: client.clientId,
    mode: client.mode,
    attached_at: seconds(client.attachedAt),
    last_seen_at: seconds(client.lastSeenAt),
    prompt_injection: client.mayPrompt,
    permission_routing: client.mayApprove,
    metadata: client.metadata,
  };
}

/** Seconds since 1970, as a text. */
function seconds(at: number): string {
  return String(Math.floor(at / 1000));
}
