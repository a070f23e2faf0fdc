import { SpanlineError } from "../domain/errors.ts";
import { webSocket, type Connect, type Transport } from "../host/index.ts";
import { oneLine } from "../inspect/style.ts";
import { systemClock } from "../platform/clock.ts";
import { packageVersion } from "../platform/package-version.ts";
import { userDirectory } from "../platform/state-directory.ts";
import { agentsFrom, usedConfig, type ConfigFlags } from "./agents-from.ts";
import { dataDirectory } from "./data-directory.ts";
import { reported } from "./reported.ts";

export interface ChatPlaceFlags extends ConfigFlags {
  readonly dataDir?: string;
  readonly url?: string;
  readonly token?: string;
}

/** The way to the sessions. */
export interface ChatPlace {
  readonly connect: Connect | Transport;
  /** Whether the sessions run in this process, and stop with it. */
  readonly isOwner: boolean;
  /** Whether somebody gave a token or a key. */
  readonly hasToken: boolean;
  close(): Promise<void>;
}

export interface PlaceOptions {
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

/** A bridge elsewhere by its address; else the one of this machine, which is joined, or run here. */
export async function chatPlace(flags: ChatPlaceFlags, options: PlaceOptions): Promise<ChatPlace> {
  if (flags.url !== undefined) return bridgeElsewhere(flags.url, flags.token);
  if (flags.token !== undefined) {
    throw new SpanlineError("invalid_option", "--token is for --url; name the address, too");
  }
  return bridgeHere(flags, options);
}

async function bridgeElsewhere(given: string, flag: string | undefined): Promise<ChatPlace> {
  const url = acpAddress(given);
  const token = flag ?? process.env["SPANLINE_TOKEN"];
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { WebSocket } = await import("ws");
  const options = { headers, handshakeTimeout: HANDSHAKE_MS, maxPayload: MOST_BYTES };
  return {
    connect: () => webSocket(new WebSocket(url, options)),
    isOwner: false,
    hasToken: token !== undefined,
    close: async () => {},
  };
}

const HANDSHAKE_MS = 10_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** What a browser shows of a bridge is as good as the address of its WebSocket. */
function acpAddress(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const scheme = SCHEMES.get(url?.protocol ?? "");
  if (url === undefined || scheme === undefined) {
    const message = "url is no address of a bridge; wanted one such as ws://127.0.0.1:4777/acp";
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

/** What the bridge says of its work, for whoever sits here. */
const LOGGED: ReadonlyMap<string, string> = new Map([
  [
    "a session can no longer be followed",
    "Nobody runs this session now, and nothing more is heard of it here. Ctrl-D leaves, and says how to come back.",
  ],
]);

async function bridgeHere(
  flags: ChatPlaceFlags,
  { note, signal }: PlaceOptions,
): Promise<ChatPlace> {
  const notice = (line: string): void => note(oneLine(line));
  const report = (error: unknown): void => note(reported(error).trimEnd());
  const directory = dataDirectory(flags.dataDir, notice);
  // Whoever talks to a bridge elsewhere needs none of it.
  const { openInProcessAcp } = await import("../bridge/in-process-acp.ts");
  const bridge = await openInProcessAcp({
    directory,
    keysDirectory: userDirectory(process.env),
    version: packageVersion(),
    clock: systemClock,
    agents: agentsFrom(flags, { directory, report, notice }),
    ...usedConfig(flags),
    notice,
    report,
    signal,
    // Its facts are for programs; what an error says was reported before.
    log: (message) => note(LOGGED.get(message) ?? `Note: ${oneLine(message)}`),
    waiting: (owner) => {
      const who = owner === undefined ? "Another process" : `Process ${owner.pid}`;
      note(`${who} has ${directory} and does not answer. Waiting for it.`);
    },
  });
  const { isOwner } = bridge;
  return { connect: bridge, isOwner, hasToken: false, close: () => bridge.closed() };
}
