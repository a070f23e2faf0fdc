import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { CommandInput } from "../session-input.ts";
import { createCommandInput, createCommandKey } from "./send-command.ts";
import type { FirstPrompt } from "../sessions.ts";

/** The first command of a session. */
export interface FirstInput {
  readonly commandInput: CommandInput;
  readonly commandId: string | undefined;
}

/** Undefined for a prompt with images: they are stored with the session, which must exist first. */
export function createFirstInput(
  { createPrompt, sender }: FirstPrompt,
  facts: AgentSpec,
): FirstInput | undefined {
  const { content, ...command } = createPrompt(facts);
  const texts = content.filter((part) => part.type === "text");
  if (texts.length < content.length) return undefined;
  return {
    commandInput: createCommandInput({ ...command, content: texts }, sender),
    commandId: createCommandKey(sender),
  };
}
