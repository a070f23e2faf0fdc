import { isObject } from "../../../data/json.ts";
import { DEFAULT_LINE_BYTES } from "../fit-json.ts";
import { MAX_LINE_BYTES } from "../../jsonrpc/rpc-connection.ts";

/** The capabilities of a client, as declared at `initialize`. */
export interface ClientProfile {
  /** The client receives vendor updates and the fields under `_meta.harn`. */
  readonly isBridgeHost: boolean;
  /**
   * The client uses the bridge protocol, whichever updates it receives: declared at `initialize`, set by the
   * configuration, or detected when the client calls a bridge method. Any other client is a stock client.
   */
  readonly usesBridge: boolean;
  /**
   * The client receives vendor updates as `_harn/agentEvent` notifications. Meant for hosts whose SDK drops unknown
   * updates. Opt-in, because other SDKs report an error for each notification without a handler.
   */
  readonly acceptsEvents: boolean;
  /** The client offers host tools and returns their list on request. */
  readonly hasTools: boolean;
  /** The client runs each host tool call once: a repeated request with the same id returns the stored result. */
  readonly recognizesToolCalls: boolean;
  /** The client lists the shells of its machine and the user's default shell. */
  readonly hasShells: boolean;
  /** The client offers skills, returns their list on request, and fetches a skill by its id. */
  readonly hasSkills: boolean;
  readonly readsFiles: boolean;
  readonly writesFiles: boolean;
  readonly runsTerminals: boolean;
  /** The client displays command output in a terminal view, fed through `_meta`. */
  readonly showsTerminalOutput: boolean;
  readonly acceptsNotices: boolean;
  /** The client shows compactions (`compaction_update`, which ACP defines after v0.12.2). */
  readonly showsCompactions: boolean;
  /** The client shows forms (`elicitation/create` in form mode). */
  readonly showsForms: boolean;
  /** The longest line that the client reads, in bytes. Undefined if the client does not declare a limit. */
  readonly maxLineBytes?: number;
}

/**
 * Which updates a client receives. `auto`: according to the declared capabilities. `bridge`: the whole bridge protocol,
 * for hosts without a way to declare it. `standard`: only updates defined by ACP.
 */
export type UpdatesSetting = (typeof UPDATES_SETTINGS)[number];
export const UPDATES_SETTINGS = ["auto", "bridge", "standard"] as const;

/** A client without declared capabilities. */
export const STOCK_CLIENT: ClientProfile = {
  isBridgeHost: false,
  usesBridge: false,
  acceptsEvents: false,
  hasTools: false,
  recognizesToolCalls: false,
  hasShells: false,
  hasSkills: false,
  readsFiles: false,
  writesFiles: false,
  runsTerminals: false,
  showsTerminalOutput: false,
  acceptsNotices: false,
  showsCompactions: false,
  showsForms: false,
};

/** Reads `clientCapabilities`. A missing or malformed capability counts as not offered. */
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
    hasSkills: isOffered(bridge["skills"]),
    readsFiles: files["readTextFile"] === true,
    writesFiles: files["writeTextFile"] === true,
    runsTerminals: isOffered(capabilityFields["terminal"]),
    showsTerminalOutput: meta["terminal_output"] === true,
    acceptsNotices: isOffered(session["notices"]),
    showsCompactions: isOffered(session["compaction"]),
    showsForms: isOffered(toFields(capabilityFields["elicitation"])["form"]),
    ...readLineLimit(bridge["maxLineBytes"]),
  };
}

/**
 * Returns the longest line that a client reads, in bytes. Bridge hosts read lines up to the bridge's own limit; some
 * ACP clients stop at 64 KiB.
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

/** Lower limit for `maxLineBytes`. A permission request without its arguments needs up to half of this limit. */
const MIN_LINE_BYTES = 16 * 1024;

/**
 * Applies the setting to the declared profile. A host known only through the setting or its method calls cannot declare
 * its capabilities, so it receives the whole bridge protocol and is asked for its tools, shells and skills.
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
  hasSkills: true,
} as const satisfies Partial<ClientProfile>;

/** ACP marks a capability with an object, in older fields with `true`. */
function isOffered(value: unknown): boolean {
  return value === true || isObject(value);
}

function toFields(value: unknown): { readonly [key: string]: unknown } {
  return isObject(value) ? value : {};
}
