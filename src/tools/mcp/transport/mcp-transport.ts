import type { Transport } from "@modelcontextprotocol/client";
import type { SpanlineError } from "../../../domain/errors.ts";

/** A way to a server, as the client of the SDK uses it, that knows why it ended. */
export interface McpTransport {
  readonly transport: Transport;
  /** Why it is over; undefined while it is not. */
  readonly failure: SpanlineError | undefined;
  /** Resolves when it is over, whoever ended it. */
  readonly ended: Promise<SpanlineError>;
  /** It turned out to be of no use any more. */
  fail(failure: SpanlineError): void;
  /** What a program wrote last on its error output, as a sentence's end; empty where there is none. */
  readStderrTail(): string;
  /** Ends it, and resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** Remembers the first reason for an end, and tells it. */
export function createEnding(): {
  readonly failure: SpanlineError | undefined;
  readonly ended: Promise<SpanlineError>;
  /** Whether this was the first. */
  end(failure: SpanlineError): boolean;
} {
  let failure: SpanlineError | undefined;
  let resolveEnd: (failure: SpanlineError) => void;
  const ended = new Promise<SpanlineError>((resolve) => {
    resolveEnd = resolve;
  });
  return {
    get failure() {
      return failure;
    },
    ended,
    end(why) {
      if (failure !== undefined) return false;
      failure = why;
      resolveEnd(why);
      return true;
    },
  };
}
