import { BRIDGE_RESTARTED, listLiveClients } from "../../domain/live-client.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { refuse } from "../refuse-command.ts";
import type { Decision } from "../decision.ts";
import type { CommandInput } from "../session-input.ts";
import { findRole, type ClientsState } from "./clients-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

type ClientCommand<Type extends SessionCommand["type"]> = Extract<
  SessionCommand,
  { readonly type: Type }
>;

/** Attaches a client. At most one client is the controller; another takes over only with `takeOver`. */
export function attachClient(
  decision: Decision,
  command: ClientCommand<"attach">,
  sender: AttachmentSender,
): CommandReply {
  const { clientId, mode, takeOver } = command;
  const { controller, attached } = decision.state.clients;
  const previous = attached.find((client) => client.clientId === clientId);
  if (!mayUseName(decision.state.clients, command, sender))
    return refuse("access_denied", NAME_TAKEN);
  const isControlled = controller !== null && controller !== clientId;
  if (mode === "controller" && isControlled && takeOver !== true) {
    return refuse("conflict", `Another client controls this session; take over, or observe`);
  }
  if (attached.length >= MAX_CLIENTS && previous === undefined) {
    return refuse("conflict", `${MAX_CLIENTS} clients are attached already`);
  }
  decision.emit({ type: "client.attached", ...toAttachedFields(command) });
  if (mode === "controller" && controller !== clientId) {
    decision.emit({ type: "controller.changed", from: controller, to: clientId });
  }
  if (mode === "observer" && controller === clientId) {
    decision.emit({ type: "controller.changed", from: clientId, to: null });
  }
  return createAcceptedReply(decision, clientId, controller);
}

const MAX_CLIENTS = 1000;
const NAME_TAKEN = "A client with this id is attached. Fix: send its secret, or use another id";

/**
 * Whether the sender may attach under this client id. An id in use is open only to the same attachment and to a sender
 * with its secret. An id bound to a secret stays reserved after a bridge restart until its client returns.
 */
function mayUseName(
  clients: ClientsState,
  command: ClientCommand<"attach">,
  sender: AttachmentSender,
): boolean {
  const { clientId, secretDigest, attachmentId } = command;
  const previous = clients.attached.find((client) => client.clientId === clientId);
  const bound = previous ?? clients.reservedNames.find((client) => client.clientId === clientId);
  if (bound === undefined) return true;
  if (bound.secretDigest !== null && bound.secretDigest === secretDigest) return true;
  if (previous === undefined) return false;
  // The same attachment again, after the connection to the owner broke.
  const isSame = attachmentId !== undefined && attachmentId === previous.attachmentId;
  return isSame || isSameAttachment(clients, sender, clientId);
}

/** Whether the sender is the client attached under this id, not an earlier one with the same id. */
export function isSameAttachment(
  { attached }: ClientsState,
  sender: AttachmentSender,
  clientId: string,
): boolean {
  if (sender.actor.clientId !== clientId) return false;
  const client = attached.find((attachedClient) => attachedClient.clientId === clientId);
  return client === undefined || client.attachmentId === (sender.attachmentId ?? null);
}

/** The sender of a command, with its attachment. */
type AttachmentSender = Pick<CommandInput, "actor" | "attachmentId">;

function toAttachedFields(command: ClientCommand<"attach">) {
  const { clientId, mode, name, mayPrompt, mayApprove, isStock, metadata } = command;
  const { secretDigest, attachmentId } = command;
  return {
    clientId,
    mode,
    name,
    ...omitUndefined({ mayPrompt, mayApprove, isStock, metadata, secretDigest, attachmentId }),
  };
}

export function recordHeartbeat(
  decision: Decision,
  { clientId, metadata }: ClientCommand<"heartbeat">,
): CommandReply {
  const { clients } = decision.state;
  if (findRole(clients, clientId) === undefined) return refuse("not_found", NOT_ATTACHED);
  decision.emit({
    type: "client.heartbeat",
    clientId,
    ...omitUndefined({ metadata }),
  });
  return createAcceptedReply(decision, clientId, clients.controller);
}

/** Detaches a client. Its open host requests are handled in `apply-command.ts`. */
export function detachClient(
  decision: Decision,
  command: ClientCommand<"detach">,
  sender: AttachmentSender,
): CommandReply {
  const { clientId, reason, attachmentId, secretDigest } = command;
  const { clients } = decision.state;
  const client = clients.attached.find((attachedClient) => attachedClient.clientId === clientId);
  if (client === undefined) return refuse("not_found", NOT_ATTACHED);
  if (attachmentId !== undefined && attachmentId !== client.attachmentId) {
    return refuse("not_found", "This client has attached again over another connection");
  }
  const isBound = client.secretDigest !== null && client.secretDigest !== secretDigest;
  if (isBound && clients.controller === clientId && !isSameAttachment(clients, sender, clientId)) {
    return refuse("access_denied", CONTROLLER_BOUND);
  }
  decision.emit({ type: "client.detached", clientId, reason });
  if (clients.controller === clientId) {
    decision.emit({ type: "controller.changed", from: clientId, to: null });
  }
  return createAcceptedReply(decision, clientId, clients.controller);
}

const CONTROLLER_BOUND =
  "The controller is bound to a secret: another client can detach it only with that secret. Fix: send the secret, or take over first";
const NOT_ATTACHED = "This client is not attached";

function createAcceptedReply(
  decision: Decision,
  clientId: string,
  previousController: string | null,
): CommandReply {
  const { clients: state } = decision.state;
  const clients = listLiveClients(state);
  const client = clients.find((liveClient) => liveClient.clientId === clientId) ?? null;
  const { controller } = state;
  return { status: "accepted", clientStatus: { client, previousController, controller, clients } };
}

/** Detaches every client: their connections ended with the process which held them. */
export function detachAllClients(decision: Decision): void {
  const { attached, controller } = decision.state.clients;
  for (const { clientId } of attached) {
    decision.emit({ type: "client.detached", clientId, reason: BRIDGE_RESTARTED });
  }
  if (controller !== null)
    decision.emit({ type: "controller.changed", from: controller, to: null });
}
