import { SpanlineError } from "../../domain/errors.ts";
import { connectWebSocket, type Connect, type Transport } from "../../host/index.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import { readPackageVersion } from "../../platform/package-version.ts";
import { resolveUserDirectory } from "../../platform/files/state-directory.ts";
import {
  createAgentsStarter,
  selectConfig,
  type ConfigFlags,
} from "../shared/flags/config-flags.ts";
import { resolveDataDirectory } from "../shared/flags/resolve-data-directory.ts";
import { formatErrorChain } from "../shared/error-chain.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface ChatConnectionFlags extends ConfigFlags {
  readonly dataDir?: string;
  readonly url?: string;
  readonly token?: string;
}

/** The connection of a chat to its sessions. */
export interface ChatConnection {
  readonly connect: Connect | Transport;
  /** True if the sessions run in this process and stop with it. */
  readonly isOwner: boolean;
  /**
   * Throws `not_found` if no agent has this name. Undefined for a remote bridge, which checks the name in
   * `session/new`.
   */
  readonly checkAgent?: (name: string) => void;
  /** True if the user provided a token or a key. */
  readonly hasToken: boolean;
  close(): Promise<void>;
}

export interface ChatConnectionOptions {
  readonly io: CommandIo;
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Connects to a remote bridge by URL, or joins or runs the local bridge. */
export async function openChatConnection(
  flags: ChatConnectionFlags,
  options: ChatConnectionOptions,
): Promise<ChatConnection> {
  if (flags.url !== undefined)
    return connectToUrl(flags.url, flags.token ?? options.io.env["SPANLINE_TOKEN"]);
  if (flags.token !== undefined) {
    throw new SpanlineError("invalid_option", "--token requires --url. Fix: add --url");
  }
  return connectLocally(flags, options);
}

async function connectToUrl(address: string, token: string | undefined): Promise<ChatConnection> {
  const url = parseAcpUrl(address);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { WebSocket } = await import("ws");
  const options = { headers, handshakeTimeout: HANDSHAKE_MS, maxPayload: MAX_MESSAGE_BYTES };
  return {
    connect: () => connectWebSocket(new WebSocket(url, options)),
    isOwner: false,
    hasToken: token !== undefined,
    close: async () => {},
  };
}

const HANDSHAKE_MS = 10_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Also accepts the HTTP address of a bridge as shown in a browser. */
function parseAcpUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const scheme = SCHEMES.get(url?.protocol ?? "");
  if (url === undefined || scheme === undefined) {
    const message =
      "url is not the address of a bridge: expected one such as ws://127.0.0.1:4777/acp";
    throw new SpanlineError("invalid_option", message, { details: { path: "url" } });
  }
  url.protocol = scheme;
  if (url.pathname === "/") url.pathname = "/acp";
  return url;
}

const SCHEMES: ReadonlyMap<string, string> = new Map([
  ["ws:", "ws:"],
  ["wss:", "wss:"],
  ["http:", "ws:"],
  ["https:", "wss:"],
]);

/** Replaces log messages of the bridge by texts for the user. */
const LOG_MESSAGES: ReadonlyMap<string, string> = new Map([
  [
    "a session can no longer be followed",
    "No process runs this session now, so no further updates arrive. Ctrl-D leaves and prints how to come back.",
  ],
]);

async function connectLocally(
  flags: ChatConnectionFlags,
  { io, note, signal }: ChatConnectionOptions,
): Promise<ChatConnection> {
  const notice = (line: string): void => note(toSingleLine(line));
  const report = (error: unknown): void => note(formatErrorChain(error).trimEnd());
  const directory = resolveDataDirectory(flags.dataDir, io, notice);
  // Loaded only for a local bridge.
  const { openInProcessAcp } = await import("../../bridge/serve/in-process-acp.ts");
  const bridge = await openInProcessAcp({
    directory,
    keysDirectory: resolveUserDirectory(io.env),
    version: readPackageVersion(),
    clock: systemClock,
    agents: createAgentsStarter(flags, { io, directory, report, notice }),
    ...selectConfig(flags, io),
    notice,
    report,
    signal,
    // The fields of a log entry are for programs. Errors were already reported.
    log: (message) => note(LOG_MESSAGES.get(message) ?? `Note: ${toSingleLine(message)}`),
    onWaiting: (owner) => {
      const ownerName = owner === undefined ? "Another process" : `Process ${owner.pid}`;
      note(`${ownerName} owns ${directory} and does not respond. Waiting for it.`);
    },
  });
  const { isOwner, checkAgent } = bridge;
  return {
    connect: bridge,
    isOwner,
    checkAgent,
    hasToken: false,
    close: () => bridge.whenClosed(),
  };
}
