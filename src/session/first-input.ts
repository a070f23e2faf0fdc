import type { AgentFacts } from "../domain/agent-event.ts";
import type { Commanded } from "./input.ts";
import { commanding, commandKey } from "./send-command.ts";
import type { FirstPrompt } from "./sessions.ts";

/** What a session is opened for. */
export interface FirstInput {
  readonly commanded: Commanded;
  readonly commandId: string | undefined;
}

/** Undefined for a prompt with pictures: they are kept with the session, which has to be there before. */
export function firstInput(
  { prompt, from }: FirstPrompt,
  facts: AgentFacts,
): FirstInput | undefined {
  const { content, ...command } = prompt(facts);
  const texts = content.filter((part) => part.type === "text");
  if (texts.length < content.length) return undefined;
  return {
    commanded: commanding({ ...command, content: texts }, from),
    commandId: commandKey(from),
  };
}
