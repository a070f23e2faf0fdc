import type { Actor } from "../domain/actor.ts";
import { isYes } from "../domain/answers.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import { digestOf } from "../platform/digest.ts";
import { grant } from "./approvals/grants.ts";
import { answered, voted } from "./approvals/questions.ts";
import { refused } from "./refused.ts";
import { finishTool, notRun, unknownText, whenLost } from "./tools/finish-tool.ts";
import { runOf } from "./tools/tools-state.ts";
import type { Work } from "./work.ts";
import type { PendingApproval } from "./approvals/approvals-state.ts";

type Answer = Extract<SessionCommand, { readonly type: "answer" }>;

export function answerQuestion(work: Work, command: Answer, by: Actor): CommandReply {
  const { approvalId, decision } = command;
  const asked = work.state.approvals.pending.find((one) => one.approvalId === approvalId);
  if (asked === undefined || asked.deadline <= work.at) {
    return refused(
      "conflict",
      "This approval is not open: it was answered, its time is over, or its turn has ended",
    );
  }
  if (!asked.options.includes(decision)) {
    const wanted = asked.options.join(", ");
    return refused("invalid_option", `"${decision}" is no answer to this; it takes ${wanted}`);
  }
  if (!isYes(decision) || asked.approvers <= 1) return resolve(work, asked, command, []);
  if (by.principal === undefined) return refused("access_denied", "Nobody knows who you are");
  return vote(work, asked, command, by.principal);
}

/** Yes counts once for each principal, and only with those who agreed to the very same arguments. */
function vote(
  work: Work,
  asked: PendingApproval,
  command: Answer,
  principal: string,
): CommandReply {
  const { approvalId, approvers, votes } = asked;
  const { decision, reason, input } = command;
  const digest = digestOf(input ?? runOf(work.state.tools, asked.about)?.input ?? {});
  const agreed = votes.filter((one) => one.digest === digest).map((one) => one.principal);
  if (agreed.includes(principal)) {
    const message = `You have said yes to this; it needs ${approvers} different people`;
    return refused("conflict", message);
  }
  if (agreed.length + 1 >= approvers) return resolve(work, asked, command, [...agreed, principal]);
  const why = reason === undefined ? {} : { reason };
  const other = input === undefined ? {} : { input };
  voted(work, { approvalId, principal, decision, digest, ...other, ...why });
  return { status: "accepted" };
}

function resolve(
  work: Work,
  asked: PendingApproval,
  command: Answer,
  principals: readonly string[],
): CommandReply {
  const { decision, reason, input } = command;
  answered(work, asked, {
    decision,
    ...(reason !== undefined && { reason }),
    ...(input !== undefined && { input }),
    ...(principals.length > 0 && { principals }),
  });
  // Nobody knows yet what a rule will say of other arguments, so nothing is allowed for good with them.
  if (decision === "allow-always" && input === undefined) grant(work, asked);
  closeAnswered(work, asked, command);
  return { status: "accepted" };
}

/** Answers that let nothing run close the call. */
function closeAnswered(
  work: Work,
  { about, question }: PendingApproval,
  { decision, reason }: Answer,
): void {
  const run = runOf(work.state.tools, about);
  if (run === undefined) return;
  const why = reason === undefined ? "" : ` The reason given: ${reason}`;
  if (decision === "deny" && question === "outcome") {
    finishTool(work, run, { ending: "unknown", text: `${unknownText(run)}${why}` });
  } else if (decision === "deny") {
    const text = `${notRun(run)}: it was denied.${why}`;
    finishTool(work, run, { ending: "denied", text });
  } else if (decision === "done") {
    const text = `${run.name} did its work; its output was lost ${whenLost(run)}.${why}`;
    finishTool(work, run, { ending: "succeeded", text });
  } else if (decision === "failed") {
    const text = `${run.name} failed ${whenLost(run)}.${why}`;
    finishTool(work, run, { ending: "failed", text });
  }
}
