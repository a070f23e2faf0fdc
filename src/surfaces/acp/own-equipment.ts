import { isEmptyEquipment, type BroughtServer, type EditorOffer } from "../../domain/equipment.ts";
import { STOCK_CLIENT } from "../../wire/acp/client-profile.ts";
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
    const editor = await editorOffer(link);
    const { tools, problems } = await link.tools();
    const equipment = {
      servers,
      tools,
      ...(problems.length > 0 && { toolProblems: problems }),
      ...(link.profile().knowsCalls && { knowsCalls: true }),
      ...(editor !== undefined && { editor }),
    };
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

/** What the client's editor does for the tools of a workspace: its files, if they are this machine's, and its shells. */
async function editorOffer(link: ClientLink): Promise<EditorOffer | undefined> {
  if (!link.sender.principal.rights.includes("control")) return undefined;
  const { readsFiles, writesFiles, runsTerminals } = link.isHere ? link.profile() : STOCK_CLIENT;
  const shells = await link.shells();
  if (!readsFiles && !writesFiles && !runsTerminals && shells === undefined) return undefined;
  return { readsFiles, writesFiles, runsTerminals, ...(shells !== undefined && { shells }) };
}
