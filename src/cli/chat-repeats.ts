import { jsonText } from "../domain/json.ts";
import type { SessionTold } from "../host/index.ts";

/**
 * Whether an update says what one before it said. A chat opens its session and then attaches to it: a bridge tells what lies
 * between the two as it comes, and once more, under other places, from where the session began.
 */
export function chatRepeats(): (told: SessionTold) => boolean {
  let commands = "";
  const clients = new Set<string>();
  return ({ update }) => {
    if (update.type === "commands") {
      const before = commands;
      commands = jsonText(update);
      return commands === before;
    }
    if (update.type !== "extension" || update.name !== "live_session_client") return false;
    // It has the times of its clients in it.
    const text = jsonText(update.fields);
    if (clients.has(text)) return true;
    const [oldest] = clients;
    if (clients.size >= MOST_KEPT && oldest !== undefined) clients.delete(oldest);
    clients.add(text);
    return false;
  };
}

const MOST_KEPT = 100;
