import type { SpanlineError } from "../../domain/errors.ts";

/** Says the same thing once, until it is asked to forget, and not without end. */
export interface ReportOnce {
  readonly once: (failure: SpanlineError) => void;
  readonly forget: () => void;
}

export function reportOnce(report: (failure: SpanlineError) => void): ReportOnce {
  const said = new Set<string>();
  return {
    once(failure) {
      if (said.has(failure.message) || said.size >= MOST_SAID) return;
      said.add(failure.message);
      report(failure);
    },
    forget: () => said.clear(),
  };
}

const MOST_SAID = 20;
