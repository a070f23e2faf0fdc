import type { SpanlineError } from "../../../domain/errors.ts";

/** Reports each distinct message once until `reset`, and at most 20 messages. */
export interface OnceReporter {
  readonly report: (failure: SpanlineError) => void;
  readonly reset: () => void;
}

export function createOnceReporter(report: (failure: SpanlineError) => void): OnceReporter {
  const reported = new Set<string>();
  return {
    report(failure) {
      if (reported.has(failure.message) || reported.size >= MAX_REPORTS) return;
      reported.add(failure.message);
      report(failure);
    },
    reset: () => reported.clear(),
  };
}

const MAX_REPORTS = 20;
