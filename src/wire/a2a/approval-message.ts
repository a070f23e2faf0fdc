import { toJsonText, type JsonObject } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import { DECISION_NAMES } from "../../domain/policy/approval-decision.ts";
import { cutText } from "../../text/cut-text.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import type { TaskMessage } from "./task.ts";

/**
 * Describes an open request to people: a text for a person, and the same request as data for a program. The reply is a
 * message of the task with a text, or with data that names the request (`read-decision.ts`).
 */
export function createApprovalMessage(request: ApprovalRequested): TaskMessage {
  return {
    messageId: request.approvalId,
    role: "agent",
    parts: [
      { type: "text", text: formatRequest(request) },
      { type: "data", data: encodeRequest(request), mediaType: "application/json" },
    ],
  };
}

function formatRequest({
  question,
  action,
  input,
  form,
  options,
  worker,
}: ApprovalRequested): string {
  const origin = worker === undefined ? "" : ` (worker "${worker.name}")`;
  if (question === "question" && form !== undefined)
    return `${form.text}${formatReply(form.choices)}`;
  const call = input === null ? action : `${action} ${shorten(toJsonText(input))}`;
  return `Approval needed${origin}: ${call}${formatReply(options)}`;
}

function formatReply(options: readonly string[] | undefined): string {
  return options === undefined ? "" : `\n\nReply with one of: ${options.join(", ")}`;
}

/** Characters of the arguments in the text. The data has all of them. */
const MAX_INPUT_LENGTH = 2000;

function shorten(text: string): string {
  if (text.length <= MAX_INPUT_LENGTH) return text;
  return `${cutText(text, MAX_INPUT_LENGTH)} … (${text.length} characters, whole in the data)`;
}

function encodeRequest(request: ApprovalRequested): JsonObject {
  const { approvalId, question, action, input, options, deadline, approvers = 1 } = request;
  const { form, worker } = request;
  return {
    approvalId,
    question,
    action,
    input,
    options,
    optionNames: options.map((option) => DECISION_NAMES[option]),
    approvers,
    deadline: formatIsoTime(deadline),
    ...(form !== undefined && {
      form: {
        kind: form.kind,
        text: form.text,
        ...omitUndefined({ choices: form.choices, schema: form.schema }),
      },
    }),
    ...(worker !== undefined && {
      worker: { workerId: worker.workerId, name: worker.name, sessionId: worker.sessionId },
    }),
  };
}
