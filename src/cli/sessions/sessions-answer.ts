import { answerViaOwner, type ApprovalAnswer } from "../../bridge/owner/answer-via-owner.ts";
import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import { type ApprovalDecision, DECISION_NAMES } from "../../domain/policy/approval-decision.ts";
import { readTypedAnswer } from "../../domain/question.ts";
import { pluralize } from "../../text/pluralize.ts";
import { toSpanlineError, SpanlineError } from "../../domain/errors.ts";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import { readPackageVersion } from "../../platform/package-version.ts";
import { confirm } from "../shared/terminal/confirm.ts";
import { INTERRUPTED, watchInterruption } from "../shared/interruption.ts";
import { readApprovalFacts, formatApproval } from "../shared/terminal/approval-text.ts";
import { reportProblems, openSessionLog, type SessionLog } from "./stored-session-log.ts";
import {
  findSession,
  withSessionsContext,
  type SessionsFlags,
  type SessionsContext,
} from "./sessions-context.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

export interface AnswerFlags extends SessionsFlags {
  readonly allow?: true;
  readonly deny?: true;
  readonly always?: true;
  readonly answer?: string;
}

/**
 * Decides an open approval of a session. Without a decision in the flags, asks in the terminal or lists the open
 * approvals.
 */
export async function runSessionsAnswer(
  reference: string,
  approvalId: string | undefined,
  flags: AnswerFlags,
  io: CommandIo,
): Promise<number> {
  return withSessionsContext(flags, io, async (run) => {
    const { sessionId } = await findSession(reference, run);
    const log = openSessionLog(run.sessions, sessionId);
    const all = await listOpenRequests(log);
    const isComplete = reportProblems(log, run.terminal) === 0;
    const open = all.filter(
      (request) => approvalId === undefined || request.approvalId === approvalId,
    );
    const [first, second] = open;
    if (first === undefined && !isComplete) {
      run.terminal.note("The readable part of the log has no open approval.\n");
      return 1;
    }
    if (first === undefined) throw createNothingOpenError(sessionId, approvalId, all);
    const answer = readAnswer(flags);
    const least = isComplete ? 0 : 1;
    if (answer === undefined) return Math.max(least, await decideEach(sessionId, open, run));
    if (second !== undefined) {
      await run.terminal.write(formatRequests(open));
      run.terminal.note(
        `${pluralize(open.length, "approval")} are open. Fix: name one by its id.\n`,
      );
      return 2;
    }
    return Math.max(least, await sendDecision(sessionId, first, { word: answer, run }));
  });
}

/** Returns the open approvals, oldest first. */
async function listOpenRequests({ events }: SessionLog): Promise<ApprovalRequested[]> {
  const open = new Map<string, ApprovalRequested>();
  for await (const examined of events) {
    if (examined.status !== "readable") continue;
    const { event } = examined.envelope;
    if (event.type === "approval.requested") open.set(event.approvalId, event);
    if (event.type === "approval.resolved") open.delete(event.approvalId);
  }
  return [...open.values()];
}

function createNothingOpenError(
  sessionId: string,
  approvalId: string | undefined,
  all: readonly ApprovalRequested[],
): SpanlineError {
  const names = all.map((request) => request.approvalId);
  const details = { near: names, sessionId };
  const message =
    approvalId === undefined
      ? `No approval is open in ${sessionId}`
      : formatUnknownName("Open approval", approvalId, { names, where: `in ${sessionId}` });
  return new SpanlineError("not_found", message, { details });
}

function readAnswer({ allow, deny, always, answer }: AnswerFlags): string | undefined {
  if (allow === true) return "allow";
  if (deny === true) return "deny";
  return always === true ? DECISION_NAMES["allow-always"] : answer;
}

/** Asks about each approval in turn. Approvals with more than yes or no as options are only listed. */
async function decideEach(
  sessionId: string,
  open: readonly ApprovalRequested[],
  run: SessionsContext,
): Promise<number> {
  const { terminal, style } = run;
  let worst = 0;
  for (const request of open) {
    const { question, background, fullText } = formatApproval(readApprovalFacts(request), style);
    const { signal, release } = watchInterruption(run.io, () => terminal.note("\n"));
    const isYesNo = request.question === "run" || isPlainQuestion(request);
    const decision = isYesNo
      ? confirm(question, {
          io: run.io,
          signal,
          background,
          ...omitUndefined({ fullText }),
        })
      : null;
    const answer = await Promise.resolve(decision).catch(() => "interrupted" as const);
    release();
    if (answer === "interrupted") return INTERRUPTED;
    if (answer === null) await terminal.write(formatRequests([request]));
    else
      worst = Math.max(
        worst,
        await sendDecision(sessionId, request, { word: answer ? "allow" : "deny", run }),
      );
  }
  return worst;
}

async function sendDecision(
  sessionId: string,
  request: ApprovalRequested,
  {
    word: answer,
    run: { terminal, directory },
  }: { readonly word: string; readonly run: SessionsContext },
): Promise<number> {
  const { approvalId, action } = request;
  const decided = readDecision(request, answer);
  if (typeof decided === "string") {
    terminal.note(`"${answer}" is not an answer to ${approvalId}: ${decided}.\n`);
    return 2;
  }
  const { decision } = decided;
  const reply = await answerViaOwner(
    { sessionId, approvalId, ...decided },
    {
      directory,
      version: readPackageVersion(),
      clock: systemClock,
      onWaiting: () =>
        terminal.note(`The owner of ${directory} does not respond. Waiting for it.\n`),
    },
  );
  if (reply === undefined) {
    terminal.note("No process runs the session. Fix: start `spanline up`, then answer again.\n");
    return 1;
  }
  if (reply.status === "refused") throw toSpanlineError(reply.failure);
  terminal.note(`${approvalId} (${action}): ${DECISION_NAMES[decision]}\n`);
  return 0;
}

/** Whether the agent asks for a plain yes. */
function isPlainQuestion({ form }: ApprovalRequested): boolean {
  return form !== undefined && form.kind !== "question";
}

type Decided = Pick<ApprovalAnswer, "decision" | "answer">;

/** Reads a decision, or the answer to a question. Returns the expected answer as a string if the word is not valid. */
function readDecision({ options, form }: ApprovalRequested, word: string): Decided | string {
  const no = word === "deny" && form !== undefined ? "decline" : word;
  const decision = options.find((option) => option === no || DECISION_NAMES[option] === no);
  if (form === undefined || decision === "decline")
    return decision === undefined ? `expected ${formatOptions(options)}` : { decision };
  const typed = readTypedAnswer(form, word);
  return typed.ok ? { decision: "answer", answer: typed.answer } : typed.problem;
}

function formatRequests(open: readonly ApprovalRequested[]): string {
  return open
    .map((request) => {
      const { summary, background: above } = formatApproval(
        readApprovalFacts(request),
        PLAIN_STYLE,
      );
      const [, , ...rest] = above.split("\n");
      return `${request.approvalId}  ${summary}\n${rest.join("\n")}  Answers: ${formatAnswers(request)}\n`;
    })
    .join("");
}

function formatAnswers({ form, options }: ApprovalRequested): string {
  if (form?.kind !== "question") return formatOptions(options);
  const { choices, schema } = form;
  const answers = choices?.join(", ") ?? (schema === undefined ? "any text" : "a JSON object");
  return `${answers}, or decline`;
}

function formatOptions(options: readonly ApprovalDecision[]): string {
  return options.map((option) => DECISION_NAMES[option]).join(", ");
}
