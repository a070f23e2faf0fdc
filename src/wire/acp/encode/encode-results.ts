import { formatIsoTime } from "../../../text/format-iso-time.ts";
import { encodeNotificationLine } from "../../jsonrpc/rpc-line.ts";
import { AUTH_METHODS } from "../auth-methods.ts";
import { PROMPT_CAPABILITIES, METHODS } from "../decode/decode-request.ts";
import type { SettingsResult } from "../decode/session-mode-messages.ts";
import { encodeHarnCapabilities } from "./harn-extensions.ts";
import { encodeCursorMeta } from "./update-cursor.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** The one wire version that we speak, whatever the client asks for: it may leave when it does not. */
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
  };
}

/** Of requests that open a session that the client does not know yet. */
export function encodeNewSessionResult(
  sessionId: string,
  settings: SettingsResult,
  cursor?: string,
): unknown {
  return { sessionId, ...encodeExistingSessionResult(settings, cursor) };
}

/** Of those that take one up. */
export function encodeExistingSessionResult(settings: SettingsResult, cursor?: string): object {
  return { ...settings, ...(cursor !== undefined && encodeCursorMeta(cursor)) };
}

/** Of requests that are answered when they are done, and have nothing more to say. */
export function encodeEmptyResult(): unknown {
  return {};
}

export interface ListedSession {
  readonly sessionId: string;
  readonly workingDirectory: string | null;
  readonly folders: readonly string[];
  readonly title: string | null;
  readonly updatedAt: number;
}

/** Every session has to name a folder there; one that has none works nowhere in particular. */
export function encodeSessionListResult(
  sessions: readonly ListedSession[],
  nextPage?: string,
): unknown {
  return {
    sessions: sessions.map(({ sessionId, workingDirectory, folders, title, updatedAt }) => ({
      sessionId,
      cwd: workingDirectory ?? "/",
      ...(folders.length > 0 && { additionalDirectories: folders }),
      ...(title !== null && { title }),
      updatedAt: formatIsoTime(updatedAt),
    })),
    ...omitUndefined({ nextCursor: nextPage }),
  };
}

/** Tells the client that its answer is no longer wanted. */
export function encodeWithdrawalLine(requestId: string): string {
  return encodeNotificationLine("$/cancel_request", { requestId });
}
