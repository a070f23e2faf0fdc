import type { LiveClients } from "../../domain/live-client.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { digestOfText } from "../../platform/digest.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { LiveRequest } from "../../wire/acp/live-requests.ts";

type Accepted = Extract<CommandReply, { readonly status: "accepted" }>;

/** A host's wish about clients as a command. The secret itself goes nowhere. */
export function liveCommand(wanted: Exclude<LiveRequest, { type: "clients" }>): SessionCommand {
  if (wanted.type !== "attach") {
    const { sessionId: _, ...command } = wanted;
    return command;
  }
  const { sessionId: _, secret, ...command } = wanted;
  const bound = secret === undefined ? {} : { secretDigest: digestOfText(secret) };
  return { ...command, name: command.clientId, ...bound };
}

/** Who is attached after a command. One that was sent before, and has had its reply, is told who is now. */
export async function liveAfter(
  { live }: Accepted,
  { sessionId, clientId }: { readonly sessionId: string; readonly clientId: string },
  sessions: Sessions,
): Promise<LiveClients> {
  if (live !== undefined) return live;
  const { clients } = await sessions.peek(sessionId);
  const controller = clients.find(({ mode }) => mode === "controller")?.clientId ?? null;
  const client = clients.find((one) => one.clientId === clientId) ?? null;
  return { client, previousController: controller, controller, clients };
}
