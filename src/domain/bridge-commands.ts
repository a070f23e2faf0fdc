import { SESSION_MODES } from "./session-mode.ts";

/** Slash commands which the bridge handles itself, without the agent. */
export const BRIDGE_COMMANDS = [
  { name: "status", description: "Show the session, its agent, mode, tokens and clients" },
  { name: "tools", description: "List the tools of the agent and how the policy treats each" },
  {
    name: "mode",
    description: "Show the mode of the session, or change it",
    hint: SESSION_MODES.join(" | "),
  },
  {
    name: "permissions",
    description: "List permanent grants, or revoke one",
    hint: "revoke ID",
  },
] as const;

export type BridgeCommand = (typeof BRIDGE_COMMANDS)[number]["name"];

export function isBridgeCommand(name: string): name is BridgeCommand {
  return BRIDGE_COMMANDS.some((command) => command.name === name);
}
