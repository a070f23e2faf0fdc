import { pause } from "../../async/pause.ts";
import type { ClientMcpServer, ClientTools } from "../../domain/client-tools.ts";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import type {
  ClientToolsLocation,
  OpenedClientTools,
} from "../../session/runtime/agent/session-client-tools.ts";
import type { McpServerSettings } from "../../tools/mcp/mcp-server-settings.ts";
import { toServerPrefix } from "../../tools/mcp/model-name.ts";
import type {
  McpServers,
  openMcpServers as OpenMcpServers,
} from "../../tools/mcp/open-mcp-servers.ts";
import { readMcpServers } from "../../config/agent/read-mcp-servers.ts";
import { createHostTools } from "./create-host-tools.ts";

export interface ClientToolsContext {
  /** Spanline's version, sent to MCP servers. */
  readonly version: string;
  readonly clock: SteadyClock;
  readonly environment: Environment;
  /** Receives errors of a server after its start. */
  readonly report: (error: unknown) => void;
}

/**
 * Connects to the MCP servers of a client and creates tools for its host tools. Unusable servers and tools are returned
 * as problems.
 */
export async function openClientTools(
  { servers, tools, toolProblems = [], recognizesToolCalls = false }: ClientTools,
  place: ClientToolsLocation,
  context: ClientToolsContext,
): Promise<OpenedClientTools> {
  const host = createHostTools(tools, {
    clientId: place.clientId,
    knowsCalls: recognizesToolCalls,
  });
  const usable = selectUsableServers(servers);
  const problems = [...toolProblems, ...host.problems, ...usable.problems];
  if (usable.servers.length === 0) {
    return { listTools: () => host.tools, problems, close: () => Promise.resolve() };
  }
  const connected = await connectServers(usable.servers, place, context);
  return {
    listTools: () => [...connected.listTools(), ...host.tools],
    problems: [...problems, ...connected.problems],
    close: connected.close,
  };
}

interface UsableServers {
  readonly servers: readonly McpServerSettings[];
  readonly problems: readonly Failure[];
}

/** Validates each server separately, so an invalid server does not affect the others. */
function selectUsableServers(providedServers: readonly ClientMcpServer[]): UsableServers {
  const servers = new Map<string, McpServerSettings>();
  const problems: Failure[] = [];
  for (const server of providedServers) {
    try {
      const [settings] = readMcpServers([server]);
      if (settings === undefined) continue;
      const part = toServerPrefix(settings.name);
      const existing = servers.get(part);
      if (existing !== undefined) throw duplicateNameError(settings.name, existing.name);
      servers.set(part, settings);
    } catch (error) {
      if (!(error instanceof SpanlineError)) throw error;
      problems.push(error.toFailure());
    }
  }
  return { servers: [...servers.values()], problems };
}

function duplicateNameError(name: string, other: string): SpanlineError {
  const message = `The MCP server ${name} is ignored: its tools would have the same names as the tools of ${other}. Fix: rename one of the servers`;
  return new SpanlineError("invalid_option", message, { details: { path: "mcpServers" } });
}

/**
 * Connects to the servers with a time limit, because the client waits for its session. Tools of slower servers are
 * added later.
 */
async function connectServers(
  servers: readonly McpServerSettings[],
  place: ClientToolsLocation,
  context: ClientToolsContext,
): Promise<OpenedClientTools> {
  const { openMcpServers } = await import("../../tools/mcp/open-mcp-servers.ts");
  const { signal } = place;
  const work = { ...context, ...place };
  const opening = servers.map((one) => openServer(one, work, openMcpServers));
  const waiting = new AbortController();
  const late = pause(context.clock, SETUP_TIMEOUT_MS, AbortSignal.any([signal, waiting.signal]));
  const all = Promise.all(opening.map(({ tried }) => tried));
  await Promise.race([all, late.catch(() => undefined)]);
  waiting.abort();
  return {
    listTools: () => opening.flatMap((one) => one.tools()),
    problems: opening.flatMap((one) => one.answer()),
    close: async () => void (await Promise.all(opening.map((one) => one.close()))),
  };
}

/** Milliseconds. Editors time out after half a minute, and the agent's own servers must connect in this time, too. */
const SETUP_TIMEOUT_MS = 8000;

/** Connects to one server, independently of the others. */
function openServer(
  server: McpServerSettings,
  { report, onChange, ...work }: ClientToolsLocation & ClientToolsContext,
  open: typeof OpenMcpServers,
) {
  const problems: Failure[] = [];
  let opened: McpServers | undefined;
  let isAnswered = false;
  const notifyChange = (): void => {
    if (isAnswered && opened !== undefined) onChange();
  };
  const tried = open([server], {
    ...work,
    onToolsChanged: notifyChange,
    report(failure) {
      if (!isAnswered) problems.push(failure.toFailure());
      report(failure);
    },
  }).then((servers) => {
    opened = servers;
    notifyChange();
    return servers;
  });
  return {
    tried,
    tools: () => opened?.tools() ?? [],
    /**
     * Returns the problems so far. Later problems are reported, and tools of later connections are announced as a
     * change.
     */
    answer(): readonly Failure[] {
      isAnswered = true;
      return opened === undefined ? [...problems, createConnectingFailure(server)] : problems;
    },
    close: async () => (await tried).close(),
  };
}

function createConnectingFailure({ name }: McpServerSettings): Failure {
  const message = `The MCP server ${name} is not connected yet; its tools become available after it connects`;
  return new SpanlineError("mcp_server_failed", message, { details: { server: name } }).toFailure();
}
