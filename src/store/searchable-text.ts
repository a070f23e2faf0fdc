import type { SessionEvent } from "../domain/events/session-event.ts";

/** The text of an event that a search looks through: what people and the agent said, in whole. */
export function readSearchableText(event: SessionEvent): string | undefined {
  if (event.type === "text.finished") return event.text;
  if (event.type === "message.sent") {
    return event.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  }
  return undefined;
}

/** Each of these has to occur. */
export function splitSearchWords(search: string): readonly string[] {
  // SQLite's index ends a text at a NUL, and no text has one.
  return search.split(/[\s\0]+/).filter((word) => word !== "");
}
