import { pause } from "../../async/pause.ts";
import type { BroughtServer, Equipment } from "../../domain/equipment.ts";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import type { EquipmentPlace, OpenedEquipment } from "../../session/client-equipment.ts";
import type { McpServerSettings } from "../../tools/mcp/mcp-server-settings.ts";
import { serverPart } from "../../tools/mcp/model-name.ts";
import type {
  McpServers,
  openMcpServers as OpenMcpServers,
} from "../../tools/mcp/open-mcp-servers.ts";
import { readMcpServers } from "../read-mcp-servers.ts";
import { hostTools } from "./host-tools.ts";

export interface EquipmentSurroundings {
  /** Ours, as servers are told. */
  readonly version: string;
  readonly clock: SteadyClock;
  readonly environment: Environment;
  /** What is wrong with a server once it was there. */
  readonly report: (error: unknown) => void;
}

/** Connects to a client's servers and makes tools of what its machine offers. What cannot be used is told of. */
export async function openEquipment(
  { servers, tools, toolProblems = [], knowsCalls = false }: Equipment,
  place: EquipmentPlace,
  around: EquipmentSurroundings,
): Promise<OpenedEquipment> {
  const host = hostTools(tools, { clientId: place.clientId, knowsCalls });
  const wanted = usableServers(servers);
  const problems = [...toolProblems, ...host.problems, ...wanted.problems];
  if (wanted.servers.length === 0) {
    return { tools: () => host.tools, problems, close: () => Promise.resolve() };
  }
  const connected = await connect(wanted.servers, place, around);
  return {
    tools: () => [...connected.tools(), ...host.tools],
    problems: [...problems, ...connected.problems],
    close: connected.close,
  };
}

interface UsableServers {
  readonly servers: readonly McpServerSettings[];
  readonly problems: readonly Failure[];
}

/** Each by itself: one that cannot be used is no reason to do without the others. */
function usableServers(brought: readonly BroughtServer[]): UsableServers {
  const servers = new Map<string, McpServerSettings>();
  const problems: Failure[] = [];
  for (const one of brought) {
    try {
      const [settings] = readMcpServers([one]);
      if (settings === undefined) continue;
      const part = serverPart(settings.name);
      const other = servers.get(part);
      if (other !== undefined) throw sameName(settings.name, other.name);
      servers.set(part, settings);
    } catch (error) {
      if (!(error instanceof SpanlineError)) throw error;
      problems.push(error.toFailure());
    }
  }
  return { servers: [...servers.values()], problems };
}

function sameName(name: string, other: string): SpanlineError {
  const message = `The MCP server ${name} is not used: its tools would have the names of those of ${other}; rename one`;
  return new SpanlineError("invalid_option", message, { details: { path: "mcpServers" } });
}

/** Whoever sets up a session waits for its servers, and not for long: tools of those that take longer come later. */
async function connect(
  servers: readonly McpServerSettings[],
  place: EquipmentPlace,
  around: EquipmentSurroundings,
): Promise<OpenedEquipment> {
  const { openMcpServers } = await import("../../tools/mcp/open-mcp-servers.ts");
  const { signal } = place;
  const work = { ...around, ...place };
  const opening = servers.map((one) => openOne(one, work, openMcpServers));
  const waiting = new AbortController();
  const late = pause(around.clock, SETUP_MS, AbortSignal.any([signal, waiting.signal]));
  const all = Promise.all(opening.map(({ tried }) => tried));
  await Promise.race([all, late.catch(() => undefined)]);
  waiting.abort();
  return {
    tools: () => opening.flatMap((one) => one.tools()),
    problems: opening.flatMap((one) => one.answer()),
    close: async () => void (await Promise.all(opening.map((one) => one.close()))),
  };
}

/** Editors give up on a session after half a minute, and the agent's own servers have to be there, too. */
const SETUP_MS = 8000;

/** By itself, so that it waits for no other. */
function openOne(
  server: McpServerSettings,
  { report, changed, ...work }: EquipmentPlace & EquipmentSurroundings,
  open: typeof OpenMcpServers,
) {
  const problems: Failure[] = [];
  let opened: McpServers | undefined;
  let isAnswered = false;
  const tellChange = (): void => {
    if (isAnswered && opened !== undefined) changed();
  };
  const tried = open([server], {
    ...work,
    changed: tellChange,
    report(failure) {
      if (!isAnswered) problems.push(failure.toFailure());
      report(failure);
    },
  }).then((servers) => {
    opened = servers;
    tellChange();
    return servers;
  });
  return {
    tried,
    tools: () => opened?.tools() ?? [],
    /** What is wrong by now. What is wrong later is reported, and what is there later is told as a change. */
    answer(): readonly Failure[] {
      isAnswered = true;
      return opened === undefined ? [...problems, stillConnecting(server)] : problems;
    },
    close: async () => (await tried).close(),
  };
}

function stillConnecting({ name }: McpServerSettings): Failure {
  const message = `The MCP server ${name} is not connected yet; its tools are there when it is`;
  return new SpanlineError("mcp_server_failed", message, { details: { server: name } }).toFailure();
}
