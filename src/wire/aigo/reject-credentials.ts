import { isObject, type JsonObject } from "../../data/json.ts";
import { rejectRequest } from "../chat-server/reject-request.ts";

/**
 * Refuses credentials in a network request: the agent is invoked with the credentials of this machine. The error has
 * the name of the field, so the mistake is noticed, and never its value.
 */
export function rejectCredentials(body: JsonObject): void {
  for (const [name, value] of Object.entries(body)) {
    if (!CONTENT_FIELDS.has(name)) checkField(name, value, { path: name, depth: 0 });
  }
}

/** Fields which are not checked: messages and tools may mention passwords, and carried state may be a token. */
const CONTENT_FIELDS: ReadonlySet<string> = new Set([
  "messages",
  "tools",
  "tool_choice",
  "response_format",
]);

interface FieldPosition {
  readonly path: string;
  readonly depth: number;
}

function checkField(name: string, value: unknown, { path, depth }: FieldPosition): void {
  if (CREDENTIAL_NAME.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ""))) {
    const param = path.slice(0, MAX_PATH_LENGTH);
    const message = `"${param}" looks like a credential, which is not accepted: the agent is invoked with the credentials of the server`;
    rejectRequest(param, "credentials_not_accepted", message);
  }
  if (depth >= MAX_DEPTH) return;
  if (!isObject(value) && !Array.isArray(value)) return;
  for (const [key, inner] of Object.entries<unknown>(value)) {
    checkField(key, inner, { path: `${path}.${key}`, depth: depth + 1 });
  }
}

const CREDENTIAL_NAME =
  /accesskey|secret|credential|password|apikey|sessiontoken|bearer|privatekey|authorization/;
const MAX_PATH_LENGTH = 100;
const MAX_DEPTH = 6;
