import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Client } from "@modelcontextprotocol/client";
import { untilAborted } from "../../async/pause.ts";
import type { SpanlineError } from "../../domain/errors.ts";
import type { Scrub } from "../../domain/scrubber.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { failureOf, statusOf } from "./failure-of.ts";
import { timesOf, type McpServerSettings } from "./mcp-server-settings.ts";
import { openSse, openStreamable } from "./open-http.ts";
import { openStdio } from "./open-stdio.ts";
import type { OpenedTransport } from "./opened-transport.ts";
import { loadSdk, NO_TIMEOUT, type Sdk } from "./sdk.ts";
import type { Environment } from "../../platform/environment.ts";
import { serverFailure } from "./server-failure.ts";

export interface ConnectWork {
  /** Ours, as servers are told. */
  readonly version: string;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  readonly environment: Environment;
  readonly workingDirectory?: string;
  /** Takes secrets out of what the server says. */
  readonly scrub: Scrub;
  /** The server says that its tools have changed. */
  readonly changed: () => void;
  /** A line of a program's standard output that is no message. */
  readonly junk: (line: string) => void;
}

/** A server that has said hello. */
export interface Connection {
  readonly sdk: Sdk;
  readonly scrub: Scrub;
  readonly client: Client;
  readonly opened: OpenedTransport;
  close(): Promise<void>;
}

/**
 * Connects to a server in the first of the ways in which it is willing. Rejects with the server's failure, and leaves nothing
 * behind then.
 */
export async function connectServer(
  settings: McpServerSettings,
  work: ConnectWork,
): Promise<Connection> {
  const sdk = await loadSdk();
  const [first, ...others] = waysTo(settings, work, sdk);
  let refusal: unknown;
  try {
    if (first !== undefined) return await greet(settings, work, first, sdk);
  } catch (error) {
    refusal = error;
  }
  for (const way of others) {
    if (!way.isWorthIt(refusal)) continue;
    try {
      return await greet(settings, work, way, sdk);
    } catch {
      // What the first way met says most.
    }
  }
  throw failureOf(refusal, settings, { sdk, scrub: work.scrub });
}

interface Way {
  readonly open: () => Promise<OpenedTransport>;
  readonly protocol: "legacy" | "auto";
  /** Whether it may work where the first way met this. */
  readonly isWorthIt: (refusal: unknown) => boolean;
}

/**
 * The handshake of 2025 first, which nearly all servers speak: some end at once when they are asked for anything else. One
 * that knows only what came later says so.
 */
function waysTo(settings: McpServerSettings, work: ConnectWork, sdk: Sdk): readonly Way[] {
  const knowsNoHandshake = (refusal: unknown): boolean =>
    (refusal instanceof sdk.ProtocolError && NO_HANDSHAKE.has(refusal.code)) ||
    (refusal instanceof sdk.SdkHttpError && NO_HANDSHAKE_TEXT.test(String(refusal.data.text)));
  const both = (open: Way["open"]): readonly Way[] => [
    { open, protocol: "legacy", isWorthIt: () => true },
    { open, protocol: "auto", isWorthIt: knowsNoHandshake },
  ];
  if (settings.type === "stdio") return both(() => openStdio(settings, work));
  const http = { sdk, clock: work.clock, scrub: work.scrub };
  const isOlder = (refusal: unknown): boolean => {
    const status = statusOf(refusal, sdk) ?? 0;
    return status >= 400 && status < 500 && status !== 401 && status !== 403;
  };
  const sse: Way = {
    open: async () => openSse(settings, http),
    protocol: "legacy",
    isWorthIt: isOlder,
  };
  return settings.type === "sse"
    ? [sse]
    : [...both(async () => openStreamable(settings, http)), sse];
}

/** The method is not found, or the version is not supported. */
const NO_HANDSHAKE = new Set([-32_601, -32_022]);
const NO_HANDSHAKE_TEXT = /"code"\s*:\s*(?:-32601|-32022)\b/;

async function greet(
  settings: McpServerSettings,
  work: ConnectWork,
  { open, protocol }: Way,
  sdk: Sdk,
): Promise<Connection> {
  const { signal } = work;
  if (signal.aborted) throw notReady(settings);
  const opened = await open();
  const client = newClient(settings, work, sdk, protocol);
  const close = async (): Promise<void> => {
    await opened.close();
    await client.close().catch(() => undefined);
  };
  try {
    await untilAborted(client.connect(opened.transport, { signal, timeout: NO_TIMEOUT }), signal);
    if (client.getProtocolEra() === "modern") listen(client);
    return { sdk, scrub: work.scrub, client, opened, close };
  } catch (error) {
    const { failure } = opened;
    await close();
    if (failure !== undefined && failure.details["problem"] !== "closed") throw failure;
    // Whoever ended it knows whether that was for want of time.
    throw signal.aborted ? notReady(settings, opened.lastWords()) : error;
  }
}

export function notReady(settings: McpServerSettings, words = ""): SpanlineError {
  const seconds = timesOf(settings).connectTimeoutMs / 1000;
  const message = `was not ready within ${seconds} seconds; raise its connectTimeoutMs if it needs longer`;
  return serverFailure(settings.name, "timeout", `${message}${words}`);
}

function newClient(
  settings: McpServerSettings,
  work: ConnectWork,
  sdk: Sdk,
  mode: Way["protocol"],
): Client {
  const roots = rootsFor(settings, work);
  const client = new sdk.Client(
    { name: "spanline", version: work.version },
    {
      // Neither sampling nor elicitation: a server asks nobody but us, and we answer for nobody.
      capabilities: roots.length === 0 ? {} : { roots: {} },
      versionNegotiation: { mode },
    },
  );
  client.setNotificationHandler("notifications/tools/list_changed", () => work.changed());
  if (roots.length > 0) client.setRequestHandler("roots/list", () => ({ roots: [...roots] }));
  return client;
}

/**
 * Only the folders that the settings name. A server may replace the folders of its arguments with the roots of its
 * client, so a root that nobody configured would lift the server's own restriction.
 */
function rootsFor(
  { roots = [] }: McpServerSettings,
  { workingDirectory }: ConnectWork,
): readonly Root[] {
  // A session without a working directory has no folder to offer.
  if (roots === "session" && workingDirectory === undefined) return [];
  const folders = roots === "session" ? ["."] : roots;
  return folders.map((folder) => {
    const path = resolve(workingDirectory ?? ".", folder);
    return { uri: pathToFileURL(path).href, name: basename(path) };
  });
}

interface Root {
  readonly uri: string;
  readonly name: string;
}

/** In the protocol of 2026 a server tells of changes only to those who listen. */
function listen(client: Client): void {
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return;
  // Without it the tools stay as they were first told.
  client.listen({ toolsListChanged: true }, { timeout: NO_TIMEOUT }).catch(() => undefined);
}
