import type { Agent, AgentHandle, OpenAgentOptions } from "../../session/runtime/agent/agent.ts";
import { resolveServerTimes, type McpConnection } from "../../tools/mcp/mcp-server-settings.ts";
import type { McpServers } from "../../tools/mcp/open-mcp-servers.ts";
import type { Tool } from "../../tools/tool.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Connects to the servers for one session; `withTools` is the agent with what they offer now. */
export async function openAgentWithMcpServers(
  { servers, ...work }: McpConnection,
  place: OpenAgentOptions,
  withTools: (tools: readonly Tool[]) => Agent,
): Promise<AgentHandle> {
  // Nobody who has no server needs its library.
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
      // What changes before all of them are there is among what is there then.
      if (connected.servers !== undefined) place.onChange(withTools(connected.servers.tools()));
    },
  });
  // From here on they are closed, and by nobody else.
  signal?.removeEventListener("abort", abort);
  if (signal?.aborted === true) {
    await opened.close();
    throw signal.reason;
  }
  connected.servers = opened;
  const idleMs = Math.max(...servers.map((server) => resolveServerTimes(server).idleMs));
  return { agent: withTools(opened.tools()), idleMs, close: opened.close };
}
