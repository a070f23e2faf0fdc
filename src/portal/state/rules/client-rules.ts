import { silentGroup } from "../../../domain/event-rules.ts";
import type { ClientEvent } from "../../../domain/events/client-events.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { evolveClientRegistry, listLiveClients } from "../../../domain/live-client.ts";
import type { ViewDraft } from "../view-draft.ts";
import type { ViewRules } from "../view-rules.ts";

export const CLIENT_RULES: ViewRules<ClientEvent> = {
  "client.attached": updateClients,
  "client.heartbeat": updateClients,
  "client.detached": updateClients,
  "controller.changed": updateClients,
  ...silentGroup("the tool call shows its progress", ["host.requested", "host.replied"]),
};

function updateClients(draft: ViewDraft, event: ClientEvent, { at }: Envelope): void {
  const clients = evolveClientRegistry(draft.view.facts.clients, event, at);
  draft.setFacts({ clients });
  draft.view.clients = listLiveClients(clients);
  draft.view.controller = clients.controller;
}
