import { SpanlineError } from "../../../domain/errors.ts";
import { encodeFailure } from "../../../wire/acp/encode/encode-failure.ts";
import type { RpcError } from "../../../wire/jsonrpc/rpc-error.ts";
import type { RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";

/** Counts a turn that begins, and gives back how to end it. Throws when too many run. */
export type CountTurn = () => () => void;

/** The turns of a client that may have only so many at once: each from its prompt to the answer, or until it leaves. */
export interface TurnCounter {
  /** The error for one too many. */
  begin(request: RpcRequest): RpcError | undefined;
  end(request: RpcRequest): void;
  endAll(): void;
}

export function createTurnCounter(count: CountTurn): TurnCounter {
  const ends = new Map<RpcRequest, () => void>();
  return {
    begin(request) {
      try {
        ends.set(request, count());
        return undefined;
      } catch (error) {
        if (error instanceof SpanlineError) return encodeFailure(error.toFailure());
        throw error;
      }
    },
    end(request) {
      ends.get(request)?.();
      ends.delete(request);
    },
    endAll() {
      for (const end of ends.values()) end();
      ends.clear();
    },
  };
}
