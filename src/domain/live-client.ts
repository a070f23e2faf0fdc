import type { ClientAttached, ClientRole } from "./events/client-events.ts";
import type { SessionEvent } from "./events/session-event.ts";
import type { JsonObject } from "../data/json.ts";

/** A client attached to a session. */
export interface LiveClient {
  readonly clientId: string;
  readonly role: ClientRole;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly attachedAt: number;
  readonly lastSeenAt: number;
  /** Whether the client may prompt now, if its principal has the right. */
  readonly mayPrompt: boolean;
  /** Whether the client receives every approval request now and may decide it, if its principal has the right. */
  readonly mayApprove: boolean;
  /** True for a stock client which receives the approval requests of the turns it started. */
  readonly mayApproveOwn?: boolean;
  /** Set by the client to describe itself. */
  readonly metadata: JsonObject;
}

/** Reason for detaching clients whose process has exited, or whose session's owner has. */
export const BRIDGE_RESTARTED = "bridge_restarted";

/** The attached clients after a command about a client. */
export interface ClientStatus {
  /** The client named in the command. Null if it has detached. */
  readonly client: LiveClient | null;
  /** Client id of the controller before the command. */
  readonly previousController: string | null;
  readonly controller: string | null;
  readonly clients: readonly LiveClient[];
}

/** The attached clients, folded from the log. At most one is the controller. */
export interface ClientRegistry {
  readonly attached: readonly AttachedClient[];
  readonly controller: string | null;
}

export interface AttachedClient {
  readonly clientId: string;
  readonly name: string;
  readonly attachedAt: number;
  readonly lastSeenAt: number;
  /** Value from `ClientAttached`. Null: the default. */
  readonly mayPrompt: boolean | null;
  readonly mayApprove: boolean | null;
  readonly isStock: boolean;
  readonly metadata: JsonObject;
  readonly secretDigest: string | null;
  readonly attachmentId: string | null;
}

export const NO_CLIENTS: ClientRegistry = { attached: [], controller: null };

/** Lists the attached clients in the form shown to clients, with their effective rights. */
export function listLiveClients({ attached, controller }: ClientRegistry): readonly LiveClient[] {
  return attached.map((client) => {
    const { clientId, name, attachedAt, lastSeenAt, metadata, isStock } = client;
    const isController = controller === clientId;
    const isFree = controller === null;
    const mayApprove = isController
      ? (client.mayApprove ?? true)
      : isFree && client.mayApprove === true;
    const mayPrompt = isController
      ? (client.mayPrompt ?? true)
      : (isFree || isStock) && client.mayPrompt === true;
    return {
      clientId,
      role: isController ? "controller" : "observer",
      name,
      attachedAt,
      lastSeenAt,
      mayPrompt,
      mayApprove,
      ...(isStock && client.mayApprove === true && { mayApproveOwn: true }),
      metadata,
    };
  });
}

/** Whether a client receives an approval request and may decide it. `prompter` is the client which started the turn. */
export function mayDecide(client: LiveClient, prompter: string | undefined): boolean {
  return client.mayApprove || (client.mayApproveOwn === true && client.clientId === prompter);
}

/** Applies an event. Returns the same registry for events which do not concern clients. */
export function evolveClientRegistry(
  registry: ClientRegistry,
  event: SessionEvent,
  at: number,
): ClientRegistry {
  const { attached, controller } = registry;
  switch (event.type) {
    case "client.attached":
      return { controller, attached: addClient(attached, event, at) };
    case "client.heartbeat": {
      const { clientId, metadata } = event;
      const isHeartbeat = (client: AttachedClient): AttachedClient =>
        client.clientId === clientId
          ? { ...client, lastSeenAt: at, metadata: metadata ?? client.metadata }
          : client;
      return { controller, attached: attached.map(isHeartbeat) };
    }
    case "client.detached": {
      const { clientId } = event;
      return { controller, attached: attached.filter((client) => client.clientId !== clientId) };
    }
    case "controller.changed":
      return { controller: event.to, attached };
    default:
      return registry;
  }
}

function addClient(
  attached: readonly AttachedClient[],
  event: ClientAttached,
  at: number,
): readonly AttachedClient[] {
  const { clientId, name, mayPrompt = null, mayApprove = null, isStock = false } = event;
  const previous = attached.find((client) => client.clientId === clientId);
  const metadata = event.metadata ?? previous?.metadata ?? {};
  const client: AttachedClient = {
    clientId,
    name,
    attachedAt: previous?.attachedAt ?? at,
    lastSeenAt: at,
    mayPrompt,
    mayApprove,
    isStock,
    metadata,
    secretDigest: event.secretDigest ?? previous?.secretDigest ?? null,
    attachmentId: event.attachmentId ?? null,
  };
  return [...attached.filter((existing) => existing !== previous), client];
}
