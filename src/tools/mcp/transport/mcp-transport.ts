import type { Transport } from "@modelcontextprotocol/client";
import type { SpanlineError } from "../../../domain/errors.ts";

/** An SDK transport which also knows why it ended. */
export interface McpTransport {
  readonly transport: Transport;
  /** Why the transport ended. Undefined while it is open. */
  readonly failure: SpanlineError | undefined;
  /** Resolves when the transport has ended, from either side. */
  readonly ended: Promise<SpanlineError>;
  /** Ends the transport as unusable. */
  fail(failure: SpanlineError): void;
  /** The last stderr output of a program, formatted as the end of a sentence. Empty if there is none. */
  readStderrTail(): string;
  /** Closes the transport. Resolves when all resources are released. */
  close(): Promise<void>;
}

/** Stores the first reason of an end and resolves `ended` with it. */
export function createEnding(): {
  readonly failure: SpanlineError | undefined;
  readonly ended: Promise<SpanlineError>;
  /** Returns whether this was the first call. */
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
