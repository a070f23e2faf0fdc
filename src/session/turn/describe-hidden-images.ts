import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { PromptPart } from "../../domain/prompt.ts";
import { formatImagePart } from "../../domain/format-prompt-part.ts";
import { resolveImageHandling } from "../turn-options.ts";

/** A picture that the model is not shown it is told of. */
export function describeHiddenImages(
  content: readonly PromptPart[],
  agent: AgentSpec,
): PromptPart[] {
  if (resolveImageHandling(agent) === "send") return [...content];
  return content.map((part) =>
    part.type === "image" ? { type: "text", text: formatImagePart(part) } : part,
  );
}
