import type { ToolSpec } from "../../../../domain/agent-spec.ts";
import type { UpdateState } from "../update-state.ts";

/** The tool of a call, as the agent's definition has it. */
export function findTool({ agent }: UpdateState, name: string | undefined): ToolSpec | undefined {
  return agent?.tools.find((tool) => tool.name === name);
}

export type WireExecutor =
  | "harn_builtin"
  | "host_bridge"
  | "provider_native"
  | { readonly kind: "mcp_server"; readonly serverName: string };

/** Undefined for a tool that the agent's definition does not know: it did not run here. */
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
