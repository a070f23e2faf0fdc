import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
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
import { findReadOnlyReason } from "./read-only-reason.ts";
import type { ClientLink } from "../connection/client-link.ts";

/** The open permission requests of a session to a client. */
export interface PendingPermissions {
  /** Requests a decision, once, if the client may approve. */
  request(permission: PermissionOutput): void;
  /** Withdraws the request, because the approval is resolved: by this client, by another client or at its deadline. */
  withdraw(approvalId: string): void;
  /**
   * Returns the arguments of an open permission request from an offset on. Throws `not_found` if the request is not
   * open here.
   */
  readonly readArguments: (request: ArgumentsRequest) => object;
  readonly handleResponse: (approval: ApprovalRequested, answer: RpcResponse) => Promise<void>;
  /** Withdraws all requests, because the client leaves the session. The approvals stay open for other clients. */
  withdrawAll(): void;
}

interface PendingPermission {
  readonly permission: PermissionOutput;
  /** Absent after the client's response, until the request is sent again. */
  requestKey?: string | undefined;
  /** Stops the timer that sends the request again. */
  stopTimer?: () => void;
  /** The arguments as JSON, cached after the first read. */
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

  function send(entry: PendingPermission): void {
    entry.requestKey = link.requestPermission(sessionId, entry.permission);
  }

  function isOpen(entry: PendingPermission): boolean {
    const { approvalId } = entry.permission.approval;
    return pending.get(approvalId) === entry && !link.disconnectSignal.aborted;
  }

  function remove(approvalId: string): void {
    const entry = pending.get(approvalId);
    pending.delete(approvalId);
    entry?.stopTimer?.();
    if (entry?.requestKey !== undefined) link.withdrawRequest(entry.requestKey);
  }

  /** The decision could not be stored. Sends the request again when the log can be written. */
  function sendAgainLater(entry: PendingPermission, delayMs = FIRST_DELAY_MS): void {
    if (!isOpen(entry)) return;
    entry.stopTimer = link.clock.schedule(delayMs, () => {
      sessions.checkLog().then(
        () => isOpen(entry) && send(entry),
        () => sendAgainLater(entry, Math.min(2 * delayMs, MAX_DELAY_MS)),
      );
    });
  }

  /** Resolves when the session has accepted or refused the decision. */
  async function decide(
    { turnId }: Pick<PermissionOutput, "turnId">,
    approval: ApprovalRequested,
    answer: RpcResponse,
  ): Promise<void> {
    const { approvalId } = approval;
    const { endsTurn, ...decision } = decodePermissionResponse(approval, answer);
    // The end of the turn closes the approval too. If the client may not end the turn, the response counts as a denial.
    if (endsTurn === true && turnId !== null && (await cancelTurn(turnId))) return;
    const command = { type: "decide-approval", approvalId, ...decision } as const;
    const reply = await sessions.command(sessionId, command, link.sender);
    if (reply.status === "accepted") return;
    log("a decision was refused", { sessionId, approvalId, code: reply.failure.code });
  }

  return {
    request(permission) {
      const { approvalId } = permission.approval;
      if (!link.sender.principal.rights.includes("approve") || pending.has(approvalId)) return;
      const entry: PendingPermission = { permission };
      pending.set(approvalId, entry);
      send(entry);
    },
    withdraw: remove,
    readArguments(request) {
      const { approvalId } = request;
      const entry = pending.get(approvalId);
      if (entry === undefined) {
        const message = `The permission request ${approvalId} is not open on this connection`;
        throw new SpanlineError("not_found", message, { details: { approvalId } });
      }
      entry.text ??= formatArguments(entry.permission.approval);
      return encodeArgumentsResult(request, entry.text, resolveLineLimit(link.getProfile()));
    },
    async handleResponse(approval, answer) {
      const { approvalId } = approval;
      const entry = pending.get(approvalId);
      if (entry?.requestKey !== undefined) link.withdrawRequest(entry.requestKey);
      if (entry !== undefined) entry.requestKey = undefined;
      try {
        await decide(entry?.permission ?? { turnId: null }, approval, answer);
        if (pending.get(approvalId) === entry) pending.delete(approvalId);
      } catch (error) {
        log("a decision could not be stored", { sessionId, approvalId, error: String(error) });
        if (entry !== undefined && findReadOnlyReason(error) === undefined) sendAgainLater(entry);
      }
    },
    withdrawAll() {
      for (const approvalId of pending.keys()) remove(approvalId);
    },
  };
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 5000;
