import { formatIsoTime } from "../../../text/format-iso-time.ts";
import { encodeNotificationLine } from "../../jsonrpc/rpc-line.ts";
import { AUTH_METHODS } from "../auth-methods.ts";
import { METHODS, STEERING_METHOD } from "../decode/decode-request.ts";
import { PROMPT_CAPABILITIES } from "../decode/prompt-content.ts";
import type { SettingsResult } from "../decode/session-mode-messages.ts";
import { encodeHarnCapabilities } from "./harn-extensions.ts";
import { encodeCursorMeta } from "./update-cursor.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { Failure } from "../../../domain/errors.ts";
import type { LiveClient } from "../../../domain/live-client.ts";
import { createCommandReply } from "../decode/slash-command.ts";
import { encodeLiveClients } from "../decode/live-client-messages.ts";
import type { ChunkUpdate } from "./acp-session-update.ts";

/**
 * The only supported protocol version, sent whatever version the client requests. A client without support for this
 * version disconnects.
 */
const PROTOCOL_VERSION = 1;

export function encodeInitializeResult(version: string): unknown {
  const offered = [...METHODS.values()].flatMap((method) => method.capability ?? []);
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "spanline", title: "Spanline", version },
    agentCapabilities: {
      loadSession: offered.includes("loadSession"),
      promptCapabilities: PROMPT_CAPABILITIES,
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: {
        ...Object.fromEntries(
          offered.flatMap((method) => (method === "loadSession" ? [] : [[method.session, {}]])),
        ),
        additionalDirectories: {},
      },
      _meta: encodeHarnCapabilities(),
    },
    authMethods: AUTH_METHODS,
    _meta: { steering: { supported: METHODS.has(STEERING_METHOD) } },
  };
}

/** Encodes the result of requests that create a session, which includes the new session id. */
export function encodeNewSessionResult(
  sessionId: string,
  settings: SettingsResult,
  cursor?: string,
): unknown {
  return { sessionId, ...encodeExistingSessionResult(settings, cursor) };
}

/** Encodes the result of requests that open an existing session. */
export function encodeExistingSessionResult(settings: SettingsResult, cursor?: string): object {
  return { ...settings, ...(cursor !== undefined && encodeCursorMeta(cursor)) };
}

/** Encodes the result of requests that return no data. */
export function encodeEmptyResult(): unknown {
  return {};
}

export interface ListedSession {
  readonly sessionId: string;
  readonly workingDirectory: string | null;
  readonly folders: readonly string[];
  readonly title: string | null;
  readonly updatedAt: number;
  readonly state: "idle" | "running" | "waiting";
}

/**
 * Encodes a page of sessions. ACP requires `cwd`, so a session without a working directory reports "/". ACP has no field
 * for the state, so the state is in `_meta.harn`.
 */
export function encodeSessionListResult(
  sessions: readonly ListedSession[],
  nextPage?: string,
): unknown {
  return {
    sessions: sessions.map(({ sessionId, workingDirectory, folders, title, updatedAt, state }) => ({
      sessionId,
      cwd: workingDirectory ?? "/",
      ...(folders.length > 0 && { additionalDirectories: folders }),
      ...(title !== null && { title }),
      updatedAt: formatIsoTime(updatedAt),
      _meta: { harn: { state } },
    })),
    ...omitUndefined({ nextCursor: nextPage }),
  };
}

/** Encodes the cancellation of a request to the client, whose response is no longer needed. */
export function encodeWithdrawalLine(requestId: string): string {
  return encodeNotificationLine("$/cancel_request", { requestId });
}

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
