import type { JsonValue } from "../../data/json.ts";
import type { DecodeResult } from "../../wire/acp/decode-result.ts";
import type { RpcOutcome } from "../../wire/jsonrpc/rpc-message.ts";
import type { Awaitable, HostContext } from "./host-options.ts";

/** Answers one kind of request; what it throws, the runtime hears as an error. */
export type HostMethod = (
  params: JsonValue | undefined,
  context: HostContext,
) => Promise<RpcOutcome>;

/** A method that reads what it is asked, does it, and says what came of it. */
export function createHostMethod<Asked, Done>(
  read: (params: JsonValue | undefined) => DecodeResult<Asked>,
  perform: (decodedParams: Asked, context: HostContext) => Awaitable<Done>,
  result: (outcome: Done) => unknown,
): HostMethod {
  return async (params, context) => {
    const decodedParams = read(params);
    if (!decodedParams.ok) return decodedParams;
    return { ok: true, result: result(await perform(decodedParams.value, context)) };
  };
}
