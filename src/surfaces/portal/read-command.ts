import type { JsonObject } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { Right, Principal } from "../../domain/actor.ts";
import type { ApprovalDecision } from "../../domain/policy/approval-decision.ts";
import type { SessionCommand } from "../../domain/session-command.ts";
import { isSessionMode, SESSION_MODES } from "../../domain/session-mode.ts";
import { readIdempotencyKey } from "../../http/routing/idempotency-key.ts";
import { createInvalidRequestError } from "../../http/routing/json-body.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import type { Sender } from "../../session/sessions.ts";
import { readOptionalString, readRequiredString } from "./request-body.ts";

/** A command and the right it requires. */
export interface PortalCommand {
  readonly command: SessionCommand;
  readonly right: Right;
  /** The action's name in the error for callers without the right. */
  readonly what: string;
}

export function readCommand(body: JsonObject): PortalCommand {
  const type = readRequiredString(body, "type");
  switch (type) {
    case "prompt":
      return {
        command: createPromptCommand(readRequiredString(body, "text")),
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
    case "configure":
      return { command: readModeCommand(body), right: "prompt", what: "Changing the mode" };
    default:
      throw createInvalidRequestError(
        `"type" is "${type}": expected prompt, answer, cancel, withdraw, revoke or configure`,
      );
  }
}

function readModeCommand(body: JsonObject): SessionCommand {
  const mode = readRequiredString(body, "mode");
  if (isSessionMode(mode)) return { type: "set-mode", mode };
  throw createInvalidRequestError(
    `"mode" is "${mode}": expected one of ${SESSION_MODES.join(", ")}`,
  );
}

export function createPromptCommand(text: string): SessionCommand {
  return { type: "prompt", content: [{ type: "text", text }] };
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
};

function readApprovalCommand(body: JsonObject): SessionCommand {
  const approvalId = readRequiredString(body, "approvalId");
  const decision = readRequiredString(body, "decision");
  const reason = readOptionalString(body, "reason");
  if (!isDecision(decision)) {
    throw createInvalidRequestError(
      `"decision" is "${decision}": expected one of ${Object.keys(DECISIONS).join(", ")}`,
    );
  }
  return { type: "decide-approval", approvalId, decision, ...omitUndefined({ reason }) };
}

function isDecision(text: string): text is ApprovalDecision {
  return Object.hasOwn(DECISIONS, text);
}

export function createSender(request: ServedRequest, principal: Principal): Sender {
  const key = readIdempotencyKey(request);
  // Command ids of all surfaces share one session, so the prefix names the surface.
  return { principal, ...(key !== undefined && { commandId: `portal:${key}` }) };
}
