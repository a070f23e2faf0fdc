import type { ApprovalRequested, Decision } from "../domain/agent-event.ts";
import { jsonText } from "../domain/json.ts";
import { oneLine, PLAIN, type Style } from "../inspect/style.ts";
import type { Terminal } from "../platform/terminal.ts";
import { askWhether, isAsked } from "./ask.ts";
import { diffLines } from "./diff-lines.ts";
import { coloured } from "./style.ts";

export interface ApprovalFlags {
  readonly yes?: true;
  readonly no?: true;
}

export interface Approver {
  approve(request: ApprovalRequested): Promise<Decision>;
  /** Something was denied because there was nobody to ask. */
  readonly lackedSomebody: boolean;
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
  let tail: Promise<unknown> = Promise.resolve();

  const decide = async (request: ApprovalRequested): Promise<Decision> => {
    await shown();
    const { yes, no } = request.question === "run" ? RUN : LOST;
    const what = actionText(request);
    // The flags are about tools; how to go on after a lost call is another question.
    const flag = request.question === "run" ? flagDecision(flags) : undefined;
    if (flag !== undefined) {
      terminal.note(`  ${what}: ${flag ? "allowed by --yes" : "denied by --no"}\n`);
      return flag ? yes : no;
    }
    const question = request.question === "run" ? `Run ${what}?` : `${what} Go on?`;
    if (isAsked())
      terminal.note(backgroundText(request, terminal.noteColours ? coloured() : PLAIN));
    const answer = await askWhether(question, signal).catch(() => false);
    if (answer !== null) return answer ? yes : no;
    lackedSomebody = true;
    terminal.note(`  ${what}: ${NOBODY[request.question]}\n`);
    return no;
  };
  return {
    approve(request) {
      const decided = tail.then(() => decide(request));
      tail = decided.catch(() => undefined);
      return decided;
    },
    get lackedSomebody() {
      return lackedSomebody;
    },
  };
}

const RUN = { yes: "allow", no: "deny" } as const;
const LOST = { yes: "continue", no: "stop" } as const;

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

/** What the rule wants people to be told, and what would change. */
function backgroundText({ decision, diffs = [] }: ApprovalRequested, style: Style): string {
  const { prompt, risk } = decision?.approval ?? {};
  const lines = [
    ...(prompt === undefined ? [] : [style.strong(oneLine(prompt))]),
    ...(risk === undefined ? [] : [`Risk: ${style.warn(oneLine(risk))}`]),
    ...diffs.flatMap((diff) => diffLines(diff, style)),
  ];
  return lines.map((line) => `  ${line}\n`).join("");
}

/** All of the arguments: nobody should allow what they have not seen. */
function actionText({ action, input, decision }: ApprovalRequested): string {
  const call = input === null ? action : `${action} ${jsonText(input)}`;
  // A rule without a name of its own says nothing that the question does not.
  const hasReason = typeof decision?.rule?.id === "string";
  return oneLine(hasReason ? `${call} (${decision.reason})` : call);
}
