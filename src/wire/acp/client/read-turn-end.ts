import type { JsonObject } from "../../../domain/json.ts";
import { readError } from "../../jsonrpc/read-message.ts";
import { agentError } from "./agent-error.ts";
import { readPromptResult } from "./agent-results.ts";
import { fieldsOf, harnFields, textOf } from "../fields.ts";
import type { SeenTurnEnd } from "./seen-update.ts";

/** Bridges say it beside what ACP tells of a session: the answer to its prompt goes to one client alone. */
export function readTurnEnd(update: JsonObject): SeenTurnEnd | undefined {
  const { turnId, clientId, result = null, error } = fieldsOf(harnFields(update)["turn"]);
  if (typeof turnId !== "string") return undefined;
  const turn = { turnId, clientId: textOf(clientId) ?? null };
  if (error !== undefined) {
    const failure = agentError("session/prompt", readError(error)).toFailure();
    return { ...turn, end: { type: "failed", failure } };
  }
  const done = readPromptResult(result);
  return done.ok ? { ...turn, end: { type: "done", result: done.value } } : undefined;
}
