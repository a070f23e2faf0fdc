import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { readHarnMeta, type DecodeResult, accept, rejectParams } from "../json-fields.ts";

/** An operation that a host performs, by name. */
export interface HostOperation {
  readonly name: string;
  readonly args: JsonObject;
  /** The tool call id, identical in a repeated request. Absent if the agent sends none. */
  readonly callId?: string;
  /** The operation may have run before. A host without a record of it must not run it again. */
  readonly isRepeat?: true;
}

/**
 * Decodes `builtin_call`, `host/call` and `host_call` on the host's side. All three methods accept the arguments as an
 * object or as a list with a single object.
 */
export function decodeHostOperation(params: JsonValue | undefined): DecodeResult<HostOperation> {
  if (!isObject(params)) return rejectParams("they are not an object");
  const { name, args } = params;
  if (typeof name !== "string" || name === "") return rejectParams('"name" is missing');
  const fields: readonly JsonValue[] = Array.isArray(args) ? args : [args ?? {}];
  const [only = {}] = fields;
  if (fields.length > 1 || !isObject(only)) {
    return rejectParams('"args" is not valid: expected an object or a list with a single object');
  }
  const { toolCallId: callId, attempt } = readHarnMeta(params);
  const isRepeat = typeof attempt === "number" && attempt > 1;
  return accept({
    name,
    args: only,
    ...(typeof callId === "string" && { callId, ...(isRepeat && { isRepeat }) }),
  });
}
