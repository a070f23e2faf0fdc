import type { AgentEvent, ClientAttached, ClientMode } from "./agent-event.ts";
import type { JsonObject } from "./json.ts";

/** A client that is attached to a session. */
export interface LiveClient {
  readonly clientId: string;
  readonly mode: ClientMode;
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly attachedAt: number;
  readonly lastSeenAt: number;
  /** What it may do here, if its principal may. */
  readonly mayPrompt: boolean;
  readonly mayApprove: boolean;
  /** Its own words about itself. */
  readonly metadata: JsonObject;
}

/** Why clients are detached whose process, or the one that ran the session, is gone. */
export const BRIDGE_RESTARTED = "bridge_restarted";

/** Who is attached after a command about one of them. */
export interface LiveClients {
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
  /** Null where it follows from who controls: what comes with control goes with it. */
  readonly mayPrompt: boolean | null;
  readonly mayApprove: boolean | null;
  readonly metadata: JsonObject;
  readonly secretDigest: string | null;
  readonly attachmentId: string | null;
}

export const NOBODY: ClientRegistry = { attached: [], controller: null };

/** The clients as others are told of them. */
export function liveClients({ attached, controller }: ClientRegistry): readonly LiveClient[] {
  return attached.map((client) => {
    const { clientId, name, attachedAt, lastSeenAt, metadata } = client;
    const isController = controller === clientId;
    return {
      clientId,
      mode: isController ? "controller" : "observer",
      name,
      attachedAt,
      lastSeenAt,
      mayPrompt: client.mayPrompt ?? isController,
      mayApprove: client.mayApprove ?? isController,
      metadata,
    };
  });
}

/** The same registry where an event is none about clients. */
export function withClientEvent(
  registry: ClientRegistry,
  event: AgentEvent,
  at: number,
): ClientRegistry {
  const { attached, controller } = registry;
  switch (event.type) {
    case "client.attached":
      return { controller, attached: withClient(attached, event, at) };
    case "client.seen": {
      const { clientId, metadata } = event;
      const seen = (client: AttachedClient): AttachedClient =>
        client.clientId === clientId
          ? { ...client, lastSeenAt: at, metadata: metadata ?? client.metadata }
          : client;
      return { controller, attached: attached.map(seen) };
    }
    case "client.detached": {
      const { clientId } = event;
      return { controller, attached: attached.filter((client) => client.clientId !== clientId) };
    }
    case "control.passed":
      return { controller: event.to, attached };
    default:
      return registry;
  }
}

function withClient(
  attached: readonly AttachedClient[],
  event: ClientAttached,
  at: number,
): readonly AttachedClient[] {
  const { clientId, name, mayPrompt = null, mayApprove = null } = event;
  const before = attached.find((client) => client.clientId === clientId);
  const metadata = event.metadata ?? before?.metadata ?? {};
  const client: AttachedClient = {
    clientId,
    name,
    attachedAt: before?.attachedAt ?? at,
    lastSeenAt: at,
    mayPrompt,
    mayApprove,
    metadata,
    secretDigest: event.secretDigest ?? before?.secretDigest ?? null,
    attachmentId: event.attachmentId ?? null,
  };
  return [...attached.filter((one) => one !== before), client];
}
