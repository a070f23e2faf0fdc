import type { JsonObject } from "../../../data/json.ts";
import { readError } from "../../jsonrpc/read-message.ts";
import { toAgentError } from "./agent-error.ts";
import { readPromptResult } from "./agent-results.ts";
import { readObject, readHarnMeta, readString } from "../json-fields.ts";
import type { TurnEndInfo } from "./session-update.ts";

/** Bridges say it beside what ACP tells of a session: the answer to its prompt goes to one client alone. */
export function readTurnEnd(update: JsonObject): TurnEndInfo | undefined {
  const { turnId, clientId, result = null, error } = readObject(readHarnMeta(update)["turn"]);
  if (typeof turnId !== "string") return undefined;
  const turn = { turnId, clientId: readString(clientId) ?? null };
  if (error !== undefined) {
    const failure = toAgentError("session/prompt", readError(error)).toFailure();
    return { ...turn, end: { type: "failed", failure } };
  }
  const done = readPromptResult(result);
  return done.ok ? { ...turn, end: { type: "done", result: done.value } } : undefined;
}
