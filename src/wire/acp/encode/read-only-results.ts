import type { Failure } from "../../../domain/errors.ts";
import type { LiveClient } from "../../../domain/live-client.ts";
import { createCommandReply } from "../decode/slash-command.ts";
import { encodeLiveClients } from "../decode/live-client-messages.ts";
import type { ChunkUpdate } from "./acp-session-update.ts";

/** The result of a request that opens a session that can only be read. It has no modes: none can be set. */
export function encodeReadOnlyResult({ code, message }: Failure): object {
  return { _meta: { harn: { readOnly: { code, message } } } };
}

/** The result of `session/attach` for such a session: the client is its only observer. */
export function encodeReadOnlyAttachResult(client: LiveClient, reason: Failure): object {
  const status = { client, previousController: null, controller: null, clients: [client] };
  return { ...encodeLiveClients(status), ...encodeReadOnlyResult(reason) };
}

/** The reason as a message, for clients that show nothing of a result. */
export function encodeReadOnlyNotice(
  requestId: string,
  { message }: Failure,
): readonly ChunkUpdate[] {
  return createCommandReply(
    requestId,
    `This session is open for reading only, and prompts are refused. ${message}`,
  );
}
