import type { ApprovalRequested } from "../../../domain/events/session-event.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import {
  encodeArgumentsResult,
  formatArguments,
  type ArgumentsRequest,
} from "../../../wire/acp/decode/approval-arguments.ts";
import { resolveLineLimit } from "../../../wire/acp/decode/client-profile.ts";
import { decodePermissionResponse } from "../../../wire/acp/decode/decode-permission-response.ts";
import type { PermissionOutput } from "../../../wire/acp/encode/update-state.ts";
import type { RpcResponse } from "../../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "../connection/client-link.ts";

/** Approvals of one session that a client was asked for and has not answered. */
export interface PendingPermissions {
  /** Asks, once, whoever may answer. */
  request(permission: PermissionOutput): void;
  /** It is decided: by this client's answer, by somebody else's, or by the clock. */
  withdraw(approvalId: string): void;
  /** The arguments of an open question, from an offset on. Throws `not_found` if it is not open here. */
  readonly readArguments: (request: ArgumentsRequest) => object;
  readonly handleResponse: (approval: ApprovalRequested, answer: RpcResponse) => Promise<void>;
  /** The client leaves the session: what it was asked is taken back, and stays open for others. */
  withdrawAll(): void;
}

interface PendingPermission {
  readonly requestId: string;
  readonly turnId: string | null;
  readonly approval: ApprovalRequested;
  /** The arguments as JSON, once somebody has read a part of them. */
  text?: string;
}

export function createPendingPermissions(sessionId: string, link: ClientLink): PendingPermissions {
  const { sessions, log } = link;
  /** By the approval's id. */
  const pending = new Map<string, PendingPermission>();
  const cancelTurn = async (turnId: string): Promise<boolean> => {
    const cancel = { type: "cancel", turnId } as const;
    const { status } = await sessions.command(sessionId, cancel, link.sender);
    return status === "accepted";
  };
  return {
    request(permission) {
      const { approvalId } = permission.approval;
      if (!link.sender.principal.rights.includes("approve") || pending.has(approvalId)) return;
      const requestId = link.requestPermission(sessionId, permission);
      if (requestId === undefined) log("too many questions are open", { sessionId, approvalId });
      else
        pending.set(approvalId, {
          requestId,
          turnId: permission.turnId,
          approval: permission.approval,
        });
    },
    withdraw(approvalId) {
      const entry = pending.get(approvalId);
      pending.delete(approvalId);
      if (entry !== undefined) link.withdrawRequest(entry.requestId);
    },
    readArguments(request) {
      const { approvalId } = request;
      const entry = pending.get(approvalId);
      if (entry === undefined) {
        const message = `The permission request ${approvalId} is not open on this connection`;
        throw new SpanlineError("not_found", message, { details: { approvalId } });
      }
      entry.text ??= formatArguments(entry.approval);
      return encodeArgumentsResult(request, entry.text, resolveLineLimit(link.getProfile()));
    },
    async handleResponse(approval, answer) {
      const { approvalId } = approval;
      const turnId = pending.get(approvalId)?.turnId ?? null;
      pending.delete(approvalId);
      const { endsTurn, ...decision } = decodePermissionResponse(approval, answer);
      // Ending the turn closes the question too; who may not end it has said no.
      if (endsTurn === true && turnId !== null && (await cancelTurn(turnId))) return;
      const command = { type: "answer", approvalId, ...decision } as const;
      const reply = await sessions.command(sessionId, command, link.sender);
      if (reply.status === "accepted") return;
      log("an answer was refused", { sessionId, approvalId, code: reply.failure.code });
    },
    withdrawAll() {
      for (const { requestId: questionId } of pending.values()) link.withdrawRequest(questionId);
      pending.clear();
    },
  };
}
