import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { harnFields } from "../fields.ts";
import { type Decoded, decoded, refusedParams } from "../decoded.ts";

/** What a host is asked to do, by its name. */
export interface NamedCall {
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
export function readNamedCall(params: JsonValue | undefined): Decoded<NamedCall> {
  if (!isObject(params)) return refusedParams("they are not an object");
  const { name, args } = params;
  if (typeof name !== "string" || name === "") return refusedParams('"name" is missing');
  const given: readonly JsonValue[] = Array.isArray(args) ? args : [args ?? {}];
  const [only = {}] = given;
  if (given.length > 1 || !isObject(only)) {
    return refusedParams('"args" is neither an object nor a list with one');
  }
  const { toolCallId: callId, attempt } = harnFields(params);
  const isRepeat = typeof attempt === "number" && attempt > 1;
  return decoded({
    name,
    args: only,
    ...(typeof callId === "string" && { callId, ...(isRepeat && { isRepeat }) }),
  });
}
