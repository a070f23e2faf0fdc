import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { refused } from "../refused.ts";
import type { Work } from "../work.ts";
import { modeOf } from "./clients-state.ts";
import { dropRequests } from "./host-requests.ts";

type Of<Type extends SessionCommand["type"]> = Extract<SessionCommand, { readonly type: Type }>;

/** At most one client controls; another takes over only when it says so. */
export function attach(work: Work, { clientId, mode, name, takeOver }: Of<"attach">): CommandReply {
  const { controller } = work.state.clients;
  const isTaken = controller !== null && controller !== clientId;
  if (mode === "controller" && isTaken && takeOver !== true) {
    return refused("conflict", `Another client controls this session; take over, or observe`);
  }
  if (
    work.state.clients.attached.length >= MAX_CLIENTS &&
    modeOf(work.state.clients, clientId) === undefined
  ) {
    return refused("conflict", `${MAX_CLIENTS} clients are attached already`);
  }
  work.emit({ type: "client.attached", clientId, mode, name });
  if (mode === "controller" && controller !== clientId) {
    work.emit({ type: "control.passed", from: controller, to: clientId });
  }
  if (mode === "observer" && controller === clientId) {
    work.emit({ type: "control.passed", from: clientId, to: null });
  }
  return { status: "accepted" };
}

const MAX_CLIENTS = 1000;

export function detach(work: Work, { clientId, reason }: Of<"detach">): CommandReply {
  const { clients } = work.state;
  if (modeOf(clients, clientId) === undefined) {
    return refused("not_found", "This client is not attached");
  }
  work.emit({ type: "client.detached", clientId, reason });
  if (clients.controller === clientId) {
    work.emit({ type: "control.passed", from: clientId, to: null });
  }
  dropRequests(work, (request) => request.clientId === clientId);
  return { status: "accepted" };
}

/** Their connections ended with the process that held them. */
export function detachAll(work: Work): void {
  const { attached, controller } = work.state.clients;
  for (const { clientId } of attached) {
    work.emit({ type: "client.detached", clientId, reason: "bridge_restarted" });
  }
  if (controller !== null) work.emit({ type: "control.passed", from: controller, to: null });
}
