import { SpanlineError, toSpanlineError } from "../../../domain/errors.ts";
import { isInjectionChange, NOT_AUTHORIZED } from "../../../domain/pending-injection.ts";
import type { SessionCommand } from "../../../domain/session-command.ts";
import {
  encodePendingInjections,
  encodeSteeringRefusal,
  encodeSteeringResult,
  type SteeringRequest,
} from "../../../wire/acp/decode/steering-messages.ts";
import type { RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "../connection/client-link.ts";
import type { AcpSession } from "./acp-session.ts";
import type { SessionTable } from "./session-table.ts";

interface SteeringContext {
  readonly link: ClientLink;
  readonly table: SessionTable;
}

/** Handles a request about messages and reminders for a running turn. The response does not wait for the delivery. */
export async function handleSteeringRequest(
  request: RpcRequest,
  steering: SteeringRequest,
  context: SteeringContext,
): Promise<void> {
  const { link, table } = context;
  const sessionId = steering.sessionId ?? findOnlySession(table);
  if (steering.type === "pending-injections") {
    await table.find(sessionId);
    const { pendingInjections } = await link.sessions.status(sessionId);
    const result = encodePendingInjections(pendingInjections);
    return link.respond(request, { ok: true, result });
  }
  const { command, commandId, answer } = steering;
  const session = await resumeSession(table, sessionId, command);
  // The client learns the id of a message before the message is delivered.
  const continueFeed = session.pauseFeed();
  try {
    const reply = await session.command(command, commandId);
    if (reply.status === "accepted")
      return link.respond(request, { ok: true, result: encodeSteeringResult(reply, steering) });
    const { failure } = reply;
    if (answer === "status") throw toSpanlineError(failure);
    const { message, details } = failure;
    const result = encodeSteeringRefusal({ reason: details["reason"], message });
    link.respond(request, { ok: true, result });
  } finally {
    continueFeed();
  }
}

/** Joins the session if necessary. A client which may not join it may not change its injections either. */
async function resumeSession(
  table: SessionTable,
  sessionId: string,
  command: SessionCommand,
): Promise<AcpSession> {
  try {
    return await table.resume(sessionId);
  } catch (error) {
    if (!(error instanceof SpanlineError) || error.code !== "access_denied") throw error;
    if (!isInjectionChange(command)) throw error;
    const details = { ...error.details, reason: NOT_AUTHORIZED };
    throw new SpanlineError(error.code, error.message, { details, cause: error });
  }
}

/** Returns the only session of the connection. Throws if there are several: the request could mean any of them. */
export function findOnlySession(table: SessionTable): string {
  const [first, second] = Array.from(table.all(), ([sessionId]) => sessionId);
  if (first !== undefined && second === undefined) return first;
  const found = first === undefined ? "no session" : "several sessions";
  throw new SpanlineError(
    "validation_failed",
    `"sessionId" is missing, and this connection has ${found}. Fix: name the session`,
    { details: { path: "sessionId" } },
  );
}
