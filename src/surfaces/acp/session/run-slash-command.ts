import {
  BRIDGE_COMMANDS,
  isBridgeCommand,
  type BridgeCommand,
  describeUnknownCommand,
} from "../../../domain/slash-commands.ts";
import { isSessionMode } from "../../../domain/session-mode.ts";
import type { PromptCommand } from "../../../wire/acp/decode/client-request.ts";
import {
  formatCompactionStart,
  formatModeChange,
  formatModes,
  formatUnknownMode,
  formatPermissionsUsage,
  formatPermissions,
  formatRevokedGrant,
  formatStatus,
  formatTools,
} from "../../../wire/acp/encode/slash-command-texts.ts";
import { expandCommand, parseSlashCommand } from "../../../wire/acp/decode/slash-command.ts";
import type { AcpSession } from "./acp-session.ts";
import type { ClientLink } from "../connection/client-link.ts";

interface CommandContext {
  readonly sessionId: string;
  readonly session: AcpSession;
  readonly link: ClientLink;
}

/** The result of a typed prompt: a reply for the client, or a prompt for the agent. */
export type TypedPrompt =
  | { readonly type: "answer"; readonly text: string }
  | { readonly type: "prompt"; readonly prompt: PromptCommand };

/** Runs a slash command of the bridge, expands a command of the agent, or returns the prompt unchanged. */
export async function runSlashCommand(
  prompt: PromptCommand,
  context: CommandContext,
): Promise<TypedPrompt> {
  const typed = parseSlashCommand(prompt);
  if (typed === undefined) return { type: "prompt", prompt };
  if (isBridgeCommand(typed.name)) {
    return { type: "answer", text: await COMMAND_HANDLERS[typed.name](typed.argument, context) };
  }
  const { agent } = await context.link.sessions.status(context.sessionId);
  const { commands = [] } = agent;
  const command = commands.find(({ name }) => name === typed.name);
  if (command !== undefined) {
    return { type: "prompt", prompt: expandCommand(prompt, command, typed) };
  }
  const names = [...BRIDGE_COMMANDS, ...commands].map(({ name }) => name);
  const text = describeUnknownCommand(`/${typed.name} ${typed.argument}`, names);
  return text === undefined ? { type: "prompt", prompt } : { type: "answer", text };
}

type CommandHandler = (argument: string, context: CommandContext) => Promise<string>;

const COMMAND_HANDLERS: { readonly [Name in BridgeCommand]: CommandHandler } = {
  async status(_, { sessionId, link: { sessions } }) {
    const sessionStatus = await sessions.status(sessionId);
    const { state = "idle", workingDirectory = null } = (await sessions.find(sessionId)) ?? {};
    return formatStatus({ ...sessionStatus, sessionId, state, workingDirectory });
  },
  tools: async (_, { sessionId, link: { sessions } }) =>
    formatTools(await sessions.listToolRules(sessionId)),
  async mode(argument, { sessionId, session, link: { sessions } }) {
    if (argument === "") return formatModes((await sessions.status(sessionId)).mode);
    if (!isSessionMode(argument)) return formatUnknownMode(argument);
    const reply = await session.command({ type: "set-mode", mode: argument });
    return reply.status === "refused" ? reply.failure.message : formatModeChange(argument);
  },
  async permissions(argument, { sessionId, session, link: { sessions } }) {
    if (argument === "") return formatPermissions((await sessions.status(sessionId)).grants);
    const [, grantId] = /^revoke\s+(\S+)$/.exec(argument) ?? [];
    if (grantId === undefined) return formatPermissionsUsage(argument);
    const reply = await session.command({ type: "revoke-grant", grantId });
    return reply.status === "refused" ? reply.failure.message : formatRevokedGrant(grantId);
  },
  async compact(instructions, { session }) {
    const options = instructions === "" ? {} : { instructions };
    const reply = await session.command({ type: "compact", options });
    return reply.status === "refused" ? reply.failure.message : formatCompactionStart();
  },
};
