import type { Command } from "commander";
import { addAcpCommand } from "./acp-options.ts";
import { addChatCommand } from "./chat-options.ts";
import { addEmulateCommand } from "./emulate-options.ts";
import { addHarnessCommand } from "./harness-options.ts";
import { addInferCommand } from "./infer-options.ts";
import { addInspectCommand } from "./inspect-options.ts";
import { addInvokeCommand } from "./invoke-options.ts";
import { addKeysCommand } from "./keys-options.ts";
import { addPolicyCommand } from "./policy-options.ts";
import { addRunCommand } from "./run-options.ts";
import { addServeCommand } from "./serve-options.ts";
import { addSessionsCommand } from "./sessions-options.ts";
import { addTestCommand } from "./test-agent-options.ts";
import { addTrustCommand } from "./trust-options.ts";
import { addUpCommand } from "./up-options.ts";

/** Adds a command to the program; `done` is told how it ended. */
export type AddCommand = (spanline: Command, onExit: (exitCode: number) => void) => void;

/** In the order of the help. */
export const COMMANDS: ReadonlyMap<string, AddCommand> = new Map([
  ["up", addUpCommand],
  ["serve", addServeCommand],
  ["acp", addAcpCommand],
  ["chat", addChatCommand],
  ["run", addRunCommand],
  ["test", addTestCommand],
  ["infer", addInferCommand],
  ["sessions", addSessionsCommand],
  ["policy", addPolicyCommand],
  ["trust", addTrustCommand],
  ["keys", addKeysCommand],
  ["inspect", addInspectCommand],
  ["invoke", addInvokeCommand],
  ["emulate", addEmulateCommand],
  ["harness", addHarnessCommand],
]);
