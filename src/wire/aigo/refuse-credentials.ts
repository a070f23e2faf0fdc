import { isObject, type JsonObject } from "../../domain/json.ts";
import { refuse } from "../chat-server/refuse.ts";

/**
 * Whoever asks over the network names no keys: the agent is called with those of this machine. One that came along is
 * refused by its name, so that it is noticed; its value is told nobody.
 */
export function refuseCredentials(body: JsonObject): void {
  for (const [name, value] of Object.entries(body)) {
    if (!SAID.has(name)) look(name, value, { path: name, depth: 0 });
  }
}

/** What is said and offered may speak of passwords, and carried state may be a token. */
const SAID: ReadonlySet<string> = new Set(["messages", "tools", "tool_choice", "response_format"]);

interface Place {
  readonly path: string;
  readonly depth: number;
}

function look(name: string, value: unknown, { path, depth }: Place): void {
  if (CREDENTIAL.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ""))) {
    const param = path.slice(0, LONGEST_PATH);
    const message = `"${param}" looks like a credential, and none are taken: the agent is called with those of the server`;
    refuse(param, "credentials_not_accepted", message);
  }
  if (depth >= DEEPEST) return;
  if (!isObject(value) && !Array.isArray(value)) return;
  for (const [key, inner] of Object.entries<unknown>(value)) {
    look(key, inner, { path: `${path}.${key}`, depth: depth + 1 });
  }
}

const CREDENTIAL =
  /accesskey|secret|credential|password|apikey|sessiontoken|bearer|privatekey|authorization/;
const LONGEST_PATH = 100;
const DEEPEST = 6;
