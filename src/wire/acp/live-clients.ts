import type { ClientAttached, ClientDetached, ControlPassed } from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { firstThatFit } from "./fitted.ts";
import { tellVendor, type AcpOutput, type UpdateState } from "./update-state.ts";
import type { LiveClient, VendorFields } from "./vendor-fields.ts";
import { liveSessionClientUpdate } from "./vendor-updates.ts";

type Change = Pick<VendorFields["live_session_client"], "action"> & { readonly clientId: string };

/** Control follows in an event of its own; it is told here already, so that one change is told once. */
export function clientAttached(
  state: UpdateState,
  { clientId, mode, name }: ClientAttached,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { live } = state;
  const before = live.clients.get(clientId);
  live.clients.set(clientId, { name, attachedAt: before?.attachedAt ?? at, seenAt: at });
  const controller = mode === "controller" ? clientId : released(state, clientId);
  tellChange(state, { action: "attach", clientId }, controller, emit);
}

export function clientDetached(
  state: UpdateState,
  { clientId }: ClientDetached,
  emit: Emit<AcpOutput>,
): void {
  if (!state.live.clients.delete(clientId)) return;
  tellChange(state, { action: "detach", clientId }, released(state, clientId), emit);
}

export function controlPassed(
  state: UpdateState,
  { to }: ControlPassed,
  emit: Emit<AcpOutput>,
): void {
  if (to === state.live.controller) return;
  if (to === null) state.live.controller = null;
  else tellChange(state, { action: "takeover", clientId: to }, to, emit);
}

function released({ live }: UpdateState, clientId: string): string | null {
  return live.controller === clientId ? null : live.controller;
}

function tellChange(
  state: UpdateState,
  { action, clientId }: Change,
  controller: string | null,
  emit: Emit<AcpOutput>,
): void {
  const { live, options, profile } = state;
  const previous = live.controller;
  live.controller = controller;
  // Whoever did not ask for this need not hear of itself.
  if (clientId === options.clientId && !profile().isBridgeHost) return;
  const clients = [...live.clients.keys()].flatMap((id) => clientFields(state, id));
  const change = {
    client: clients.find(({ client_id }) => client_id === clientId) ?? null,
    previous_controller_id: previous,
    active_controller_id: controller,
    // There may be a thousand.
    clients: firstThatFit(clients, state.lineBytes / 2),
  };
  tellVendor(state, liveSessionClientUpdate({ action, state: change }), emit);
}

function clientFields({ live }: UpdateState, clientId: string): readonly LiveClient[] {
  const client = live.clients.get(clientId);
  if (client === undefined) return [];
  const isController = live.controller === clientId;
  return [
    {
      client_id: clientId,
      mode: isController ? "controller" : "observer",
      attached_at: seconds(client.attachedAt),
      last_seen_at: seconds(client.seenAt),
      prompt_injection: isController,
      permission_routing: isController,
      metadata: client.name === "" ? {} : { name: client.name },
    },
  ];
}

function seconds(milliseconds: number): string {
  return String(Math.floor(milliseconds / 1000));
}
