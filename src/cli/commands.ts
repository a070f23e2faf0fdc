import type { Command } from "commander";
import { addAcpCommand } from "./acp/acp-command.ts";
import { addAgentsCommand } from "./agents/agents-command.ts";
import { addChatCommand } from "./chat/chat-options.ts";
import { addEmulateCommand } from "./emulate/emulate-command.ts";
import { addHarnessCommand } from "./harness/harness-command.ts";
import { addInferCommand } from "./infer/infer-command.ts";
import { addInspectCommand } from "./inspect/inspect-command.ts";
import { addInvokeCommand } from "./invoke/invoke-command.ts";
import { addKeysCommand } from "./keys/keys-command.ts";
import { addPolicyCommand } from "./policy/policy-command.ts";
import { addRunCommand } from "./run/run-command.ts";
import { addServeCommand } from "./serve/serve-command.ts";
import { addSessionsCommand } from "./sessions/sessions-command.ts";
import { addTestCommand } from "./test-agent/test-command.ts";
import { addTrustCommand } from "./trust/trust-command.ts";
import type { ExecuteCommand } from "./shared/execute-command.ts";
import { addUpCommand } from "./serve/up-command.ts";

/** Adds a command to the program. */
export type AddCommand = (spanline: Command, execute: ExecuteCommand) => void;

/** All commands, in the order of the help. */
export const COMMANDS: ReadonlyMap<string, AddCommand> = new Map([
  ["up", addUpCommand],
  ["serve", addServeCommand],
  ["acp", addAcpCommand],
  ["chat", addChatCommand],
  ["run", addRunCommand],
  ["test", addTestCommand],
  ["infer", addInferCommand],
  ["sessions", addSessionsCommand],
  ["agents", addAgentsCommand],
  ["policy", addPolicyCommand],
  ["trust", addTrustCommand],
  ["keys", addKeysCommand],
  ["inspect", addInspectCommand],
  ["invoke", addInvokeCommand],
  ["emulate", addEmulateCommand],
  ["harness", addHarnessCommand],
]);
