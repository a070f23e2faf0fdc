import { errorFrom, SpanlineError } from "../../domain/errors.ts";
import type { LiveClients } from "../../domain/live-client.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import { digestOfText } from "../../platform/digest.ts";
import type { Sessions } from "../../session/sessions.ts";
import { clientsAnswer, liveAnswer, type LiveRequest } from "../../wire/acp/live-requests.ts";
import type { RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import type { AcpSession } from "./acp-session.ts";
import type { AttachCommand } from "./client-attachment.ts";
import { GIVEN_NAME, type ClientLink } from "./client-link.ts";
import type { SessionTable } from "./session-table.ts";

type Accepted = Extract<CommandReply, { readonly status: "accepted" }>;
type Changing = Exclude<LiveRequest, { readonly type: "clients" }>;

/** Answers what a host wants about the clients of a session. */
export async function answerLive(
  request: RpcRequest,
  wanted: LiveRequest,
  { link, table }: { readonly link: ClientLink; readonly table: SessionTable },
): Promise<void> {
  const { sessions } = link;
  const { sessionId } = wanted;
  const { seq } = await table.find(sessionId);
  if (wanted.type === "clients") {
    const { clients } = await sessions.peek(sessionId);
    return link.answer(request, { ok: true, result: clientsAnswer(clients) });
  }
  checkName(wanted, link);
  const session = table.session(sessionId);
  const reply = await change(session, wanted);
  if (reply.status === "refused") throw errorFrom(reply.failure);
  const result = liveAnswer(await liveAfter(reply, wanted, sessions));
  link.answer(request, { ok: true, result });
  // A client that is told of the session already is told on, whatever it is called now.
  if (wanted.type !== "attach" || session.isFollowed) return;
  // The history from before the attach can be loaded; the attach itself is told.
  await session.follow({ upTo: seq, history: "hidden" });
}

/** Names that connections are given are theirs: they can be looked up, and nobody is to wait there for their owners. */
function checkName({ type, clientId }: Changing, { sender }: ClientLink): void {
  if (type !== "attach" || !clientId.startsWith(GIVEN_NAME) || clientId === sender.clientId) return;
  const message = `Names that begin with "${GIVEN_NAME}" are given by the bridge; choose another "clientId"`;
  throw new SpanlineError("validation_failed", message);
}

function change(session: AcpSession, wanted: Changing): Promise<CommandReply> {
  switch (wanted.type) {
    case "attach":
      return session.attachAs(attachCommand(wanted));
    case "heartbeat": {
      const { sessionId: _, ...command } = wanted;
      return session.command(command);
    }
    case "detach": {
      const { sessionId: _, ...command } = wanted;
      return session.detach(command);
    }
  }
}

/** The secret itself goes nowhere. */
function attachCommand(wanted: Extract<LiveRequest, { type: "attach" }>): AttachCommand {
  const { sessionId: _, secret, ...command } = wanted;
  const bound = secret === undefined ? {} : { secretDigest: digestOfText(secret) };
  return { ...command, name: command.clientId, ...bound };
}

/** Who is attached after a command. One that was sent before, and has had its reply, is told who is now. */
async function liveAfter(
  { live }: Accepted,
  { sessionId, clientId }: Changing,
  sessions: Sessions,
): Promise<LiveClients> {
  if (live !== undefined) return live;
  const { clients } = await sessions.peek(sessionId);
  const controller = clients.find(({ mode }) => mode === "controller")?.clientId ?? null;
  const client = clients.find((one) => one.clientId === clientId) ?? null;
  return { client, previousController: controller, controller, clients };
}
