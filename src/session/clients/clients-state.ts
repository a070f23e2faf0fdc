import type { AgentEvent, ClientMode } from "../../domain/agent-event.ts";
import { NOBODY, withClientEvent, type ClientRegistry } from "../../domain/live-client.ts";

/** Who is attached, and what was asked of their machines. */
export interface ClientsState extends ClientRegistry {
  readonly requests: readonly HostRequest[];
}

export interface HostRequest {
  readonly requestId: string;
  readonly clientId: string;
  readonly deadline: number;
}

export const initialClients: ClientsState = { ...NOBODY, requests: [] };

export function modeOf(clients: ClientsState, clientId: string): ClientMode | undefined {
  if (!clients.attached.some((client) => client.clientId === clientId)) return undefined;
  return clients.controller === clientId ? "controller" : "observer";
}

export function evolveClients(clients: ClientsState, event: AgentEvent, at: number): ClientsState {
  switch (event.type) {
    case "client.attached":
    case "client.seen":
    case "client.detached":
    case "control.passed":
      return { ...clients, ...withClientEvent(clients, event, at) };
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
