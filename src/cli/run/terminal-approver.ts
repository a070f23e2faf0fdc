import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import {
  type ApprovalDecision,
  DENYING_DECISIONS,
  APPROVING_DECISIONS,
} from "../../domain/policy/approval-decision.ts";
import type { RunDecision } from "../../bridge/run/run-options.ts";
import { type Question, readTypedAnswer } from "../../domain/question.ts";
import { PLAIN_STYLE, toSingleLine } from "../../inspect/trace-style.ts";
import type { Terminal } from "../../platform/terminal/terminal.ts";
import { askForText, confirm, type AskOptions } from "../shared/terminal/confirm.ts";
import { readApprovalFacts, formatApproval } from "../shared/terminal/approval-text.ts";
import { createColorStyle } from "../shared/terminal/color-style.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface ApprovalFlags {
  readonly yes?: true;
  readonly no?: true;
}

export interface Approver {
  approve(request: ApprovalRequested): Promise<ApprovalDecision | RunDecision>;
  /** True if an approval was denied because no terminal was available. */
  readonly wasUnattended: boolean;
  /** True if any approval was requested, whether a person or a flag decided. */
  readonly wasRequested: boolean;
}

export interface ApproverOptions {
  readonly flags: ApprovalFlags;
  readonly io: CommandIo;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Resolves after all output before the question is printed. */
  readonly flushOutput: () => Promise<void>;
}

/** Asks the person at the terminal. Questions are queued, so only one is visible at a time. */
export function createTerminalApprover({
  flags,
  io,
  terminal,
  signal,
  flushOutput,
}: ApproverOptions): Approver {
  let wasUnattended = false;
  let wasRequested = false;
  let tail: Promise<unknown> = Promise.resolve();

  const decide = async (request: ApprovalRequested): Promise<ApprovalDecision | RunDecision> => {
    await flushOutput();
    if (request.form?.kind === "question") {
      const decided = await answerQuestion(request.form, { io, signal });
      if (decided !== null) return decided;
      wasUnattended = true;
      terminal.note(`  ${toSingleLine(request.action)}: ${UNATTENDED_TEXTS.question}\n`);
      return "decline";
    }
    const yes = APPROVING_DECISIONS[request.question];
    const no = DENYING_DECISIONS[request.question];
    const style = terminal.hasNoteColours ? createColorStyle() : PLAIN_STYLE;
    const { summary, question, ...background } = formatApproval(readApprovalFacts(request), style);
    // `--yes` and `--no` decide about tool runs only, not about lost invocations, and never raise a budget.
    const flag = request.question === "run" ? readFlagDecision(flags) : undefined;
    if (flag !== undefined) {
      terminal.note(`  ${summary}: ${flag ? "allowed by --yes" : "denied by --no"}\n`);
      return flag ? yes : no;
    }
    const answer = await confirm(question, { io, signal, ...background }).catch(() => false);
    if (answer !== null) return answer ? yes : no;
    wasUnattended = true;
    terminal.note(`  ${summary}: ${UNATTENDED_TEXTS[request.question]}\n`);
    return no;
  };
  return {
    approve(request) {
      wasRequested = true;
      const decided = tail.then(() => decide(request));
      tail = decided.catch(() => undefined);
      return decided;
    },
    get wasUnattended() {
      return wasUnattended;
    },
    get wasRequested() {
      return wasRequested;
    },
  };
}

/** Asks the person for an answer. An empty line declines; null if there is no terminal. */
async function answerQuestion(
  question: Question,
  options: Pick<AskOptions, "io" | "signal">,
): Promise<RunDecision | null> {
  const lines = question.text.split("\n").map((line) => `  ${toSingleLine(line)}\n`);
  const choices = (question.choices ?? []).map(
    (choice, at) => `  ${at + 1}  ${toSingleLine(choice)}\n`,
  );
  const background = ["── The agent asks ──\n", ...lines, ...choices].join("");
  const hint = question.schema === undefined ? "" : " as JSON";
  const read = (line: string): RunDecision | undefined => {
    if (line.trim() === "") return { decision: "decline" };
    const typed = readTypedAnswer(question, line);
    return typed.ok ? { decision: "answer", answer: typed.answer } : undefined;
  };
  const prompt = `Answer${hint} (empty: decline): `;
  const decided = await askForText(prompt, { ...options, background }, read).catch(() => undefined);
  return decided === undefined ? { decision: "decline" } : decided;
}

const DENIED_UNATTENDED =
  "denied, because no terminal is available. Fix: --yes allows all, --no denies all";
const UNATTENDED_TEXTS = {
  run: DENIED_UNATTENDED,
  outcome: DENIED_UNATTENDED,
  "lost-invocation": "stopped, because no terminal is available",
  question: "not answered, because no terminal is available",
  budget: "stopped at the budget, because no terminal is available. Fix: raise the agent's budgets",
} as const;

function readFlagDecision({ yes, no }: ApprovalFlags): boolean | undefined {
  if (yes === true) return true;
  return no === true ? false : undefined;
}
