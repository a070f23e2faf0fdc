import type { CommandReply } from "../../domain/session-command.ts";
import type { ClientLink } from "./client-link.ts";

/** Makes a client known to a session: as its controller, or beside the one that there is. */
export async function attachClient(sessionId: string, link: ClientLink): Promise<CommandReply> {
  const { sessions, sender } = link;
  const { clientId } = sender;
  // Also beside another that controls it asks and answers for itself, as far as its principal may.
  const own = { mayPrompt: true, mayApprove: true };
  const attach = { type: "attach", clientId, name: link.name(), ...own } as const;
  if (sender.principal.rights.includes("control")) {
    const reply = await sessions.command(sessionId, { ...attach, mode: "controller" }, sender);
    if (reply.status === "accepted") return reply;
  }
  return sessions.command(sessionId, { ...attach, mode: "observer" }, sender);
}
