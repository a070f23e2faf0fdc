import type { AgentDefinition } from "../../config/agent/agent-definition.ts";
import type { AgentConfig } from "../../config/read-config.ts";

type DemoSettings = Pick<AgentDefinition, "approvals" | "images" | "onLost">;

/** Settings of the demo agent, with and without a configuration. */
export const DEMO_SETTINGS: DemoSettings = {
  approvals: { ask: ["save_note"], allow: ["tell_time"] },
  // The demo model cannot process images, so it receives a description.
  images: "describe",
  // The demo continues automatically after a kill. The default of other agents is to ask.
  onLost: "continue",
};

/** True for a demo agent without its own tools, workspace and MCP servers. Such an agent gets the two demo tools. */
export function hasDemoTools(
  config: Pick<AgentConfig, "provider" | "toolFiles" | "workspace" | "serverNames">,
): boolean {
  const { provider, toolFiles, workspace, serverNames } = config;
  if (provider.type !== "demo") return false;
  return workspace === undefined && toolFiles.length + serverNames.length === 0;
}

/** Returns the demo settings for an agent of a configuration. Settings of the configuration take precedence. */
export function resolveDemoSettings(config: AgentConfig): DemoSettings {
  if (!hasDemoTools(config)) return {};
  const { approvals: _, ...others } = DEMO_SETTINGS;
  return config.policy === undefined ? DEMO_SETTINGS : others;
}
