import type { Agent, AgentHandle, OpenAgentOptions } from "../../session/runtime/agent/agent.ts";
import { resolveServerTimes, type McpConnection } from "../../tools/mcp/mcp-server-settings.ts";
import type { McpServers } from "../../tools/mcp/open-mcp-servers.ts";
import type { Tool } from "../../tools/tool.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/**
 * Connects to the MCP servers for one session. `withTools` creates the agent with the tools currently offered by the
 * servers.
 */
export async function openAgentWithMcpServers(
  { servers, ...work }: McpConnection,
  place: OpenAgentOptions,
  withTools: (tools: readonly Tool[]) => Agent,
): Promise<AgentHandle> {
  // The MCP library is loaded only for agents with MCP servers.
  const { openMcpServers } = await import("../../tools/mcp/open-mcp-servers.ts");
  const { workingDirectory } = place;
  const connected: { servers?: McpServers } = {};
  const { signal } = place;
  const opening = new AbortController();
  const abort = (): void => opening.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted === true) abort();
  const opened = await openMcpServers(servers, {
    ...work,
    signal: opening.signal,
    ...omitUndefined({ workingDirectory }),
    onToolsChanged: () => {
      // Changes during the start need no notification: `opened.tools()` below includes them.
      if (connected.servers !== undefined) place.onChange(withTools(connected.servers.tools()));
    },
  });
  // From here on only the session's `close` ends the servers, not the signal.
  signal?.removeEventListener("abort", abort);
  if (signal?.aborted === true) {
    await opened.close();
    throw signal.reason;
  }
  connected.servers = opened;
  const idleMs = Math.max(...servers.map((server) => resolveServerTimes(server).idleMs));
  return { agent: withTools(opened.tools()), idleMs, close: opened.close };
}
