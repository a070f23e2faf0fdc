import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { readHarnMeta, type DecodeResult, accept, rejectParams } from "../json-fields.ts";

/** What a host is asked to do, by its name. */
export interface HostOperation {
  readonly name: string;
  readonly args: JsonObject;
  /** The same when it is asked for again; absent where nobody says. */
  readonly callId?: string;
  /** It may have been run before, and is not to be run again by whoever does not know it. */
  readonly isRepeat?: true;
}

/**
 * The host's side of `builtin_call`, `host/call` and `host_call`. The arguments come in a list of one or by themselves,
 * whichever of the methods it is.
 */
export function decodeHostOperation(params: JsonValue | undefined): DecodeResult<HostOperation> {
  if (!isObject(params)) return rejectParams("they are not an object");
  const { name, args } = params;
  if (typeof name !== "string" || name === "") return rejectParams('"name" is missing');
  const fields: readonly JsonValue[] = Array.isArray(args) ? args : [args ?? {}];
  const [only = {}] = fields;
  if (fields.length > 1 || !isObject(only)) {
    return rejectParams('"args" is neither an object nor a list with one');
  }
  const { toolCallId: callId, attempt } = readHarnMeta(params);
  const isRepeat = typeof attempt === "number" && attempt > 1;
  return accept({
    name,
    args: only,
    ...(typeof callId === "string" && { callId, ...(isRepeat && { isRepeat }) }),
  });
}
