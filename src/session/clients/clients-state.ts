import type { AgentEvent, ClientAttached, ClientMode } from "../../domain/agent-event.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { LiveClient } from "../../domain/live-client.ts";

/** Who is attached. At most one of them is the controller. */
export interface ClientsState {
  readonly attached: readonly AttachedClient[];
  readonly controller: string | null;
  readonly requests: readonly HostRequest[];
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
}

export interface HostRequest {
  readonly requestId: string;
  readonly clientId: string;
  readonly deadline: number;
}

export const initialClients: ClientsState = { attached: [], controller: null, requests: [] };

export function modeOf(clients: ClientsState, clientId: string): ClientMode | undefined {
  if (!clients.attached.some((client) => client.clientId === clientId)) return undefined;
  return clients.controller === clientId ? "controller" : "observer";
}

/** The clients as others are told of them. */
export function liveClients(clients: ClientsState): readonly LiveClient[] {
  return clients.attached.map((client) => {
    const { clientId, name, attachedAt, lastSeenAt, metadata } = client;
    const isController = clients.controller === clientId;
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

export function evolveClients(clients: ClientsState, event: AgentEvent, at: number): ClientsState {
  switch (event.type) {
    case "client.attached":
      return attached(clients, event, at);
    case "client.seen": {
      const { clientId, metadata } = event;
      const seen = clients.attached.map((client) =>
        client.clientId === clientId
          ? { ...client, lastSeenAt: at, metadata: metadata ?? client.metadata }
          : client,
      );
      return { ...clients, attached: seen };
    }
    case "client.detached": {
      const others = clients.attached.filter(({ clientId }) => clientId !== event.clientId);
      return { ...clients, attached: others };
    }
    case "control.passed":
      return { ...clients, controller: event.to };
    case "host.requested": {
      const { requestId, clientId, deadline } = event;
      return { ...clients, requests: [...clients.requests, { requestId, clientId, deadline }] };
    }
    case "host.answered": {
      const requests = clients.requests.filter(({ requestId }) => requestId !== event.requestId);
      return { ...clients, requests };
    }
    default:
      return clients;
  }
}

function attached(clients: ClientsState, event: ClientAttached, at: number): ClientsState {
  const { clientId, name, mayPrompt = null, mayApprove = null, metadata = {} } = event;
  const before = clients.attached.find((client) => client.clientId === clientId);
  const others = clients.attached.filter((client) => client !== before);
  const client = {
    clientId,
    name,
    attachedAt: before?.attachedAt ?? at,
    lastSeenAt: at,
    mayPrompt,
    mayApprove,
    metadata,
    secretDigest: event.secretDigest ?? before?.secretDigest ?? null,
  };
  return { ...clients, attached: [...others, client] };
}
