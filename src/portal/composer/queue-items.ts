import { editReminder } from "./reminder-form.ts";
import type { PromptPart } from "../../domain/prompt.ts";
import type { SessionActions, ActionResult } from "../state/session-actions.ts";
import type { QueuedItem } from "../state/session-view.ts";
import { pluralize } from "../../text/pluralize.ts";

/** A waiting prompt, message or reminder as a row. */
export interface QueueRow {
  readonly id: string;
  /** When the item will reach the agent. */
  readonly label: string;
  readonly text: string;
  readonly images: number;
  /** The sender. Null for the user of this machine. */
  readonly principal: string | null;
  readonly tags: readonly string[];
  /**
   * Replaces the text. Absent for a prompt, for a message with images, whose bytes the page does not have, and for a
   * reminder which another principal or program has sent.
   */
  readonly edit?: (actions: SessionActions, text: string) => Promise<ActionResult>;
}

/** `ownPrincipal`: the person at this page. */
export function createQueueRow(item: QueuedItem, ownPrincipal: string | null): QueueRow {
  if (item.kind === "reminder") {
    const { body, tags, source } = item.reminder;
    const edited = editReminder(item, ownPrincipal);
    const isNamed = item.principal !== null && item.principal !== "local";
    return {
      id: item.id,
      label: "Reminder",
      text: body,
      images: 0,
      principal: source === "stdlib_provider" ? "the bridge" : isNamed ? item.principal : null,
      tags,
      ...(edited !== undefined && { edit: (actions, text) => actions.remind(edited(text)) }),
    };
  }
  const images = item.content.filter(({ type }) => type === "image").length;
  const isSteer = item.kind === "message" && item.mode === "steer";
  return {
    id: item.id,
    label: isSteer ? "Steers this turn" : "Next turn",
    text: joinTexts(item.content),
    images,
    principal: item.principal === "local" ? null : item.principal,
    tags: [],
    ...(item.kind === "message" &&
      images === 0 && { edit: (actions, text) => actions.replaceMessage(item.id, { text }) }),
  };
}

function joinTexts(content: readonly PromptPart[]): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

export function describeImages({ images }: QueueRow): string | undefined {
  return images === 0 ? undefined : pluralize(images, "image");
}

/** Removes an item which has not reached the agent. */
export function revokeQueued(actions: SessionActions, item: QueuedItem): Promise<ActionResult> {
  switch (item.kind) {
    case "prompt":
      return actions.withdrawPrompt(item.id);
    case "message":
      return actions.revokeMessage(item.id);
    case "reminder":
      return actions.revokeReminder(item.id);
  }
}
