import { isEmptyEquipment, type BroughtServer } from "../../domain/equipment.ts";
import type { ClientLink } from "./client-link.ts";

/** What the client of a connection brings to one session. */
export interface OwnEquipment {
  /** These servers in place of those before, or the same as before; and the tools of its machine. */
  readonly bring: (servers?: readonly BroughtServer[]) => Promise<void>;
  /** The client comes under another name, or for the first time again. */
  readonly again: () => Promise<void>;
}

export function ownEquipment(sessionId: string, link: ClientLink): OwnEquipment {
  const { sessions, log } = link;
  let servers: readonly BroughtServer[] = [];
  /** Under the name that the client had when it brought something. */
  let broughtAs: string | undefined;

  const bring: OwnEquipment["bring"] = async (given = servers) => {
    servers = given;
    const equipment = { servers, tools: await link.tools() };
    const isSomething = !isEmptyEquipment(equipment);
    if (!isSomething && broughtAs !== link.sender.clientId) return;
    const reply = await sessions.equip(sessionId, equipment, link.sender);
    if (reply.status === "refused") {
      return log("what a client brings was refused", { sessionId, ...reply.failure });
    }
    broughtAs = isSomething ? link.sender.clientId : undefined;
    for (const { code, message } of reply.problems) {
      log("something that a client brings cannot be used", { sessionId, code, message });
    }
  };
  return { bring, again: () => bring() };
}
