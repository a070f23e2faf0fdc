import type { LiveClient } from "../../../domain/live-client.ts";
import type { SessionView } from "../../state/session-view.ts";
import type { Participant } from "../send-modes.ts";

/** An attached client as a row. */
export interface PresenceRow {
  readonly clientId: string;
  readonly name: string;
  readonly isSelf: boolean;
  readonly isController: boolean;
  /** The role and the rights in words. */
  readonly role: string;
}

/** Lists the clients: the controller first, then this page, then the others by the time of their attachment. */
export function listPresence(
  { clients, controller }: Pick<SessionView, "clients" | "controller">,
  ownClientId: string | null,
): readonly PresenceRow[] {
  const rank = ({ clientId }: LiveClient): number => {
    if (clientId === controller) return 0;
    return clientId === ownClientId ? 1 : 2;
  };
  return [...clients]
    .sort((left, right) => rank(left) - rank(right) || left.attachedAt - right.attachedAt)
    .map((client) => ({
      clientId: client.clientId,
      name: client.name,
      isSelf: client.clientId === ownClientId,
      isController: client.clientId === controller,
      role: describeRole(client, controller),
    }));
}

function describeRole(client: LiveClient, controller: string | null): string {
  const { clientId, mayPrompt, mayApprove } = client;
  if (clientId === controller) return "Controller: prompts and decides";
  if (mayPrompt && mayApprove) return "Observer that may prompt and decide";
  if (mayPrompt) return "Observer that may prompt";
  return mayApprove ? "Observer that may decide" : "Observer: watches";
}

/** The text of the button: the name of the controller. */
export function summarizePresence(
  { clients, controller }: Pick<SessionView, "clients" | "controller">,
  ownClientId: string | null,
): string {
  if (controller !== null && controller === ownClientId) return "You control";
  const name = clients.find(({ clientId }) => clientId === controller)?.name;
  return name === undefined ? "No controller" : `${name} controls`;
}

export type ControlChange = "take" | "release";

/** Returns whether the button takes or releases control, and the reason why the button is disabled. */
export function resolveControl(
  { controller }: Pick<SessionView, "controller">,
  { rights, isConnected, clientId }: Participant,
): { readonly change: ControlChange; readonly disabledReason?: string } {
  const change = controller !== null && controller === clientId ? "release" : "take";
  if (!rights.includes("control"))
    return { change, disabledReason: "Your key does not have the right to control" };
  if (!isConnected) return { change, disabledReason: "The portal is disconnected" };
  return { change };
}
