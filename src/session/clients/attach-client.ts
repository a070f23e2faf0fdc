import { BRIDGE_RESTARTED, liveClients } from "../../domain/live-client.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { refused } from "../refused.ts";
import type { Work } from "../work.ts";
import type { Commanded } from "../input.ts";
import { modeOf, type ClientsState } from "./clients-state.ts";

type Of<Type extends SessionCommand["type"]> = Extract<SessionCommand, { readonly type: Type }>;

/** At most one client controls; another takes over only when it says so. */
export function attach(work: Work, command: Of<"attach">, from: Spoken): CommandReply {
  const { clientId, mode, takeOver } = command;
  const { controller, attached } = work.state.clients;
  const before = attached.find((client) => client.clientId === clientId);
  if (!isOwnName(work.state.clients, command, from)) return refused("access_denied", TAKEN);
  const isTaken = controller !== null && controller !== clientId;
  if (mode === "controller" && isTaken && takeOver !== true) {
    return refused("conflict", `Another client controls this session; take over, or observe`);
  }
  if (attached.length >= MAX_CLIENTS && before === undefined) {
    return refused("conflict", `${MAX_CLIENTS} clients are attached already`);
  }
  work.emit({ type: "client.attached", ...factsOf(command) });
  if (mode === "controller" && controller !== clientId) {
    work.emit({ type: "control.passed", from: controller, to: clientId });
  }
  if (mode === "observer" && controller === clientId) {
    work.emit({ type: "control.passed", from: clientId, to: null });
  }
  return accepted(work, clientId, controller);
}

const MAX_CLIENTS = 1000;
const TAKEN =
  "A client of this name is attached; give the secret that it is bound to, or another name";

/**
 * Nobody comes under the name of a client that is there, but itself and who knows its secret; and nobody without the secret
 * under a name that was bound to one, while the client has not come back since the bridge was restarted.
 */
function isOwnName(clients: ClientsState, command: Of<"attach">, from: Spoken): boolean {
  const { clientId, secretDigest, attachmentId } = command;
  const before = clients.attached.find((client) => client.clientId === clientId);
  const bound = before ?? clients.bound.find((client) => client.clientId === clientId);
  if (bound === undefined) return true;
  if (bound.secretDigest !== null && bound.secretDigest === secretDigest) return true;
  if (before === undefined) return false;
  // A stay that is attached again: the link to the owner broke.
  const isSame = attachmentId !== undefined && attachmentId === before.attachmentId;
  return isSame || isOwnStay(clients, from, clientId);
}

/** Whether whoever speaks is the client that is attached under this name, and not one that had the name before. */
export function isOwnStay({ attached }: ClientsState, from: Spoken, clientId: string): boolean {
  if (from.by.clientId !== clientId) return false;
  const client = attached.find((one) => one.clientId === clientId);
  return client === undefined || client.attachmentId === (from.attachmentId ?? null);
}

/** Who speaks, and for which stay. */
type Spoken = Pick<Commanded, "by" | "attachmentId">;

function factsOf(command: Of<"attach">) {
  const { clientId, mode, name, mayPrompt, mayApprove, isStock, metadata } = command;
  const { secretDigest, attachmentId } = command;
  return {
    clientId,
    mode,
    name,
    ...(mayPrompt !== undefined && { mayPrompt }),
    ...(mayApprove !== undefined && { mayApprove }),
    ...(isStock !== undefined && { isStock }),
    ...(metadata !== undefined && { metadata }),
    ...(secretDigest !== undefined && { secretDigest }),
    ...(attachmentId !== undefined && { attachmentId }),
  };
}

export function heartbeat(work: Work, { clientId, metadata }: Of<"heartbeat">): CommandReply {
  const { clients } = work.state;
  if (modeOf(clients, clientId) === undefined) return refused("not_found", ABSENT);
  work.emit({ type: "client.seen", clientId, ...(metadata !== undefined && { metadata }) });
  return accepted(work, clientId, clients.controller);
}

/** What the client was asked for stays open: `take-command.ts` says what becomes of it. */
export function detach(work: Work, command: Of<"detach">): CommandReply {
  const { clientId, reason, attachmentId } = command;
  const { clients } = work.state;
  const client = clients.attached.find((one) => one.clientId === clientId);
  if (client === undefined) return refused("not_found", ABSENT);
  if (attachmentId !== undefined && attachmentId !== client.attachmentId) {
    return refused("not_found", "This client has come back since, by another connection");
  }
  work.emit({ type: "client.detached", clientId, reason });
  if (clients.controller === clientId) {
    work.emit({ type: "control.passed", from: clientId, to: null });
  }
  return accepted(work, clientId, clients.controller);
}

const ABSENT = "This client is not attached";

function accepted(work: Work, clientId: string, previousController: string | null): CommandReply {
  const { clients: state } = work.state;
  const clients = liveClients(state);
  const client = clients.find((one) => one.clientId === clientId) ?? null;
  const { controller } = state;
  return { status: "accepted", live: { client, previousController, controller, clients } };
}

/** Their connections ended with the process that held them. */
export function detachAll(work: Work): void {
  const { attached, controller } = work.state.clients;
  for (const { clientId } of attached) {
    work.emit({ type: "client.detached", clientId, reason: BRIDGE_RESTARTED });
  }
  if (controller !== null) work.emit({ type: "control.passed", from: controller, to: null });
}
