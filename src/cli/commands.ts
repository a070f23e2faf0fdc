import type { Command } from "commander";
import { addAcp } from "./acp-options.ts";
import { addChat } from "./chat-options.ts";
import { addEmulate } from "./emulate-options.ts";
import { addHarness } from "./harness-options.ts";
import { addInfer } from "./infer-options.ts";
import { addInspect } from "./inspect-options.ts";
import { addInvoke } from "./invoke-options.ts";
import { addKeys } from "./keys-options.ts";
import { addPolicy } from "./policy-options.ts";
import { addRun } from "./run-options.ts";
import { addServe } from "./serve-options.ts";
import { addSessions } from "./sessions-options.ts";
import { addTestAgent } from "./test-agent-options.ts";
import { addTrust } from "./trust-options.ts";
import { addUp } from "./up-options.ts";

/** Adds a command to the program; `done` is told how it ended. */
export type AddCommand = (spanline: Command, done: (exitCode: number) => void) => void;

/** In the order of the help. */
export const COMMANDS: ReadonlyMap<string, AddCommand> = new Map([
  ["up", addUp],
  ["serve", addServe],
  ["acp", addAcp],
  ["chat", addChat],
  ["run", addRun],
  ["test", addTestAgent],
  ["infer", addInfer],
  ["sessions", addSessions],
  ["policy", addPolicy],
  ["trust", addTrust],
  ["keys", addKeys],
  ["inspect", addInspect],
  ["invoke", addInvoke],
  ["emulate", addEmulate],
  ["harness", addHarness],
]);
