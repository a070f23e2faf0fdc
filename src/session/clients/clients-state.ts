import type { AgentEvent, ClientMode } from "../../domain/agent-event.ts";

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

export function evolveClients(clients: ClientsState, event: AgentEvent, at: number): ClientsState {
  switch (event.type) {
    case "client.attached": {
      const { clientId, name } = event;
      const before = clients.attached.find((client) => client.clientId === clientId);
      const others = clients.attached.filter((client) => client !== before);
      const client = { clientId, name, attachedAt: before?.attachedAt ?? at };
      return { ...clients, attached: [...others, client] };
    }
    case "client.detached": {
      const attached = clients.attached.filter(({ clientId }) => clientId !== event.clientId);
      return { ...clients, attached };
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
