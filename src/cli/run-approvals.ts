import type { ApprovalRequested, Decision } from "../domain/agent-event.ts";
import { NO_TO, YES_TO } from "../domain/answers.ts";
import { PLAIN } from "../inspect/style.ts";
import type { Terminal } from "../platform/terminal.ts";
import { askWhether } from "./ask.ts";
import { questionFacts, questionText } from "./question-text.ts";
import { coloured } from "./style.ts";

export interface ApprovalFlags {
  readonly yes?: true;
  readonly no?: true;
}

export interface Approver {
  approve(request: ApprovalRequested): Promise<Decision>;
  /** Something was denied because there was nobody to ask. */
  readonly lackedSomebody: boolean;
  /** Something was asked, whoever answered it. */
  readonly wasAsked: boolean;
}

export interface ApproverOptions {
  readonly flags: ApprovalFlags;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Resolves when what the question is about was shown. */
  readonly shown: () => Promise<void>;
}

/** Asks the person at the terminal, one question at a time. */
export function terminalApprover({ flags, terminal, signal, shown }: ApproverOptions): Approver {
  let lackedSomebody = false;
  let wasAsked = false;
  let tail: Promise<unknown> = Promise.resolve();

  const decide = async (request: ApprovalRequested): Promise<Decision> => {
    await shown();
    const yes = YES_TO[request.question];
    const no = NO_TO[request.question];
    const style = terminal.noteColours ? coloured() : PLAIN;
    const { what, question, ...background } = questionText(questionFacts(request), style);
    // The flags are about tools; how to go on after a lost call is another question.
    const flag = request.question === "run" ? flagDecision(flags) : undefined;
    if (flag !== undefined) {
      terminal.note(`  ${what}: ${flag ? "allowed by --yes" : "denied by --no"}\n`);
      return flag ? yes : no;
    }
    const answer = await askWhether(question, { signal, ...background }).catch(() => false);
    if (answer !== null) return answer ? yes : no;
    lackedSomebody = true;
    terminal.note(`  ${what}: ${NOBODY[request.question]}\n`);
    return no;
  };
  return {
    approve(request) {
      wasAsked = true;
      const decided = tail.then(() => decide(request));
      tail = decided.catch(() => undefined);
      return decided;
    },
    get lackedSomebody() {
      return lackedSomebody;
    },
    get wasAsked() {
      return wasAsked;
    },
  };
}

const DENIED = "denied, since there is no terminal to ask on; --yes allows all, --no denies all";
const NOBODY = {
  run: DENIED,
  outcome: DENIED,
  "lost-call": "ended here, since there is no terminal to ask on",
} as const;

function flagDecision({ yes, no }: ApprovalFlags): boolean | undefined {
  if (yes === true) return true;
  return no === true ? false : undefined;
}
