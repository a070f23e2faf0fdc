import type { JsonObject } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { SchemaError } from "../../data/schema-error.ts";
import type { Right, Principal } from "../../domain/actor.ts";
import type { ApprovalDecision } from "../../domain/policy/approval-decision.ts";
import type { SessionCommand } from "../../domain/session-command.ts";
import { isSessionMode, SESSION_MODES } from "../../domain/session-mode.ts";
import type { CompactionOptions } from "../../domain/transcript/compaction.ts";
import { COMPACTION_OPTIONS_SCHEMA } from "../../domain/transcript/compaction-schema.ts";
import { readIdempotencyKey } from "../../http/routing/idempotency-key.ts";
import { createInvalidRequestError } from "../../http/routing/json-body.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import type { Sender } from "../../session/sessions.ts";
import { readPromptBudget, readPromptContent } from "./read-prompt.ts";
import { readOptionalObject, readOptionalString, readRequiredString } from "./request-body.ts";
import { readSteeringCommand } from "./read-steering-command.ts";
import { readWorkerCommand } from "./read-worker-command.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

/** A command and the right it requires. */
export interface PortalCommand {
  readonly command: SessionCommand;
  readonly right: Right;
  /** The action's name in the error for callers without the right. */
  readonly what: string;
}

export const COMMAND_TYPES = [
  "prompt",
  "inject",
  "replace-inject",
  "revoke-inject",
  "remind",
  "revoke-reminder",
  "resume-daemon",
  "cancel-tool-call",
  "compact",
  "delegate",
  "trigger-worker",
  "close-worker",
  "watch-files",
  "unwatch-files",
  "answer",
  "cancel",
  "withdraw",
  "revoke",
  "configure",
  "rename",
] as const;

export type CommandType = (typeof COMMAND_TYPES)[number];

export function readCommand(body: JsonObject): PortalCommand {
  const type = readCommandType(body);
  switch (type) {
    case "prompt":
      return {
        command: readPromptCommand(body),
        right: "prompt",
        what: "Prompting",
      };
    case "answer":
      return {
        command: readApprovalCommand(body),
        right: "approve",
        what: "Answering an approval",
      };
    case "cancel": {
      const turnId = readOptionalString(body, "turnId");
      const command = { type: "cancel", ...omitUndefined({ turnId }) } as const;
      return { command, right: "control", what: "Cancelling a turn" };
    }
    case "withdraw": {
      const command = {
        type: "withdraw-prompt",
        promptId: readRequiredString(body, "promptId"),
      } as const;
      return { command, right: "prompt", what: "Withdrawing a prompt" };
    }
    case "revoke": {
      const command = {
        type: "revoke-grant",
        grantId: readRequiredString(body, "grantId"),
      } as const;
      return { command, right: "approve", what: "Revoking a grant" };
    }
    case "inject":
    case "replace-inject":
    case "revoke-inject":
    case "remind":
    case "revoke-reminder":
    case "resume-daemon":
    case "cancel-tool-call":
    case "watch-files":
    case "unwatch-files":
      return { command: readSteeringCommand(type, body), right: "prompt", what: "Steering" };
    case "compact":
      return {
        command: { type, options: readCompactionOptions(body) },
        right: "prompt",
        what: "Compacting",
      };
    case "delegate":
    case "trigger-worker":
      return { command: readWorkerCommand(type, body), right: "prompt", what: "Delegating" };
    case "close-worker":
      return { command: readWorkerCommand(type, body), right: "control", what: "Closing a worker" };
    case "rename": {
      const command = { type: "set-title", title: readTitle(body) } as const;
      return { command, right: "control", what: "Renaming a session" };
    }
    case "configure":
      return { command: readModeCommand(body), right: "prompt", what: "Changing the mode" };
    default:
      return type satisfies never;
  }
}

export function readPromptCommand(body: JsonObject): SessionCommand {
  const options = readPromptBudget(body);
  return { type: "prompt", content: readPromptContent(body), ...omitUndefined({ options }) };
}

function readCommandType(body: JsonObject): CommandType {
  const text = readRequiredString(body, "type");
  const type = COMMAND_TYPES.find((known) => known === text);
  if (type !== undefined) return type;
  throw createInvalidRequestError(formatUnknownName("Command", text, { names: COMMAND_TYPES }));
}

function readCompactionOptions(body: JsonObject): CompactionOptions {
  const { strategy, keepLast, instructions } = body;
  try {
    const fields = omitUndefined({ strategy, keepLast, instructions });
    return COMPACTION_OPTIONS_SCHEMA(fields, "command");
  } catch (error) {
    if (error instanceof SchemaError) throw createInvalidRequestError(error.message);
    throw error;
  }
}

/** Characters. */
const MAX_TITLE_LENGTH = 200;

function readTitle(body: JsonObject): string {
  const title = readRequiredString(body, "title");
  if (title.length <= MAX_TITLE_LENGTH) return title;
  throw createInvalidRequestError(`"title" has more than ${MAX_TITLE_LENGTH} characters`);
}

function readModeCommand(body: JsonObject): SessionCommand {
  const mode = readRequiredString(body, "mode");
  if (isSessionMode(mode)) return { type: "set-mode", mode };
  throw createInvalidRequestError(formatUnknownName("Mode", mode, { names: SESSION_MODES }));
}

const DECISIONS: { readonly [Name in ApprovalDecision]: true } = {
  allow: true,
  "allow-always": true,
  deny: true,
  done: true,
  failed: true,
  "run-again": true,
  continue: true,
  reseed: true,
  stop: true,
  answer: true,
  decline: true,
};

function readApprovalCommand(body: JsonObject): SessionCommand {
  const approvalId = readRequiredString(body, "approvalId");
  const reason = readOptionalString(body, "reason");
  const { answer } = body;
  const input = readOptionalObject(body, "input");
  // A question of the agent has an answer; its decision is then known.
  const decision = readOptionalString(body, "decision");
  if (answer === undefined && decision === undefined) readRequiredString(body, "decision");
  if (decision !== undefined && !isDecision(decision)) {
    const names = Object.keys(DECISIONS);
    throw createInvalidRequestError(formatUnknownName("Decision", decision, { names }));
  }
  return {
    type: "decide-approval",
    approvalId,
    ...omitUndefined({ decision, answer, reason, input }),
  };
}

function isDecision(text: string): text is ApprovalDecision {
  return Object.hasOwn(DECISIONS, text);
}

export function createSender(request: ServedRequest, principal: Principal): Sender {
  const key = readIdempotencyKey(request);
  // Command ids of all surfaces share one session, so the prefix names the surface.
  return { principal, ...(key !== undefined && { commandId: `portal:${key}` }) };
}
