import type {
  ClientAttached,
  ClientDetached,
  ClientSeen,
  ControlPassed,
} from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { liveClients, withClientEvent } from "../../domain/live-client.ts";
import { firstThatFit } from "./fitted.ts";
import { clientRow } from "./live-requests.ts";
import { routeQuestions } from "./question-updates.ts";
import { tellVendor, type AcpOutput, type UpdateState } from "./update-state.ts";
import type { VendorFields } from "./vendor-fields.ts";
import { liveSessionClientUpdate } from "./vendor-updates.ts";

type Change = Pick<VendorFields["live_session_client"], "action" | "clientId" | "reason">;
type ClientEvent = ClientAttached | ClientSeen | ClientDetached | ControlPassed;

/** Control follows in an event of its own; it is told here already, so that one change is told once. */
export function clientAttached(
  state: UpdateState,
  event: ClientAttached,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { clientId, mode, attachmentId } = event;
  if (attachmentId !== undefined && state.options.isOwnStay?.(attachmentId) === true) {
    state.clientId = clientId;
  }
  const { controller: before } = state.live;
  const controller = mode === "controller" ? clientId : released(before, clientId);
  take(state, event, at);
  passControl(state, controller, at);
  const isTakeover = before !== null && controller === clientId && before !== clientId;
  tellChange(state, { action: isTakeover ? "takeover" : "attached", clientId }, before, emit);
  routeQuestions(state, emit);
}

export function clientSeen(
  state: UpdateState,
  event: ClientSeen,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  take(state, event, at);
  const change = { action: "heartbeat", clientId: event.clientId } as const;
  tellChange(state, change, state.live.controller, emit);
}

export function clientDetached(
  state: UpdateState,
  event: ClientDetached,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { clientId, reason } = event;
  const { controller: before, attached } = state.live;
  if (!attached.some((client) => client.clientId === clientId)) return;
  take(state, event, at);
  passControl(state, released(before, clientId), at);
  tellChange(state, { action: "detached", clientId, reason }, before, emit);
  // A client that is about to attach again is not sent the requests of others meanwhile.
  if (isAttached(state)) routeQuestions(state, emit);
}

function isAttached({ live, clientId: name }: UpdateState): boolean {
  return live.attached.some(({ clientId }) => clientId === name);
}

export function controlPassed(
  state: UpdateState,
  event: ControlPassed,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { controller: before } = state.live;
  if (event.to === before) return;
  take(state, event, at);
  if (event.to !== null)
    tellChange(state, { action: "takeover", clientId: event.to }, before, emit);
  routeQuestions(state, emit);
}

function take(state: UpdateState, event: ClientEvent, at: number): void {
  state.live = withClientEvent(state.live, event, at);
}

function passControl(state: UpdateState, to: string | null, at: number): void {
  const { controller: from } = state.live;
  if (to !== from) take(state, { type: "control.passed", from, to }, at);
}

function released(controller: string | null, clientId: string): string | null {
  return controller === clientId ? null : controller;
}

function tellChange(
  state: UpdateState,
  change: Change,
  previous: string | null,
  emit: Emit<AcpOutput>,
): void {
  const { live, profile } = state;
  const { clientId } = change;
  // Whoever did not ask for this need not hear of itself.
  if (clientId === state.clientId && !profile().isBridgeHost) return;
  const clients = liveClients(live).map(clientRow);
  const now = {
    client: clients.find(({ client_id }) => client_id === clientId) ?? null,
    previous_controller_id: previous,
    active_controller_id: live.controller,
    // There may be a thousand.
    clients: firstThatFit(clients, state.lineBytes / 2),
  };
  tellVendor(state, liveSessionClientUpdate({ ...change, state: now }), emit);
}
