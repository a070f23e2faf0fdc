import type { AgentEvent, ClientMode } from "../../domain/agent-event.ts";
import {
  BRIDGE_RESTARTED,
  NOBODY,
  withClientEvent,
  type ClientRegistry,
} from "../../domain/live-client.ts";

/** Who is attached, and what was asked of their machines. */
export interface ClientsState extends ClientRegistry {
  readonly requests: readonly HostRequest[];
  /** Names that are kept for clients which a restart cut off, and which know their secrets. */
  readonly bound: readonly BoundName[];
}

export interface BoundName {
  readonly clientId: string;
  readonly secretDigest: string | null;
}

export interface HostRequest {
  readonly requestId: string;
  readonly clientId: string;
  readonly deadline: number;
  /** The call of a tool that it is for, where it is one of the client's own tools. */
  readonly toolCallId?: string;
}

export const initialClients: ClientsState = { ...NOBODY, requests: [], bound: [] };

export function modeOf(clients: ClientsState, clientId: string): ClientMode | undefined {
  if (!clients.attached.some((client) => client.clientId === clientId)) return undefined;
  return clients.controller === clientId ? "controller" : "observer";
}

type ClientEvent = Extract<
  AgentEvent,
  { readonly type: "client.attached" | "client.seen" | "client.detached" | "control.passed" }
>;

function boundNames({ attached, bound }: ClientsState, event: ClientEvent): readonly BoundName[] {
  if (event.type !== "client.attached" && event.type !== "client.detached") return bound;
  const { clientId } = event;
  const others = bound.filter((name) => name.clientId !== clientId);
  if (event.type === "client.attached" || event.reason !== BRIDGE_RESTARTED) return others;
  const secretDigest = attached.find((one) => one.clientId === clientId)?.secretDigest ?? null;
  return secretDigest === null
    ? others
    : [...others, { clientId, secretDigest }].slice(-MOST_BOUND);
}

const MOST_BOUND = 100;

export function evolveClients(clients: ClientsState, event: AgentEvent, at: number): ClientsState {
  switch (event.type) {
    case "client.attached":
    case "client.seen":
    case "client.detached":
    case "control.passed":
      return {
        ...clients,
        ...withClientEvent(clients, event, at),
        bound: boundNames(clients, event),
      };
    case "host.requested": {
      const { requestId, clientId, kind, payload, deadline } = event;
      const { toolCallId } = payload;
      const call = kind === "tool" && typeof toolCallId === "string" ? { toolCallId } : {};
      const request = { requestId, clientId, deadline, ...call };
      return { ...clients, requests: [...clients.requests, request] };
    }
    case "host.answered": {
      const requests = clients.requests.filter(({ requestId }) => requestId !== event.requestId);
      return { ...clients, requests };
    }
    default:
      return clients;
  }
}
