import { isObject } from "../../domain/json.ts";
import { LINE_BYTES } from "./fitted.ts";
import { MAX_LINE_BYTES } from "../jsonrpc/rpc-connection.ts";

/** What a client can take, as it said at `initialize`. */
export interface ClientProfile {
  /** Knows the Harn bridge: it is sent the bridge's own updates, and what stands under `_meta.harn` of messages. */
  readonly isBridgeHost: boolean;
  /**
   * Is sent those updates as notifications `_harn/agentEvent`. For a host on an SDK that throws away updates which it does
   * not know; one that did not ask may have an SDK that complains of notifications which nobody handles.
   */
  readonly takesEvents: boolean;
  /** Has tools of its own, and says which when it is asked. */
  readonly hasTools: boolean;
  /** Runs each call of them once, and says again what came of it when it is asked again. */
  readonly knowsCalls: boolean;
  /** Says which shells its machine has, and which its user chose. */
  readonly hasShells: boolean;
  readonly readsFiles: boolean;
  readonly writesFiles: boolean;
  readonly runsTerminals: boolean;
  /** Shows the output of commands in a terminal of its own making, fed through `_meta`. */
  readonly showsTerminalOutput: boolean;
  readonly takesNotices: boolean;
  /** The longest line that the client says it reads, in bytes. Absent if it does not say. */
  readonly maxLineBytes?: number;
}

/**
 * Which updates a client is sent: those that it says it knows, or, by a setting for clients that cannot say it, the bridge's
 * own among them, or those of ACP alone.
 */
export type UpdatesSetting = "auto" | "bridge" | "standard";

/** Whoever says nothing. */
export const STOCK_CLIENT: ClientProfile = {
  isBridgeHost: false,
  takesEvents: false,
  hasTools: false,
  knowsCalls: false,
  hasShells: false,
  readsFiles: false,
  writesFiles: false,
  runsTerminals: false,
  showsTerminalOutput: false,
  takesNotices: false,
};

/** Reads `clientCapabilities`. What is missing, or not of its kind, is not offered. */
export function clientProfile(capabilities: unknown): ClientProfile {
  const given = fieldsOf(capabilities);
  const meta = fieldsOf(given["_meta"]);
  const bridge = fieldsOf(meta["harn"]);
  const files = fieldsOf(given["fs"]);
  const session = fieldsOf(given["session"]);
  return {
    isBridgeHost: isOffered(meta["harn"]),
    takesEvents: isOffered(bridge["agentEvents"]),
    hasTools: isOffered(bridge["hostTools"]) || isOffered(bridge["tools"]),
    knowsCalls: isOffered(bridge["callRecords"]),
    hasShells: isOffered(bridge["shells"]),
    readsFiles: files["readTextFile"] === true,
    writesFiles: files["writeTextFile"] === true,
    runsTerminals: isOffered(given["terminal"]),
    showsTerminalOutput: meta["terminal_output"] === true,
    takesNotices: isOffered(session["notices"]),
    ...lineLimit(bridge["maxLineBytes"]),
  };
}

/**
 * The longest line that a client reads. A host of the bridge reads lines as long as the bridge does; some ACP clients
 * stop at 64 KiB.
 */
export function lineLimitOf(
  { isBridgeHost, maxLineBytes }: ClientProfile,
  standardBytes = LINE_BYTES,
): number {
  return maxLineBytes ?? (isBridgeHost ? MAX_LINE_BYTES : standardBytes);
}

function lineLimit(bytes: unknown): Pick<ClientProfile, "maxLineBytes"> {
  if (typeof bytes !== "number" || !(bytes > 0)) return {};
  return { maxLineBytes: Math.min(Math.max(bytes, MIN_LINE_BYTES), MAX_LINE_BYTES) };
}

/** A request without arguments takes up to half of this. */
const MIN_LINE_BYTES = 16 * 1024;

/** A client that turns out to know the bridge, by what it asks for, is no stock client any more. */
export function withUpdates(
  profile: ClientProfile,
  setting: UpdatesSetting,
  asksForBridge = false,
): ClientProfile {
  switch (setting) {
    case "auto":
      return asksForBridge ? { ...profile, isBridgeHost: true } : profile;
    case "bridge":
      return { ...profile, isBridgeHost: true };
    case "standard":
      return { ...profile, isBridgeHost: false, takesEvents: false };
  }
}

/** ACP marks what is there by an object, in older places by `true`. */
function isOffered(value: unknown): boolean {
  return value === true || isObject(value);
}

function fieldsOf(value: unknown): { readonly [key: string]: unknown } {
  return isObject(value) ? value : {};
}
