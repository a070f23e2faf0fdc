import type { Command } from "commander";
import { addAcpCommand } from "./acp/acp-options.ts";
import { addChatCommand } from "./chat/chat-options.ts";
import { addEmulateCommand } from "./emulate/emulate-options.ts";
import { addHarnessCommand } from "./harness/harness-options.ts";
import { addInferCommand } from "./infer/infer-options.ts";
import { addInspectCommand } from "./inspect/inspect-options.ts";
import { addInvokeCommand } from "./invoke/invoke-options.ts";
import { addKeysCommand } from "./keys/keys-options.ts";
import { addPolicyCommand } from "./policy/policy-options.ts";
import { addRunCommand } from "./run/run-command-options.ts";
import { addServeCommand } from "./serve/serve-options.ts";
import { addSessionsCommand } from "./sessions/sessions-options.ts";
import { addTestCommand } from "./test-agent/test-options.ts";
import { addTrustCommand } from "./trust/trust-options.ts";
import { addUpCommand } from "./serve/up-options.ts";

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
