import type {
  ClientAttached,
  ClientDetached,
  ClientHeartbeat,
  ControllerChanged,
} from "../../../domain/events/client-events.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { listLiveClients, evolveClientRegistry } from "../../../domain/live-client.ts";
import { takeFitting } from "../fit-json.ts";
import { encodeClient } from "../decode/live-client-messages.ts";
import { routeQuestions } from "./permissions/approval-updates.ts";
import { emitVendorUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";
import type { VendorFields } from "./vendor-fields.ts";
import { encodeLiveSessionClient } from "./vendor-updates.ts";

type ClientChange = Pick<VendorFields["live_session_client"], "action" | "clientId" | "reason">;
type ClientEvent = ClientAttached | ClientHeartbeat | ClientDetached | ControllerChanged;

/**
 * The log has a separate `controller.changed` event after this event. The controller is applied here already, so that
 * an attach with takeover is sent as a single update.
 */
export function encodeClientAttached(
  state: UpdateState,
  event: ClientAttached,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { clientId, mode, attachmentId } = event;
  if (attachmentId !== undefined && state.options.isOwnAttachment?.(attachmentId) === true) {
    state.clientId = clientId;
  }
  const { controller: previousController } = state.clients;
  const controller =
    mode === "controller" ? clientId : releaseController(previousController, clientId);
  applyClientEvent(state, event, at);
  setController(state, controller, at);
  const isTakeover =
    previousController !== null && controller === clientId && previousController !== clientId;
  emitClientChange(
    state,
    { action: isTakeover ? "takeover" : "attached", clientId },
    previousController,
    emit,
  );
  routeQuestions(state, emit);
}

export function encodeClientHeartbeat(
  state: UpdateState,
  event: ClientHeartbeat,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  applyClientEvent(state, event, at);
  const change = { action: "heartbeat", clientId: event.clientId } as const;
  emitClientChange(state, change, state.clients.controller, emit);
}

export function encodeClientDetached(
  state: UpdateState,
  event: ClientDetached,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { clientId, reason } = event;
  const { controller: previousController, attached } = state.clients;
  if (!attached.some((client) => client.clientId === clientId)) return;
  applyClientEvent(state, event, at);
  setController(state, releaseController(previousController, clientId), at);
  emitClientChange(state, { action: "detached", clientId, reason }, previousController, emit);
  // A client that is about to attach again must not receive other clients' permission requests meanwhile.
  if (isAttached(state)) routeQuestions(state, emit);
}

function isAttached({ clients: live, clientId: name }: UpdateState): boolean {
  return live.attached.some(({ clientId }) => clientId === name);
}

export function encodeControllerChanged(
  state: UpdateState,
  event: ControllerChanged,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { controller: previousController } = state.clients;
  if (event.to === previousController) return;
  applyClientEvent(state, event, at);
  if (event.to !== null)
    emitClientChange(state, { action: "takeover", clientId: event.to }, previousController, emit);
  routeQuestions(state, emit);
}

function applyClientEvent(state: UpdateState, event: ClientEvent, at: number): void {
  state.clients = evolveClientRegistry(state.clients, event, at);
}

function setController(state: UpdateState, controller: string | null, at: number): void {
  const { controller: from } = state.clients;
  if (controller !== from)
    applyClientEvent(state, { type: "controller.changed", from, to: controller }, at);
}

function releaseController(controller: string | null, clientId: string): string | null {
  return controller === clientId ? null : controller;
}

function emitClientChange(
  state: UpdateState,
  change: ClientChange,
  previous: string | null,
  emit: Emit<AcpOutput>,
): void {
  const { clients: live, getProfile } = state;
  const { clientId } = change;
  // A stock client did not attach explicitly, so updates about its own attachment are not sent.
  if (clientId === state.clientId && !getProfile().isBridgeHost) return;
  const clients = listLiveClients(live).map(encodeClient);
  const now = {
    client: clients.find(({ client_id }) => client_id === clientId) ?? null,
    previous_controller_id: previous,
    active_controller_id: live.controller,
    // A session may have a thousand clients.
    clients: takeFitting(clients, state.lineBytes / 2),
  };
  emitVendorUpdate(state, encodeLiveSessionClient({ ...change, state: now }), emit);
}
