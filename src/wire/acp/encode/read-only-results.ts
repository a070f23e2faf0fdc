import type { Failure } from "../../../domain/errors.ts";
import type { LiveClient } from "../../../domain/live-client.ts";
import { createCommandReply } from "../decode/slash-command.ts";
import { encodeLiveClients } from "../decode/live-client-messages.ts";
import type { ChunkUpdate } from "./acp-session-update.ts";

/** Encodes the result of opening a read-only session. The result has no modes, because the mode cannot be changed. */
export function encodeReadOnlyResult({ code, message }: Failure): object {
  return { _meta: { harn: { readOnly: { code, message } } } };
}

/** Encodes the result of `session/attach` for a read-only session: the client is its only observer. */
export function encodeReadOnlyAttachResult(client: LiveClient, reason: Failure): object {
  const status = { client, previousController: null, controller: null, clients: [client] };
  return { ...encodeLiveClients(status), ...encodeReadOnlyResult(reason) };
}

/** Encodes the reason as a message, for clients that do not display the result. */
export function encodeReadOnlyNotice(
  requestId: string,
  { message }: Failure,
): readonly ChunkUpdate[] {
  return createCommandReply(
    requestId,
    `This session is read-only: prompts are refused. ${message}`,
  );
}
