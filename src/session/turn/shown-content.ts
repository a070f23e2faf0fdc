import type { AgentFacts, PromptPart } from "../../domain/agent-event.ts";
import { pictureText } from "../../domain/part-text.ts";
import { imageHandling } from "../turn-options.ts";

/** A picture that the model is not shown it is told of. */
export function shownContent(content: readonly PromptPart[], agent: AgentFacts): PromptPart[] {
  if (imageHandling(agent) === "send") return [...content];
  return content.map((part) =>
    part.type === "image" ? { type: "text", text: pictureText(part) } : part,
  );
}
