import type { SteadyClock } from "../platform/clock.ts";
import type { Agent, OpenAgent, OpenPlace } from "../session/agent.ts";
import type { McpServerSettings } from "../tools/mcp/mcp-server-settings.ts";
import type { McpServers } from "../tools/mcp/open-mcp-servers.ts";
import type { Tool } from "../tools/tool.ts";

/** MCP servers, and what connecting to them needs. */
export interface McpConnection {
  readonly servers: readonly McpServerSettings[];
  /** Ours, as servers are told. */
  readonly version: string;
  readonly clock: SteadyClock;
  readonly environment: { readonly [name: string]: string | undefined };
  /** What is known to be secret of what servers are given, beside what is called so. */
  readonly secrets?: readonly string[];
  /** What is wrong with a server: its session goes on without it. */
  readonly report: (error: unknown) => void;
}

/** Connects to the servers for one session; `withTools` is the agent with what they offer now. */
export async function withMcpServers(
  { servers, ...work }: McpConnection,
  place: OpenPlace,
  withTools: (tools: readonly Tool[]) => Agent,
): Promise<OpenAgent> {
  // Nobody who has no server needs its library.
  const { openMcpServers } = await import("../tools/mcp/open-mcp-servers.ts");
  const { workingDirectory } = place;
  const connected: { servers?: McpServers } = {};
  const opened = await openMcpServers(servers, {
    ...work,
    // They are closed, and by nobody else.
    signal: new AbortController().signal,
    ...(workingDirectory !== undefined && { workingDirectory }),
    changed: () => {
      // What changes before all of them are there is among what is there then.
      if (connected.servers !== undefined) place.changed(withTools(connected.servers.tools()));
    },
  });
  connected.servers = opened;
  return { agent: withTools(opened.tools()), close: opened.close };
}
