import type { RequestId, RpcResponse } from "../../../wire/jsonrpc/rpc-message.ts";

/** What is done about answers to questions that were taken back, where they come all the same. */
export interface LateResponses {
  expect(questionId: string, answered: ResponseHandler): void;
  take(id: RequestId): ResponseHandler | undefined;
}

type ResponseHandler = (answer: RpcResponse) => Promise<void>;

export function createLateResponses(): LateResponses {
  const handlers = new Map<RequestId, ResponseHandler>();
  return {
    expect(questionId, handler) {
      handlers.set(questionId, handler);
      const [oldest = ""] = handlers.keys();
      if (handlers.size > MAX_HANDLERS) handlers.delete(oldest);
    },
    take(id) {
      const handler = handlers.get(id);
      handlers.delete(id);
      return handler;
    },
  };
}

/** A client that never answers does not answer these either. */
const MAX_HANDLERS = 1000;
