import { isObject, type JsonObject } from "../../data/json.ts";

/** The text of a vendor update. */
export interface ExtensionLine {
  readonly sign: string;
  readonly text: string;
  readonly isWarning?: true;
}

/** Returns undefined for an update which the chat does not show. */
export function formatExtension(name: string, fields: JsonObject): ExtensionLine | undefined {
  switch (name) {
    case "log": {
      const { message } = fields;
      return typeof message === "string"
        ? { sign: "!", text: message, isWarning: true }
        : undefined;
    }
    case "handoff":
      return formatHandoffLine(fields);
    default:
      return undefined;
  }
}

function formatHandoffLine({ handoff }: JsonObject): ExtensionLine | undefined {
  if (!isObject(handoff)) return undefined;
  const { target_persona_or_human: target, task } = handoff;
  const label = isObject(target) ? target["label"] : undefined;
  if (typeof label !== "string" || typeof task !== "string") return undefined;
  return { sign: "→", text: `Handoff to ${label}: ${task}` };
}
