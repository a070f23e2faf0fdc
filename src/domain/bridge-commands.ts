import { SESSION_MODES } from "./session-mode.ts";

/** Commands that the bridge answers itself, without the agent. */
export const BRIDGE_COMMANDS = [
  { name: "status", description: "Show the session, its agent, mode, tokens and clients" },
  { name: "tools", description: "List the tools of the agent, and what the policy says of each" },
  {
    name: "mode",
    description: "Show the mode of the session, or change it",
    hint: SESSION_MODES.join(" | "),
  },
  {
    name: "permissions",
    description: "List what was allowed for good, or take it back",
    hint: "revoke ID",
  },
] as const;

export type BridgeCommand = (typeof BRIDGE_COMMANDS)[number]["name"];

export function isBridgeCommand(name: string): name is BridgeCommand {
  return BRIDGE_COMMANDS.some((command) => command.name === name);
}
