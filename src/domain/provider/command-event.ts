import type { Failure } from "../errors.ts";

/** Output of a command run on the agent's machine. The last event is `exit` or `failed`. */
export type CommandEvent =
  | { readonly type: "stdout"; readonly text: string }
  | { readonly type: "stderr"; readonly text: string }
  /** The command has ended. A non-zero exit code is a result, not a failure. */
  | {
      readonly type: "exit";
      /** −1 if the platform failed, not the command. */
      readonly exitCode: number;
      readonly outcome: "completed" | "timed-out" | "other";
      /** The provider's reason string. */
      readonly reason: string;
    }
  /** The end of the command is unknown. */
  | { readonly type: "failed"; readonly failure: Failure };
