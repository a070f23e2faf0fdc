import type { JsonObject } from "../../../data/json.ts";
import { SchemaError } from "../../../data/schema-error.ts";
import { COMPACTION_OPTIONS_SCHEMA } from "../../../domain/transcript/compaction-schema.ts";
import { accept, decodeSessionId, rejectParams, type DecodeResult } from "../json-fields.ts";
import type { SteeringRequest } from "./steering-messages.ts";

/**
 * Decodes `session/compact`, a method of this project: `strategy`, `keepLast` and `instructions` are optional, and
 * override the settings of the agent.
 */
export function decodeCompact(params: JsonObject): DecodeResult<SteeringRequest> {
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const { sessionId: _, _meta, ...fields } = params;
  try {
    const options = COMPACTION_OPTIONS_SCHEMA(fields, "params");
    const command = { type: "compact", options } as const;
    return accept({ type: "steer", sessionId: session.value, command, answer: "status" });
  } catch (error) {
    if (error instanceof SchemaError) return rejectParams(error.message);
    throw error;
  }
}
