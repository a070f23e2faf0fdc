import type { Failure } from "../../../domain/errors.ts";
import type { LiveClient } from "../../../domain/live-client.ts";
import {
  encodeReadOnlyAttachResult,
  encodeReadOnlyNotice,
  encodeReadOnlyResult,
} from "../../../wire/acp/encode/encode-results.ts";
import type { RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "../connection/client-link.ts";
import type { AttachCommand } from "./client-attachment.ts";
import type { SessionEntry } from "./find-session.ts";
import { findReadOnlyReason } from "./read-only-reason.ts";
import type { FollowOptions } from "./session-feed.ts";
import type { SessionTable } from "./session-table.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

interface ReadOnlySetup {
  readonly link: ClientLink;
  readonly table: SessionTable;
  readonly entry: Pick<SessionEntry, "sessionId" | "seq">;
  readonly reason: Failure;
}

/** Sends the readable part of the history of a read-only session, then the result. */
export async function followReadOnly(
  request: RpcRequest,
  { history, from }: Pick<FollowOptions, "history" | "from">,
  { link, table, entry, reason }: ReadOnlySetup,
): Promise<void> {
  const { sessionId, seq: upTo } = entry;
  const respond = (): void => respondReadOnly(request, sessionId, { link, reason });
  const options = { upTo, history, ...omitUndefined({ from }) };
  try {
    await table.getOrCreate(sessionId).follow({ ...options, onCaughtUp: respond });
  } catch (error) {
    if (findReadOnlyReason(error) === undefined) throw error;
    respond();
  }
}

export function respondReadOnly(
  request: RpcRequest,
  sessionId: string,
  { link, reason }: Pick<ReadOnlySetup, "link" | "reason">,
): void {
  for (const update of encodeReadOnlyNotice(String(request.id), reason)) {
    link.sendUpdate(sessionId, update);
  }
  link.respond(request, { ok: true, result: encodeReadOnlyResult(reason) });
}

/** A host that attaches to a read-only session observes the session; the log does not record the attach. */
export function respondReadOnlyAttach(
  request: RpcRequest,
  { clientId, name, metadata = {} }: Pick<AttachCommand, "clientId" | "name" | "metadata">,
  { link, reason }: Pick<ReadOnlySetup, "link" | "reason">,
): void {
  const now = link.clock.now();
  const client: LiveClient = {
    clientId,
    name,
    role: "observer",
    attachedAt: now,
    lastSeenAt: now,
    mayPrompt: false,
    mayApprove: false,
    metadata,
  };
  link.respond(request, { ok: true, result: encodeReadOnlyAttachResult(client, reason) });
}
