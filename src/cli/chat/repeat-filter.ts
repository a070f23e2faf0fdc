import { toJsonText } from "../../data/json.ts";
import type { SessionNotification } from "../../host/index.ts";

/**
 * Whether an update says what one before it said. A chat opens its session and then attaches to it: a bridge tells what lies
 * between the two as it comes, and once more, under other places, from where the session began.
 */
export function createRepeatFilter(): (told: SessionNotification) => boolean {
  let commands = "";
  const clients = new Set<string>();
  return ({ update }) => {
    if (update.type === "commands") {
      const before = commands;
      commands = toJsonText(update);
      return commands === before;
    }
    if (update.type !== "extension" || update.name !== "live_session_client") return false;
    // It has the times of its clients in it.
    const text = toJsonText(update.fields);
    if (clients.has(text)) return true;
    const [oldest] = clients;
    if (clients.size >= MAX_STORED && oldest !== undefined) clients.delete(oldest);
    clients.add(text);
    return false;
  };
}

const MAX_STORED = 100;
