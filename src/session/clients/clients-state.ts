import type { ClientEvent, ClientRole } from "../../domain/events/client-events.ts";
import {
  BRIDGE_RESTARTED,
  NO_CLIENTS,
  evolveClientRegistry,
  type ClientRegistry,
} from "../../domain/live-client.ts";

/** Attached clients, and open requests to their machines. */
export interface ClientsState extends ClientRegistry {
  readonly requests: readonly HostRequest[];
  /** Client ids reserved for clients with a secret, disconnected by a restart. */
  readonly reservedNames: readonly ReservedName[];
}

export interface ReservedName {
  readonly clientId: string;
  readonly secretDigest: string | null;
}

export interface HostRequest {
  readonly requestId: string;
  readonly clientId: string;
  readonly deadline: number;
  /** The tool call of the request. Absent unless the client's own tool is called. */
  readonly toolCallId?: string;
}

export const initialClients: ClientsState = { ...NO_CLIENTS, requests: [], reservedNames: [] };

export function findRole(clients: ClientsState, clientId: string): ClientRole | undefined {
  if (!clients.attached.some((client) => client.clientId === clientId)) return undefined;
  return clients.controller === clientId ? "controller" : "observer";
}

function evolveReservedNames(
  { attached, reservedNames }: ClientsState,
  event: ClientEvent,
): readonly ReservedName[] {
  if (event.type !== "client.attached" && event.type !== "client.detached") return reservedNames;
  const { clientId } = event;
  const others = reservedNames.filter((name) => name.clientId !== clientId);
  if (event.type === "client.attached" || event.reason !== BRIDGE_RESTARTED) return others;
  const secretDigest =
    attached.find((attachedClient) => attachedClient.clientId === clientId)?.secretDigest ?? null;
  return secretDigest === null
    ? others
    : [...others, { clientId, secretDigest }].slice(-MAX_RESERVED_NAMES);
}

const MAX_RESERVED_NAMES = 100;

export function evolveClients(clients: ClientsState, event: ClientEvent, at: number): ClientsState {
  switch (event.type) {
    case "client.attached":
    case "client.heartbeat":
    case "client.detached":
    case "controller.changed":
      return {
        ...clients,
        ...evolveClientRegistry(clients, event, at),
        reservedNames: evolveReservedNames(clients, event),
      };
    case "host.requested": {
      const { requestId, clientId, kind, payload, deadline } = event;
      const { toolCallId } = payload;
      const isCall = kind === "tool" || kind === "skill";
      const call = isCall && typeof toolCallId === "string" ? { toolCallId } : {};
      const request = { requestId, clientId, deadline, ...call };
      return { ...clients, requests: [...clients.requests, request] };
    }
    case "host.replied": {
      const requests = clients.requests.filter(({ requestId }) => requestId !== event.requestId);
      return { ...clients, requests };
    }
    default:
      return clients;
  }
}
