import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Client } from "@modelcontextprotocol/client";
import { waitUnlessAborted } from "../../../async/pause.ts";
import type { SpanlineError } from "../../../domain/errors.ts";
import type { RedactSecrets } from "../../../data/secret-redactor.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import { isFolder } from "../../../platform/files/is-folder.ts";
import { toServerFailure, readHttpStatus } from "./sdk-failure.ts";
import { resolveServerTimes, type McpServerSettings } from "../mcp-server-settings.ts";
import { openSse, openStreamableHttp } from "../transport/http-transport.ts";
import { openStdio } from "../transport/stdio-transport.ts";
import type { McpTransport } from "../transport/mcp-transport.ts";
import { loadSdk, NO_TIMEOUT, type Sdk } from "../mcp-sdk.ts";
import type { Environment } from "../../../platform/environment.ts";
import { createServerFailure } from "./server-failure.ts";

export interface ConnectContext {
  /** Spanline's version, sent to servers. */
  readonly version: string;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  readonly environment: Environment;
  readonly workingDirectory?: string;
  /** Removes secrets from the server's output. */
  readonly scrub: RedactSecrets;
  /** Called when the server reports changed tools. */
  readonly onToolsChanged: () => void;
  /** Receives each line of a program's standard output which is not a message. */
  readonly onJunkLine: (line: string) => void;
}

/** A server after a successful handshake. */
export interface ServerConnection {
  readonly sdk: Sdk;
  readonly scrub: RedactSecrets;
  readonly client: Client;
  readonly transport: McpTransport;
  close(): Promise<void>;
}

/**
 * Connects to a server with the first transport and protocol version it accepts. Rejects with a server failure, after
 * all resources were released.
 */
export async function connectServer(
  settings: McpServerSettings,
  context: ConnectContext,
): Promise<ServerConnection> {
  const sdk = await loadSdk();
  await checkRoots(settings, context);
  const [first, ...others] = listAttempts(settings, context, sdk);
  let refusal: unknown;
  try {
    if (first !== undefined) return await handshake(settings, context, first, sdk);
  } catch (error) {
    refusal = error;
  }
  for (const attempt of others) {
    if (!attempt.shouldTry(refusal)) continue;
    try {
      return await handshake(settings, context, attempt, sdk);
    } catch {
      // The error of the first attempt is the most informative.
    }
  }
  throw toServerFailure(refusal, settings, { sdk, scrub: context.scrub });
}

/** A server may silently ignore a missing root and use the folders of its arguments instead. */
async function checkRoots(
  { name, roots = [] }: McpServerSettings,
  { workingDirectory }: ConnectContext,
): Promise<void> {
  if (roots === "session") return;
  for (const root of roots) {
    const path = resolve(workingDirectory ?? ".", root);
    if (await isFolder(path)) continue;
    throw createServerFailure(
      name,
      "folder-not-found",
      `has the root ${path}, which is not a folder`,
    );
  }
}

interface ConnectAttempt {
  readonly open: () => Promise<McpTransport>;
  readonly protocol: "legacy" | "auto";
  /** Whether this attempt may succeed after the given error of the first attempt. */
  readonly shouldTry: (refusal: unknown) => boolean;
}

/**
 * Tries the 2025 handshake first, which nearly all servers support: some exit on any other request. A server which
 * supports only later versions reports so.
 */
function listAttempts(
  settings: McpServerSettings,
  context: ConnectContext,
  sdk: Sdk,
): readonly ConnectAttempt[] {
  const lacksHandshake = (refusal: unknown): boolean =>
    (refusal instanceof sdk.ProtocolError && NO_HANDSHAKE_CODES.has(refusal.code)) ||
    (refusal instanceof sdk.SdkHttpError && NO_HANDSHAKE_TEXT.test(String(refusal.data.text)));
  const both = (open: ConnectAttempt["open"]): readonly ConnectAttempt[] => [
    { open, protocol: "legacy", shouldTry: () => true },
    { open, protocol: "auto", shouldTry: lacksHandshake },
  ];
  if (settings.type === "stdio") return both(() => openStdio(settings, context));
  const http = { sdk, clock: context.clock, scrub: context.scrub };
  const isLegacyHttp = (refusal: unknown): boolean => {
    const status = readHttpStatus(refusal, sdk) ?? 0;
    return status >= 400 && status < 500 && status !== 401 && status !== 403;
  };
  const sse: ConnectAttempt = {
    open: async () => openSse(settings, http),
    protocol: "legacy",
    shouldTry: isLegacyHttp,
  };
  return settings.type === "sse"
    ? [sse]
    : [...both(async () => openStreamableHttp(settings, http)), sse];
}

/** Method not found, or unsupported protocol version. */
const NO_HANDSHAKE_CODES = new Set([-32_601, -32_022]);
const NO_HANDSHAKE_TEXT = /"code"\s*:\s*(?:-32601|-32022)\b/;

/** Opens a transport and performs the MCP handshake. Closes the transport on failure. */
async function handshake(
  settings: McpServerSettings,
  context: ConnectContext,
  { open, protocol }: ConnectAttempt,
  sdk: Sdk,
): Promise<ServerConnection> {
  const { signal } = context;
  if (signal.aborted) throw createNotReadyFailure(settings);
  const transport = await open();
  const client = createSdkClient(settings, context, sdk, protocol);
  const close = async (): Promise<void> => {
    await transport.close();
    await client.close().catch(() => undefined);
  };
  try {
    await waitUnlessAborted(
      client.connect(transport.transport, { signal, timeout: NO_TIMEOUT }),
      signal,
    );
    if (client.getProtocolEra() === "modern") subscribeToChanges(client);
    return { sdk, scrub: context.scrub, client, transport, close };
  } catch (error) {
    const { failure } = transport;
    await close();
    if (failure !== undefined && failure.details["problem"] !== "closed") throw failure;
    // If the attempt was aborted, its timeout is reported as the reason.
    throw signal.aborted ? createNotReadyFailure(settings, transport.readStderrTail()) : error;
  }
}

export function createNotReadyFailure(settings: McpServerSettings, stderrTail = ""): SpanlineError {
  const seconds = resolveServerTimes(settings).connectTimeoutMs / 1000;
  const message = `was not ready within ${seconds} seconds. Fix: raise its connectTimeoutMs if it needs longer`;
  return createServerFailure(settings.name, "timeout", `${message}${stderrTail}`);
}

function createSdkClient(
  settings: McpServerSettings,
  context: ConnectContext,
  sdk: Sdk,
  mode: ConnectAttempt["protocol"],
): Client {
  const roots = resolveRoots(settings, context);
  const client = new sdk.Client(
    { name: "spanline", version: context.version },
    {
      // Neither sampling nor elicitation is declared: servers cannot request anything from the user or a model.
      capabilities: roots.length === 0 ? {} : { roots: {} },
      versionNegotiation: { mode },
    },
  );
  client.setNotificationHandler("notifications/tools/list_changed", () => context.onToolsChanged());
  if (roots.length > 0) client.setRequestHandler("roots/list", () => ({ roots: [...roots] }));
  return client;
}

/**
 * Only folders named in the settings. A server may replace the folders of its arguments with the client's roots, so an
 * unconfigured root would lift the server's own restriction.
 */
function resolveRoots(
  { roots = [] }: McpServerSettings,
  { workingDirectory }: ConnectContext,
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

/** In the 2026 protocol a server sends changes only to subscribers. */
function subscribeToChanges(client: Client): void {
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return;
  // If the subscription fails, the tools stay as first listed.
  client.listen({ toolsListChanged: true }, { timeout: NO_TIMEOUT }).catch(() => undefined);
}
