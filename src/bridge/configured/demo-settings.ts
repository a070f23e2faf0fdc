import type { AgentDefinition } from "../../config/agent/agent-definition.ts";
import type { AgentConfig } from "../../config/read-config.ts";

type DemoSettings = Pick<AgentDefinition, "approvals" | "images" | "onLost">;

/** How the demo agent is, with and without a configuration. */
export const DEMO_SETTINGS: DemoSettings = {
  approvals: { ask: ["save_note"], allow: ["tell_time"] },
  // It cannot see: it is told what there is to see.
  images: "describe",
  // The demo goes on by itself after a kill; others ask.
  onLost: "continue",
};

/** Whether an agent is the demo agent with its own two tools: those are for whoever has none. */
export function hasDemoTools(
  config: Pick<AgentConfig, "provider" | "toolFiles" | "workspace" | "serverNames">,
): boolean {
  const { provider, toolFiles, workspace, serverNames } = config;
  if (provider.type !== "demo") return false;
  return workspace === undefined && toolFiles.length + serverNames.length === 0;
}

/** What an agent of a configuration has of these, unless it says otherwise. */
export function resolveDemoSettings(config: AgentConfig): DemoSettings {
  if (!hasDemoTools(config)) return {};
  const { approvals: _, ...others } = DEMO_SETTINGS;
  return config.policy === undefined ? DEMO_SETTINGS : others;
}
