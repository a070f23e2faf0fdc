import type { Right } from "../domain/actor.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import { answered } from "./approvals/questions.ts";
import { attach, detach } from "./clients/attach-client.ts";
import { answerHost } from "./clients/host-requests.ts";
import type { Input } from "./input.ts";
import { refused } from "./refused.ts";
import { finishTool } from "./tools/finish-tool.ts";
import { runOf } from "./tools/tools-state.ts";
import { cancel, prompt, withdraw } from "./turn/take-turn-command.ts";
import type { Work } from "./work.ts";

type Commanded = Extract<Input, { readonly type: "commanded" }>;
type Of<Type extends SessionCommand["type"]> = Extract<SessionCommand, { readonly type: Type }>;

export function takeCommand(work: Work, commanded: Commanded): CommandReply {
  const { command, by, rights } = commanded;
  const wanted = rightFor(work, commanded);
  if (wanted !== null && !rights.includes(wanted)) {
    return refused("access_denied", `This needs the right to ${wanted}`);
  }
  switch (command.type) {
    case "prompt":
      return prompt(work, command);
    case "withdraw":
      return withdraw(work, command);
    case "cancel":
      return cancel(work, command);
    case "answer":
      return answer(work, command);
    case "attach":
      return attach(work, command);
    case "detach":
      return detach(work, command);
    case "answer-host":
      return answerHost(work, command, by);
    case "title":
      work.emit({ type: "session.titled", title: command.title });
      return { status: "accepted" };
    default:
      return command satisfies never;
  }
}

/** What is one's own needs no right over others. */
function rightFor({ state }: Work, { command, by }: Commanded): Right | null {
  switch (command.type) {
    case "prompt":
      return "prompt";
    case "withdraw": {
      const queued = state.turn.queue.find(({ promptId }) => promptId === command.promptId);
      return queued === undefined || queued.by?.principal === by.principal ? "prompt" : "control";
    }
    case "answer":
      return "approve";
    case "cancel": {
      const owner = state.turn.current?.by?.principal;
      return owner !== undefined && owner === by.principal ? "prompt" : "control";
    }
    case "attach":
      return command.mode === "observer" && command.clientId === by.clientId ? null : "control";
    case "detach":
      return command.clientId === by.clientId ? null : "control";
    case "title":
      return "control";
    case "answer-host":
      return null;
    default:
      return command satisfies never;
  }
}

function answer(work: Work, command: Of<"answer">): CommandReply {
  const { approvalId, decision, reason, input } = command;
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
  answered(work, {
    approvalId,
    decision,
    ...(reason !== undefined && { reason }),
    ...(input !== undefined && { input }),
  });
  closeAnswered(work, asked.about, command);
  return { status: "accepted" };
}

/** Answers that let nothing run close the call. */
function closeAnswered(work: Work, toolCallId: string, { decision, reason }: Of<"answer">): void {
  const run = runOf(work.state.tools, toolCallId);
  if (run === undefined) return;
  const why = reason === undefined ? "" : ` The reason given: ${reason}`;
  if (decision === "deny") {
    const text = `${run.name} was not run: it was denied.${why}`;
    finishTool(work, run, { ending: "denied", text });
  } else if (decision === "done") {
    const text = `${run.name} did its work; its output was lost when the bridge was killed.${why}`;
    finishTool(work, run, { ending: "succeeded", text });
  } else if (decision === "failed") {
    const text = `${run.name} failed when the bridge was killed.${why}`;
    finishTool(work, run, { ending: "failed", text });
  }
}
