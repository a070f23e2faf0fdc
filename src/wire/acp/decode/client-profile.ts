import { isObject } from "../../../data/json.ts";
import { DEFAULT_LINE_BYTES } from "../fit-json.ts";
import { MAX_LINE_BYTES } from "../../jsonrpc/rpc-connection.ts";

/** What a client can take, as it said at `initialize`. */
export interface ClientProfile {
  /** Knows the Harn bridge: it is sent the bridge's own updates, and what stands under `_meta.harn` of messages. */
  readonly isBridgeHost: boolean;
  /**
   * Whether it uses the bridge protocol, whichever updates it is sent: it says so at `initialize`, a setting says so, or it has
   * called a method of the bridge. Any other client is a stock client.
   */
  readonly usesBridge: boolean;
  /**
   * Is sent those updates as notifications `_harn/agentEvent`. For a host on an SDK that throws away updates which it does
   * not know; one that did not ask may have an SDK that complains of notifications which nobody handles.
   */
  readonly acceptsEvents: boolean;
  /** Has tools of its own, and says which when it is asked. */
  readonly hasTools: boolean;
  /** Runs each call of them once, and says again what came of it when it is asked again. */
  readonly recognizesToolCalls: boolean;
  /** Says which shells its machine has, and which its user chose. */
  readonly hasShells: boolean;
  readonly readsFiles: boolean;
  readonly writesFiles: boolean;
  readonly runsTerminals: boolean;
  /** Shows the output of commands in a terminal of its own making, fed through `_meta`. */
  readonly showsTerminalOutput: boolean;
  readonly acceptsNotices: boolean;
  /** The longest line that the client says it reads, in bytes. Absent if it does not say. */
  readonly maxLineBytes?: number;
}

/**
 * What a client is sent. `auto`: what it says it knows. `bridge`: everything of the bridge protocol, for hosts that cannot say
 * so. `standard`: only what ACP defines.
 */
export type UpdatesSetting = (typeof UPDATES_SETTINGS)[number];
export const UPDATES_SETTINGS = ["auto", "bridge", "standard"] as const;

/** Whoever says nothing. */
export const STOCK_CLIENT: ClientProfile = {
  isBridgeHost: false,
  usesBridge: false,
  acceptsEvents: false,
  hasTools: false,
  recognizesToolCalls: false,
  hasShells: false,
  readsFiles: false,
  writesFiles: false,
  runsTerminals: false,
  showsTerminalOutput: false,
  acceptsNotices: false,
};

/** Reads `clientCapabilities`. What is missing, or not of its kind, is not offered. */
export function readClientProfile(capabilities: unknown): ClientProfile {
  const capabilityFields = toFields(capabilities);
  const meta = toFields(capabilityFields["_meta"]);
  const bridge = toFields(meta["harn"]);
  const files = toFields(capabilityFields["fs"]);
  const session = toFields(capabilityFields["session"]);
  return {
    isBridgeHost: isOffered(meta["harn"]),
    usesBridge: isOffered(meta["harn"]),
    acceptsEvents: isOffered(bridge["agentEvents"]),
    hasTools: isOffered(bridge["hostTools"]) || isOffered(bridge["tools"]),
    recognizesToolCalls: isOffered(bridge["callRecords"]),
    hasShells: isOffered(bridge["shells"]),
    readsFiles: files["readTextFile"] === true,
    writesFiles: files["writeTextFile"] === true,
    runsTerminals: isOffered(capabilityFields["terminal"]),
    showsTerminalOutput: meta["terminal_output"] === true,
    acceptsNotices: isOffered(session["notices"]),
    ...readLineLimit(bridge["maxLineBytes"]),
  };
}

/**
 * The longest line that a client reads. A host of the bridge reads lines as long as the bridge does; some ACP clients
 * stop at 64 KiB.
 */
export function resolveLineLimit(
  { isBridgeHost, maxLineBytes }: ClientProfile,
  standardBytes = DEFAULT_LINE_BYTES,
): number {
  return maxLineBytes ?? (isBridgeHost ? MAX_LINE_BYTES : standardBytes);
}

function readLineLimit(bytes: unknown): Pick<ClientProfile, "maxLineBytes"> {
  if (typeof bytes !== "number" || !(bytes > 0)) return {};
  return { maxLineBytes: Math.min(Math.max(bytes, MIN_LINE_BYTES), MAX_LINE_BYTES) };
}

/** A request without arguments takes up to half of this. */
const MIN_LINE_BYTES = 16 * 1024;

/**
 * The profile of a client with a setting. A host that is known only by the setting, or by the methods that it calls, cannot
 * say what it has: it gets everything of the bridge protocol, and is asked for its tools and shells.
 */
export function applyUpdatesSetting(
  declared: ClientProfile,
  setting: UpdatesSetting,
  callsBridge = false,
): ClientProfile {
  const usesBridge = declared.usesBridge || callsBridge || setting === "bridge";
  if (setting === "standard")
    return { ...declared, usesBridge, isBridgeHost: false, acceptsEvents: false };
  const isUnsaid = setting === "bridge" || (callsBridge && !declared.usesBridge);
  return isUnsaid ? { ...declared, ...EVERYTHING } : declared;
}

const EVERYTHING = {
  isBridgeHost: true,
  usesBridge: true,
  hasTools: true,
  hasShells: true,
} as const satisfies Partial<ClientProfile>;

/** ACP marks what is there by an object, in older places by `true`. */
function isOffered(value: unknown): boolean {
  return value === true || isObject(value);
}

function toFields(value: unknown): { readonly [key: string]: unknown } {
  return isObject(value) ? value : {};
}
