import type { ApprovalRequested } from "../../domain/agent-event.ts";
import { permissionAnswer } from "../../wire/acp/permission-answer.ts";
import type { RpcAnswer } from "../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "./client-link.ts";

/** Approvals of one session that a client was asked for and has not answered. */
export interface OpenQuestions {
  /** Asks, once, whoever may answer. */
  ask(approval: ApprovalRequested): void;
  /** It is decided: by this client's answer, by somebody else's, or by the clock. */
  decided(approvalId: string): void;
  readonly answered: (approval: ApprovalRequested, answer: RpcAnswer) => Promise<void>;
}

export function openQuestions(sessionId: string, link: ClientLink): OpenQuestions {
  const { sessions, sender, log } = link;
  /** The approval's id and the question's. */
  const open = new Map<string, string>();
  return {
    ask(approval) {
      const { approvalId } = approval;
      if (!sender.principal.rights.includes("approve") || open.has(approvalId)) return;
      const questionId = link.ask(sessionId, approval);
      if (questionId === undefined) log("too many questions are open", { sessionId, approvalId });
      else open.set(approvalId, questionId);
    },
    decided(approvalId) {
      const questionId = open.get(approvalId);
      open.delete(approvalId);
      if (questionId !== undefined) link.withdraw(questionId);
    },
    async answered(approval, answer) {
      const { approvalId } = approval;
      open.delete(approvalId);
      const decision = permissionAnswer(approval, answer);
      if (decision === undefined) return log("a question stays open", { sessionId, approvalId });
      const command = { type: "answer", approvalId, ...decision } as const;
      const reply = await sessions.command(sessionId, command, sender);
      if (reply.status === "accepted") return;
      log("an answer was refused", { sessionId, approvalId, code: reply.failure.code });
    },
  };
}
