import type { ClientAttached, ClientRole } from "./events/client-events.ts";
import type { SessionEvent } from "./events/session-event.ts";
import type { JsonObject } from "../data/json.ts";

/** A client that is attached to a session. */
export interface LiveClient {
  readonly clientId: string;
  readonly role: ClientRole;
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly attachedAt: number;
  readonly lastSeenAt: number;
  /** Whether it may prompt at this moment, if its principal may. */
  readonly mayPrompt: boolean;
  /** Whether it is sent every request for approval at this moment and may decide it, if its principal may. */
  readonly mayApprove: boolean;
  /** Whether it is a stock client that is sent the requests of the turns that it began. */
  readonly mayApproveOwn?: boolean;
  /** Its own words about itself. */
  readonly metadata: JsonObject;
}

/** Why clients are detached whose process, or the one that ran the session, is gone. */
export const BRIDGE_RESTARTED = "bridge_restarted";

/** Who is attached after a command about one of them. */
export interface ClientStatus {
  /** The one that the command was about; null when it has left. */
  readonly client: LiveClient | null;
  /** Who controlled before the command. */
  readonly previousController: string | null;
  readonly controller: string | null;
  readonly clients: readonly LiveClient[];
}

/** Who is attached, as the log says it. At most one of them is the controller. */
export interface ClientRegistry {
  readonly attached: readonly AttachedClient[];
  readonly controller: string | null;
}

export interface AttachedClient {
  readonly clientId: string;
  readonly name: string;
  readonly attachedAt: number;
  readonly lastSeenAt: number;
  /** As `ClientAttached` has it; null for the default. */
  readonly mayPrompt: boolean | null;
  readonly mayApprove: boolean | null;
  readonly isStock: boolean;
  readonly metadata: JsonObject;
  readonly secretDigest: string | null;
  readonly attachmentId: string | null;
}

export const NO_CLIENTS: ClientRegistry = { attached: [], controller: null };

/** The clients as others are told of them. */
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

/** Whether a client is sent a request for approval and may decide it. `prompter` began the turn that the request is about. */
export function mayDecide(client: LiveClient, prompter: string | undefined): boolean {
  return client.mayApprove || (client.mayApproveOwn === true && client.clientId === prompter);
}

/** The same registry where an event is none about clients. */
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
