import { answerThere } from "../bridge/answer-there.ts";
import type { ApprovalRequested, Decision } from "../domain/agent-event.ts";
import { counted } from "../domain/counted.ts";
import { errorFrom, SpanlineError } from "../domain/errors.ts";
import { PLAIN } from "../inspect/style.ts";
import { systemClock } from "../platform/clock.ts";
import { packageVersion } from "../platform/package-version.ts";
import { askWhether } from "./ask.ts";
import { INTERRUPTED, interruption } from "./interruption.ts";
import { questionFacts, questionText } from "./question-text.ts";
import { reportProblems, sessionLog, type SessionLog } from "./sessions-log.ts";
import { findSession, runSessions, type SessionsFlags, type SessionsRun } from "./sessions-run.ts";

export interface AnswerFlags extends SessionsFlags {
  readonly allow?: true;
  readonly deny?: true;
  readonly always?: true;
  readonly answer?: string;
}

/** Answers an open question of a session; without an answer it asks on the terminal, or lists what is open. */
export async function answerCommand(
  reference: string,
  approvalId: string | undefined,
  flags: AnswerFlags,
): Promise<number> {
  return runSessions(flags, async (run) => {
    const { sessionId } = await findSession(reference, run);
    const log = sessionLog(run.sessions, sessionId);
    const all = await openQuestions(log);
    const isWhole = reportProblems(log, run.terminal) === 0;
    const open = all.filter((one) => approvalId === undefined || one.approvalId === approvalId);
    const [first, second] = open;
    if (first === undefined && !isWhole) {
      run.terminal.note("No question is open in what can be read of it.\n");
      return 1;
    }
    if (first === undefined) throw nothingOpen(sessionId, approvalId, all);
    const word = wordOf(flags);
    const least = isWhole ? 0 : 1;
    if (word === undefined) return Math.max(least, await askEach(sessionId, open, run));
    if (second !== undefined) {
      await run.terminal.write(listText(open));
      run.terminal.note(`${counted(open.length, "question")} are open; name one by its id.\n`);
      return 2;
    }
    return Math.max(least, await give(sessionId, first, { word, run }));
  });
}

/** What is asked and was not answered yet, the oldest first. */
async function openQuestions({ events }: SessionLog): Promise<ApprovalRequested[]> {
  const open = new Map<string, ApprovalRequested>();
  for await (const examined of events) {
    if (examined.status !== "readable") continue;
    const { event } = examined.envelope;
    if (event.type === "approval.requested") open.set(event.approvalId, event);
    if (event.type === "approval.resolved") open.delete(event.approvalId);
  }
  return [...open.values()];
}

function nothingOpen(
  sessionId: string,
  approvalId: string | undefined,
  all: readonly ApprovalRequested[],
): SpanlineError {
  const what = approvalId === undefined ? "No question" : `No question ${approvalId}`;
  const near = all.map((one) => one.approvalId);
  const details = { near, sessionId };
  return new SpanlineError("not_found", `${what} is open in ${sessionId}`, { details });
}

function wordOf({ allow, deny, always, answer }: AnswerFlags): string | undefined {
  if (allow === true) return "allow";
  if (deny === true) return "deny";
  return always === true ? "allow-always" : answer;
}

/** Questions about what became of something take more than yes or no, and are only listed. */
async function askEach(
  sessionId: string,
  open: readonly ApprovalRequested[],
  run: SessionsRun,
): Promise<number> {
  const { terminal, style } = run;
  let worst = 0;
  for (const request of open) {
    const { question, above, whole } = questionText(questionFacts(request), style);
    const { signal, release } = interruption(() => terminal.note("\n"));
    const isPlain = request.question === "run";
    const asked = isPlain
      ? askWhether(question, { signal, above, ...(whole !== undefined && { whole }) })
      : null;
    const answer = await Promise.resolve(asked).catch(() => "interrupted" as const);
    release();
    if (answer === "interrupted") return INTERRUPTED;
    if (answer === null) await terminal.write(listText([request]));
    else
      worst = Math.max(
        worst,
        await give(sessionId, request, { word: answer ? "allow" : "deny", run }),
      );
  }
  return worst;
}

async function give(
  sessionId: string,
  { approvalId, options, action }: ApprovalRequested,
  { word, run: { terminal, directory } }: { readonly word: string; readonly run: SessionsRun },
): Promise<number> {
  const decision = options.find((option): option is Decision => option === word);
  if (decision === undefined) {
    terminal.note(`"${word}" is no answer to ${approvalId}; it takes ${options.join(", ")}.\n`);
    return 2;
  }
  const reply = await answerThere(
    { sessionId, approvalId, decision },
    {
      directory,
      version: packageVersion(),
      clock: systemClock,
      waiting: () => terminal.note(`Whoever has ${directory} does not answer. Waiting.\n`),
    },
  );
  if (reply === undefined) {
    terminal.note("Nobody runs the session: start `spanline up`, and answer then.\n");
    return 1;
  }
  if (reply.status === "refused") throw errorFrom(reply.failure);
  terminal.note(`${approvalId} (${action}): ${decision}\n`);
  return 0;
}

function listText(open: readonly ApprovalRequested[]): string {
  return open
    .map((request) => {
      const { what, above } = questionText(questionFacts(request), PLAIN);
      const [, , ...rest] = above.split("\n");
      return `${request.approvalId}  ${what}\n${rest.join("\n")}  Answers: ${request.options.join(", ")}\n`;
    })
    .join("");
}
