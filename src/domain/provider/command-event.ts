import type { Failure } from "../errors.ts";

/** What a command on the agent's machine says. The last event is `exit` or `failed`. */
export type CommandEvent =
  | { readonly type: "stdout"; readonly text: string }
  | { readonly type: "stderr"; readonly text: string }
  /** The command is over, one way or another. An exit code that is not 0 is a result and no failure. */
  | {
      readonly type: "exit";
      /** −1 when the platform, and not the command, failed. */
      readonly exitCode: number;
      readonly outcome: "completed" | "timed-out" | "other";
      /** The provider's own word. */
      readonly reason: string;
    }
  /** How the command ended is not known. */
  | { readonly type: "failed"; readonly failure: Failure };
