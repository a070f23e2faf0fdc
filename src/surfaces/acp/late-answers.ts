import type { RequestId, RpcAnswer } from "../../wire/jsonrpc/rpc-message.ts";

/** What is done about answers to questions that were taken back, where they come all the same. */
export interface LateAnswers {
  keep(questionId: string, answered: Answered): void;
  take(id: RequestId): Answered | undefined;
}

type Answered = (answer: RpcAnswer) => Promise<void>;

export function lateAnswers(): LateAnswers {
  const kept = new Map<RequestId, Answered>();
  return {
    keep(questionId, answered) {
      kept.set(questionId, answered);
      const [oldest = ""] = kept.keys();
      if (kept.size > MOST_KEPT) kept.delete(oldest);
    },
    take(id) {
      const answered = kept.get(id);
      kept.delete(id);
      return answered;
    },
  };
}

/** A client that never answers does not answer these either. */
const MOST_KEPT = 1000;
