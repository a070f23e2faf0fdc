import { toSpanlineError, SpanlineError } from "../../../domain/errors.ts";
import type { ClientStatus } from "../../../domain/live-client.ts";
import type { CommandReply } from "../../../domain/session-command.ts";
import { digestText } from "../../../platform/digest.ts";
import type { Sessions } from "../../../session/sessions.ts";
import {
  encodeClientList,
  encodeLiveClients,
  type LiveClientRequest,
} from "../../../wire/acp/decode/live-client-messages.ts";
import type { RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import type { AcpSession } from "./acp-session.ts";
import type { AttachCommand } from "./client-attachment.ts";
import { GENERATED_NAME_PREFIX, type ClientLink } from "../connection/client-link.ts";
import { findReadOnlyReason } from "./read-only-reason.ts";
import { respondReadOnlyAttach } from "./read-only-sessions.ts";
import type { SessionTable } from "./session-table.ts";

type AcceptedReply = Extract<CommandReply, { readonly status: "accepted" }>;
type ClientChangeRequest = Exclude<LiveClientRequest, { readonly type: "clients" }>;

/** Answers what a host wants about the clients of a session. */
export async function handleLiveClientRequest(
  request: RpcRequest,
  clientRequest: LiveClientRequest,
  { link, table }: { readonly link: ClientLink; readonly table: SessionTable },
): Promise<void> {
  const { sessions } = link;
  const { sessionId } = clientRequest;
  const { seq } = await table.find(sessionId);
  if (clientRequest.type === "clients") {
    const { clients } = await sessions.status(sessionId);
    return link.respond(request, { ok: true, result: encodeClientList(clients) });
  }
  checkClientName(clientRequest, link);
  const session = table.getOrCreate(sessionId);
  const reply = await applyChange(session, clientRequest).catch((error: unknown) => {
    const reason = findReadOnlyReason(error);
    if (reason === undefined || clientRequest.type !== "attach") throw error;
    respondReadOnlyAttach(request, createAttachCommand(clientRequest), { link, reason });
  });
  if (reply === undefined) return;
  if (reply.status === "refused") throw toSpanlineError(reply.failure);
  const result = encodeLiveClients(await readLiveClients(reply, clientRequest, sessions));
  link.respond(request, { ok: true, result });
  // A client that is told of the session already is told on, whatever it is called now.
  if (clientRequest.type !== "attach" || session.isFollowing) return;
  // The history from before the attach can be loaded; the attach itself is told.
  await session.follow({ upTo: seq, history: "hidden" });
}

/** Names that connections are given are theirs: they can be looked up, and nobody is to wait there for their owners. */
function checkClientName({ type, clientId }: ClientChangeRequest, { sender }: ClientLink): void {
  if (
    type !== "attach" ||
    !clientId.startsWith(GENERATED_NAME_PREFIX) ||
    clientId === sender.clientId
  )
    return;
  const message = `Names that begin with "${GENERATED_NAME_PREFIX}" are given by the bridge; choose another "clientId"`;
  throw new SpanlineError("validation_failed", message);
}

function applyChange(
  session: AcpSession,
  clientRequest: ClientChangeRequest,
): Promise<CommandReply> {
  switch (clientRequest.type) {
    case "attach":
      return session.attachAs(createAttachCommand(clientRequest));
    case "heartbeat": {
      const { sessionId: _, ...command } = clientRequest;
      return session.command(command);
    }
    case "detach": {
      const { sessionId: _, secret, ...command } = clientRequest;
      return session.detach({ ...command, ...digestSecret(secret) });
    }
  }
}

/** The secret itself goes nowhere. */
function createAttachCommand(
  attachRequest: Extract<LiveClientRequest, { type: "attach" }>,
): AttachCommand {
  const { sessionId: _, secret, ...command } = attachRequest;
  return { ...command, name: command.clientId, ...digestSecret(secret) };
}

function digestSecret(secret: string | undefined): { readonly secretDigest?: string } {
  return secret === undefined ? {} : { secretDigest: digestText(secret) };
}

/** Who is attached after a command. One that was sent before, and has had its reply, is told who is now. */
async function readLiveClients(
  { clientStatus }: AcceptedReply,
  { sessionId, clientId }: ClientChangeRequest,
  sessions: Sessions,
): Promise<ClientStatus> {
  if (clientStatus !== undefined) return clientStatus;
  const { clients } = await sessions.status(sessionId);
  const controller = clients.find(({ role }) => role === "controller")?.clientId ?? null;
  const client = clients.find((candidate) => candidate.clientId === clientId) ?? null;
  return { client, previousController: controller, controller, clients };
}
