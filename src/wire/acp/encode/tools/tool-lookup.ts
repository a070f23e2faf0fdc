import type { ToolSpec } from "../../../../domain/agent-spec.ts";
import type { UpdateState } from "../update-state.ts";

/** Finds a tool in the agent's configuration. */
export function findTool({ agent }: UpdateState, name: string | undefined): ToolSpec | undefined {
  return agent?.tools.find((tool) => tool.name === name);
}

export type WireExecutor =
  | "harn_builtin"
  | "host_bridge"
  | "provider_native"
  | { readonly kind: "mcp_server"; readonly serverName: string };

/**
 * Returns the executor of a tool call. Undefined for a tool outside the agent's configuration, because such a tool did
 * not run here.
 */
export function resolveExecutor(state: UpdateState, toolCallId: string): WireExecutor | undefined {
  const tool = findTool(state, state.toolCalls.get(toolCallId)?.name);
  if (tool === undefined) return undefined;
  const executor = tool.traits?.executor ?? { type: "builtin" };
  switch (executor.type) {
    case "builtin":
      return "harn_builtin";
    case "host":
      return executor.server === undefined ? "host_bridge" : createMcpExecutor(executor.server);
    case "mcp":
      return createMcpExecutor(executor.server);
    case "provider":
      return "provider_native";
    default:
      return executor satisfies never;
  }
}

function createMcpExecutor(serverName: string): WireExecutor {
  return { kind: "mcp_server", serverName };
}
