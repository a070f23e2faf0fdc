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
import { checkCursor, type SessionEntry } from "./find-session.ts";
import { findReadOnlyReason } from "./read-only-reason.ts";
import { respondReadOnlyAttach } from "./read-only-sessions.ts";
import type { SessionTable } from "./session-table.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

type AcceptedReply = Extract<CommandReply, { readonly status: "accepted" }>;
type AttachRequest = Extract<LiveClientRequest, { readonly type: "attach" }>;
type ClientChangeRequest = Exclude<LiveClientRequest, { readonly type: "clients" }>;

/** Handles a host's requests about the clients of a session: attach, detach, heartbeat and list. */
export async function handleLiveClientRequest(
  request: RpcRequest,
  clientRequest: LiveClientRequest,
  { link, table }: { readonly link: ClientLink; readonly table: SessionTable },
): Promise<void> {
  const { sessions } = link;
  const { sessionId } = clientRequest;
  const entry = await table.find(sessionId);
  if (clientRequest.type === "clients") {
    const { clients } = await sessions.status(sessionId);
    return link.respond(request, { ok: true, result: encodeClientList(clients) });
  }
  checkClientName(clientRequest, link);
  if (clientRequest.type === "attach")
    return attachClient(request, clientRequest, { link, table, entry });
  const reply = await applyChange(table.getOrCreate(sessionId), clientRequest);
  await respondWithClients(request, clientRequest, { link, reply });
}

interface AttachContext {
  readonly link: ClientLink;
  readonly table: SessionTable;
  readonly entry: SessionEntry;
}

/** The response precedes the updates about the attachment, also if the client follows the session already. */
async function attachClient(
  request: RpcRequest,
  attachRequest: AttachRequest,
  { link, table, entry }: AttachContext,
): Promise<void> {
  const { sessionId, seq: upTo } = entry;
  const { from } = attachRequest;
  const session = table.getOrCreate(sessionId);
  if (from !== undefined) await checkCursor(link.sessions, entry, from);
  const unpause = session.pauseFeed();
  try {
    const reply = await session.attachAs(createAttachCommand(attachRequest));
    await respondWithClients(request, attachRequest, { link, reply });
  } catch (error) {
    const reason = findReadOnlyReason(error);
    if (reason === undefined) throw error;
    return respondReadOnlyAttach(request, createAttachCommand(attachRequest), { link, reason });
  } finally {
    unpause();
  }
  // The feed of a client that follows the session continues, also under a new client id.
  if (session.isFollowing) return;
  // Without a cursor, the client receives its attach and all later events; the history can be loaded.
  await session.follow({ upTo, history: "hidden", ...omitUndefined({ from }) });
}

async function respondWithClients(
  request: RpcRequest,
  clientRequest: ClientChangeRequest,
  { link, reply }: { readonly link: ClientLink; readonly reply: CommandReply },
): Promise<void> {
  if (reply.status === "refused") throw toSpanlineError(reply.failure);
  const clients = await readLiveClients(reply, clientRequest, link.sessions);
  link.respond(request, { ok: true, result: encodeLiveClients(clients) });
}

/**
 * Generated client ids are reserved for their connections. Other clients can see them in the client list, and must not
 * attach under the id a connection will use.
 */
function checkClientName({ type, clientId }: ClientChangeRequest, { sender }: ClientLink): void {
  if (
    type !== "attach" ||
    !clientId.startsWith(GENERATED_NAME_PREFIX) ||
    clientId === sender.clientId
  )
    return;
  const message = `Names starting with "${GENERATED_NAME_PREFIX}" are reserved for the bridge. Fix: choose another "clientId"`;
  throw new SpanlineError("validation_failed", message);
}

function applyChange(
  session: AcpSession,
  clientRequest: Exclude<ClientChangeRequest, AttachRequest>,
): Promise<CommandReply> {
  switch (clientRequest.type) {
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

/** Only the digest of the secret is passed on. */
function createAttachCommand(attachRequest: AttachRequest): AttachCommand {
  const { sessionId: _, secret, from: __, ...command } = attachRequest;
  return { ...command, name: command.clientId, ...digestSecret(secret) };
}

function digestSecret(secret: string | undefined): { readonly secretDigest?: string } {
  return secret === undefined ? {} : { secretDigest: digestText(secret) };
}

/**
 * The attached clients after a command. The reply to a repeated command has no client status, so the current clients
 * are read.
 */
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
