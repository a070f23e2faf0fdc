import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import {
  type ApprovalDecision,
  DENYING_DECISIONS,
  APPROVING_DECISIONS,
} from "../../domain/policy/approval-decision.ts";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import type { Terminal } from "../../platform/terminal/terminal.ts";
import { confirm } from "../shared/terminal/confirm.ts";
import { readApprovalFacts, formatApproval } from "../shared/terminal/approval-text.ts";
import { createColorStyle } from "../shared/terminal/color-style.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface ApprovalFlags {
  readonly yes?: true;
  readonly no?: true;
}

export interface Approver {
  approve(request: ApprovalRequested): Promise<ApprovalDecision>;
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

  const decide = async (request: ApprovalRequested): Promise<ApprovalDecision> => {
    await flushOutput();
    const yes = APPROVING_DECISIONS[request.question];
    const no = DENYING_DECISIONS[request.question];
    const style = terminal.hasNoteColours ? createColorStyle() : PLAIN_STYLE;
    const { summary, question, ...background } = formatApproval(readApprovalFacts(request), style);
    // `--yes` and `--no` decide about tool runs only, not about lost invocations.
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

const DENIED_UNATTENDED =
  "denied, because no terminal is available. Fix: --yes allows all, --no denies all";
const UNATTENDED_TEXTS = {
  run: DENIED_UNATTENDED,
  outcome: DENIED_UNATTENDED,
  "lost-invocation": "stopped, because no terminal is available",
} as const;

function readFlagDecision({ yes, no }: ApprovalFlags): boolean | undefined {
  if (yes === true) return true;
  return no === true ? false : undefined;
}
