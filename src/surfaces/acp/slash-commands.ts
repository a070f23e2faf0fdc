import { isBridgeCommand, type BridgeCommand } from "../../domain/bridge-commands.ts";
import { isSessionMode } from "../../domain/session-mode.ts";
import type { PromptCommand } from "../../wire/acp/client-request.ts";
import {
  modeSetText,
  modesText,
  noModeText,
  noPermissionsText,
  permissionsText,
  revokedText,
  statusText,
  toolsText,
} from "../../wire/acp/command-answers.ts";
import { commandedPrompt, slashCommand } from "../../wire/acp/slash-commands.ts";
import type { AcpSession } from "./acp-session.ts";
import type { ClientLink } from "./client-link.ts";

interface CommandPlace {
  readonly sessionId: string;
  readonly session: AcpSession;
  readonly link: ClientLink;
}

/** What a prompt comes to: words for whoever asked, or what the agent is to be told. */
export type Typed =
  | { readonly type: "answer"; readonly text: string }
  | { readonly type: "prompt"; readonly prompt: PromptCommand };

/** Takes a prompt for what was typed: a command of the bridge, one of the agent's, or neither. */
export async function readTyped(prompt: PromptCommand, place: CommandPlace): Promise<Typed> {
  const typed = slashCommand(prompt);
  if (typed === undefined) return { type: "prompt", prompt };
  if (isBridgeCommand(typed.name)) {
    return { type: "answer", text: await ANSWERS[typed.name](typed.given, place) };
  }
  const { agent } = await place.link.sessions.peek(place.sessionId);
  const command = agent.commands?.find(({ name }) => name === typed.name);
  const wanted = command === undefined ? prompt : commandedPrompt(prompt, command, typed);
  return { type: "prompt", prompt: wanted };
}

type Answer = (given: string, place: CommandPlace) => Promise<string>;

const ANSWERS: { readonly [Name in BridgeCommand]: Answer } = {
  async status(_, { sessionId, link: { sessions } }) {
    const outlook = await sessions.peek(sessionId);
    const { state = "idle", workingDirectory = null } = (await sessions.find(sessionId)) ?? {};
    return statusText({ ...outlook, sessionId, state, workingDirectory });
  },
  tools: async (_, { sessionId, link: { sessions } }) => toolsText(await sessions.rules(sessionId)),
  async mode(given, { sessionId, session, link: { sessions } }) {
    if (given === "") return modesText((await sessions.peek(sessionId)).mode);
    if (!isSessionMode(given)) return noModeText(given);
    const reply = await session.command({ type: "configure", mode: given });
    return reply.status === "refused" ? reply.failure.message : modeSetText(given);
  },
  async permissions(given, { sessionId, session, link: { sessions } }) {
    if (given === "") return permissionsText((await sessions.peek(sessionId)).grants);
    const [, grantId] = /^revoke\s+(\S+)$/.exec(given) ?? [];
    if (grantId === undefined) return noPermissionsText(given);
    const reply = await session.command({ type: "revoke", grantId });
    return reply.status === "refused" ? reply.failure.message : revokedText(grantId);
  },
};
