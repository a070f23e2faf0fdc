import type { ApprovalRequested } from "../../domain/agent-event.ts";
import { SpanlineError } from "../../domain/errors.ts";
import {
  argumentsAnswer,
  argumentsText,
  type ArgumentsRequest,
} from "../../wire/acp/approval-arguments.ts";
import { lineLimitOf } from "../../wire/acp/client-profile.ts";
import { permissionAnswer } from "../../wire/acp/permission-answer.ts";
import type { Asked } from "../../wire/acp/update-state.ts";
import type { RpcAnswer } from "../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "./client-link.ts";

/** Approvals of one session that a client was asked for and has not answered. */
export interface OpenQuestions {
  /** Asks, once, whoever may answer. */
  ask(asked: Asked): void;
  /** It is decided: by this client's answer, by somebody else's, or by the clock. */
  decided(approvalId: string): void;
  /** The arguments of an open question, from an offset on. Throws `not_found` if it is not open here. */
  readonly readArguments: (request: ArgumentsRequest) => object;
  readonly answered: (approval: ApprovalRequested, answer: RpcAnswer) => Promise<void>;
  /** The client leaves the session: what it was asked is taken back, and stays open for others. */
  end(): void;
}

interface SentQuestion {
  readonly questionId: string;
  readonly turnId: string | null;
  readonly approval: ApprovalRequested;
  /** The arguments as JSON, once somebody has read a part of them. */
  text?: string;
}

export function openQuestions(sessionId: string, link: ClientLink): OpenQuestions {
  const { sessions, log } = link;
  /** By the approval's id. */
  const open = new Map<string, SentQuestion>();
  const endTurn = async (turnId: string): Promise<boolean> => {
    const cancel = { type: "cancel", turnId } as const;
    const { status } = await sessions.command(sessionId, cancel, link.sender);
    return status === "accepted";
  };
  return {
    ask(asked) {
      const { approvalId } = asked.approval;
      if (!link.sender.principal.rights.includes("approve") || open.has(approvalId)) return;
      const questionId = link.ask(sessionId, asked);
      if (questionId === undefined) log("too many questions are open", { sessionId, approvalId });
      else open.set(approvalId, { questionId, turnId: asked.turnId, approval: asked.approval });
    },
    decided(approvalId) {
      const question = open.get(approvalId);
      open.delete(approvalId);
      if (question !== undefined) link.withdraw(question.questionId);
    },
    readArguments(request) {
      const { approvalId } = request;
      const question = open.get(approvalId);
      if (question === undefined) {
        const message = `The permission request ${approvalId} is not open on this connection`;
        throw new SpanlineError("not_found", message, { details: { approvalId } });
      }
      question.text ??= argumentsText(question.approval);
      return argumentsAnswer(request, question.text, lineLimitOf(link.profile()));
    },
    async answered(approval, answer) {
      const { approvalId } = approval;
      const turnId = open.get(approvalId)?.turnId ?? null;
      open.delete(approvalId);
      const { endsTurn, ...answered } = permissionAnswer(approval, answer);
      // Ending the turn closes the question too; who may not end it has said no.
      if (endsTurn === true && turnId !== null && (await endTurn(turnId))) return;
      const command = { type: "answer", approvalId, ...answered } as const;
      const reply = await sessions.command(sessionId, command, link.sender);
      if (reply.status === "accepted") return;
      log("an answer was refused", { sessionId, approvalId, code: reply.failure.code });
    },
    end() {
      for (const { questionId } of open.values()) link.withdraw(questionId);
      open.clear();
    },
  };
}
