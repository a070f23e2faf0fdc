import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import type { CommandReply, SessionCommand } from "../../../domain/session-command.ts";
import {
  encodeArgumentsResult,
  formatArguments,
  type ArgumentsRequest,
} from "../../../wire/acp/decode/approval-arguments.ts";
import { resolveLineLimit } from "../../../wire/acp/decode/client-profile.ts";
import { decodeQuestionResponse } from "../../../wire/acp/decode/decode-question-response.ts";
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
  readArguments(request: ArgumentsRequest): object;
  handleResponse(approval: ApprovalRequested, answer: RpcResponse): Promise<void>;
  /** Withdraws all requests, because the client leaves the session. The approvals stay open for other clients. */
  withdrawAll(): void;
}

interface PendingPermission {
  readonly permission: PermissionOutput;
  /** Absent after the client's response, until the request is sent again. */
  requestKey?: string | undefined;
  /** How often a question was sent again after an answer that was not valid. */
  repeats: number;
  /** Stops the timer that sends the request again. */
  stopTimer?: () => void;
  /** The arguments as JSON, cached after the first read. */
  text?: string;
}

export function createPendingPermissions(sessionId: string, link: ClientLink): PendingPermissions {
  return new PermissionRequests(sessionId, link);
}

class PermissionRequests implements PendingPermissions {
  readonly #sessionId: string;
  readonly #link: ClientLink;
  /** By the approval's id. */
  readonly #pending = new Map<string, PendingPermission>();

  constructor(sessionId: string, link: ClientLink) {
    this.#sessionId = sessionId;
    this.#link = link;
  }

  request(permission: PermissionOutput): void {
    const { approvalId } = permission.approval;
    const { rights } = this.#link.sender.principal;
    if (!rights.includes("approve") || this.#pending.has(approvalId)) return;
    const entry: PendingPermission = { permission, repeats: 0 };
    this.#pending.set(approvalId, entry);
    const { notification } = permission;
    if (notification !== undefined)
      this.#link.sendNotification(this.#sessionId, notification.method, notification.params);
    this.#send(entry);
  }

  withdraw(approvalId: string): void {
    const entry = this.#pending.get(approvalId);
    this.#pending.delete(approvalId);
    entry?.stopTimer?.();
    if (entry?.requestKey !== undefined) this.#link.withdrawRequest(entry.requestKey);
  }

  readArguments(request: ArgumentsRequest): object {
    const { approvalId } = request;
    const entry = this.#pending.get(approvalId);
    if (entry === undefined) {
      const message = `The permission request ${approvalId} is not open on this connection`;
      throw new SpanlineError("not_found", message, { details: { approvalId } });
    }
    entry.text ??= formatArguments(entry.permission.approval);
    return encodeArgumentsResult(request, entry.text, resolveLineLimit(this.#link.getProfile()));
  }

  async handleResponse(approval: ApprovalRequested, answer: RpcResponse): Promise<void> {
    const { approvalId } = approval;
    const entry = this.#pending.get(approvalId);
    if (entry?.requestKey !== undefined) this.#link.withdrawRequest(entry.requestKey);
    if (entry !== undefined) entry.requestKey = undefined;
    try {
      const isInvalid = await this.#decide(entry?.permission ?? { turnId: null }, approval, answer);
      if (entry === undefined || this.#pending.get(approvalId) !== entry) return;
      if (isInvalid && entry.repeats < MAX_REPEATS) {
        entry.repeats += 1;
        this.#send(entry);
      } else this.#pending.delete(approvalId);
    } catch (error) {
      const facts = { sessionId: this.#sessionId, approvalId, error: String(error) };
      this.#link.log("a decision could not be stored", facts);
      if (entry !== undefined && findReadOnlyReason(error) === undefined)
        this.#sendAgainLater(entry);
    }
  }

  withdrawAll(): void {
    for (const approvalId of this.#pending.keys()) this.withdraw(approvalId);
  }

  #send(entry: PendingPermission): void {
    const { approval, request } = entry.permission;
    if (request === undefined) return;
    entry.requestKey = this.#link.requestPermission(this.#sessionId, approval, request);
  }

  #isOpen(entry: PendingPermission): boolean {
    const { approvalId } = entry.permission.approval;
    return this.#pending.get(approvalId) === entry && !this.#link.disconnectSignal.aborted;
  }

  /** The decision could not be stored. Sends the request again when the log can be written. */
  #sendAgainLater(entry: PendingPermission, delayMs = FIRST_DELAY_MS): void {
    if (!this.#isOpen(entry)) return;
    entry.stopTimer = this.#link.clock.schedule(delayMs, () => {
      this.#link.sessions.checkLog().then(
        () => this.#isOpen(entry) && this.#send(entry),
        () => this.#sendAgainLater(entry, Math.min(2 * delayMs, MAX_DELAY_MS)),
      );
    });
  }

  /**
   * Resolves when the session has accepted or refused the decision. Returns true if the answer to a question was not
   * valid, so that the person can correct it.
   */
  async #decide(
    { turnId }: Pick<PermissionOutput, "turnId">,
    approval: ApprovalRequested,
    answer: RpcResponse,
  ): Promise<boolean> {
    const { approvalId, question } = approval;
    const facts = { sessionId: this.#sessionId, approvalId };
    const decoded =
      question === "question"
        ? decodeQuestionResponse(approval, answer)
        : decodePermissionResponse(approval, answer);
    if (decoded === undefined) {
      this.#link.log("a client did not answer a question, which stays open", facts);
      return false;
    }
    const { endsTurn, ...decision } = decoded;
    // The end of the turn closes the approval too. If the client may not end the turn, the response counts as a denial.
    if (endsTurn === true && turnId !== null) {
      const { status } = await this.#command({ type: "cancel", turnId });
      if (status === "accepted") return false;
    }
    const reply = await this.#command({ type: "decide-approval", approvalId, ...decision });
    if (reply.status === "accepted") return false;
    const { code } = reply.failure;
    this.#link.log("a decision was refused", { ...facts, code });
    return question === "question" && code === "invalid_option";
  }

  #command(command: SessionCommand): Promise<CommandReply> {
    return this.#link.sessions.command(this.#sessionId, command, this.#link.sender);
  }
}

/** Limit for clients that answer by themselves and always with the same invalid answer. */
const MAX_REPEATS = 3;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 5000;
