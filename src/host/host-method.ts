import type { JsonValue } from "../domain/json.ts";
import type { Decoded } from "../wire/acp/decoded.ts";
import type { RpcOutcome } from "../wire/jsonrpc/rpc-message.ts";
import type { Awaitable, HostContext } from "./host-options.ts";

/** Answers one kind of request; what it throws, the runtime hears as an error. */
export type HostMethod = (
  params: JsonValue | undefined,
  context: HostContext,
) => Promise<RpcOutcome>;

/** A method that reads what it is asked, does it, and says what came of it. */
export function hostMethod<Asked, Done>(
  read: (params: JsonValue | undefined) => Decoded<Asked>,
  perform: (asked: Asked, context: HostContext) => Awaitable<Done>,
  result: (done: Done) => unknown,
): HostMethod {
  return async (params, context) => {
    const asked = read(params);
    if (!asked.ok) return asked;
    return { ok: true, result: result(await perform(asked.value, context)) };
  };
}
