import type { PolicyContext, PolicyDecision } from "../../../src/domain/policy/policy-decision.ts";
import type { Question } from "../../../src/domain/question.ts";
import type { RequestDetails } from "../../../src/portal/inbox/request/open-request.ts";
import type { InboxItem } from "../../../src/wire/live/live-frames.ts";

/** The time of the first request of the samples. */
export const SAMPLE_TIME = Date.UTC(2026, 10, 18, 17, 0, 0);

const MINUTE = 60_000;
const NO_DEADLINE = 8_640_000_000_000_000;

function createContext(fields: Partial<PolicyContext>): PolicyContext {
  return {
    tool: "write_file",
    kind: "edit",
    sideEffect: "workspace_write",
    paths: [],
    capabilities: [],
    repeats: 0,
    ...fields,
  };
}

export function createAsk(
  context: Partial<PolicyContext>,
  fields: Partial<PolicyDecision> = {},
): PolicyDecision {
  return {
    action: "ask",
    reason: "Changes of files need approval",
    rule: { source: "rules", action: "ask", id: "writes", index: 2 },
    labels: ["approval_required"],
    context: createContext(context),
    approvers: 1,
    ...fields,
  };
}

/** A request to run a tool, whose fields can be replaced. */
export function createRequest(fields: Partial<RequestDetails> = {}): RequestDetails {
  return {
    type: "approval.requested",
    approvalId: "appr_1",
    question: "run",
    options: ["allow", "allow-always", "deny"],
    subjectId: "tool_1",
    action: "write_file",
    input: { path: "README.md", text: "Hello\n" },
    deadline: SAMPLE_TIME + 4 * MINUTE,
    grantLabel: "write_file of README.md",
    decision: createAsk({ paths: [createPath("README.md")] }),
    ...fields,
  };
}

export function createPath(path: string): PolicyContext["paths"][number] {
  return {
    argument: "path",
    input: path,
    location: "inside",
    workspacePath: path,
    hostPath: `/work/shop/${path}`,
  };
}

export function createQuestion(
  form: Partial<Question>,
  fields: Partial<RequestDetails> = {},
): RequestDetails {
  const question: Question = { kind: "question", text: "Which city?", ...form };
  return createRequest({
    approvalId: `hitl_${question.kind}_1`,
    question: "question",
    options: question.kind === "escalation" ? ["answer"] : ["answer", "decline"],
    action: question.text,
    input: { question: question.text },
    form: question,
    deadline: question.kind === "escalation" ? NO_DEADLINE : SAMPLE_TIME + 120 * MINUTE,
    decision: createAsk(
      { tool: "ask_user", kind: "other", sideEffect: "none" },
      { reason: "The agent asks a person.", rule: null, labels: ["approval_required", "question"] },
    ),
    ...fields,
  });
}

/** An inbox item with the given request. `id` makes its key unique. */
export function createInboxItem(
  id: string,
  request: RequestDetails = createRequest(),
  fields: Partial<InboxItem> = {},
): InboxItem {
  return {
    key: `ses_1/${id}`,
    sessionId: "ses_1",
    title: "Fix the checkout",
    agent: "demo",
    principal: "local",
    requestedAt: SAMPLE_TIME,
    request: { ...request, approvalId: id },
    votes: [],
    ...fields,
  };
}
