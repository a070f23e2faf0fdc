import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { CommandInput } from "../session-input.ts";
import { createCommandInput, createCommandKey } from "./send-command.ts";
import type { FirstPrompt } from "../sessions.ts";

/** What a session is opened for. */
export interface FirstInput {
  readonly commandInput: CommandInput;
  readonly commandId: string | undefined;
}

/** Undefined for a prompt with pictures: they are kept with the session, which has to be there before. */
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
