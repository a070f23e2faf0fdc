import { openDelegationStore } from "../../bridge/delegation-store.ts";
import { toJsonText, type JsonValue } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { delegateToExternalAgent, type DelegationContext } from "../../delegation/delegate.ts";
import type {
  BudgetUsed,
  Checkpoint,
  CheckpointApproval,
  DelegationRequest,
  ExternalBudget,
  HandoffEnvelope,
} from "../../delegation/external-agent.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { formatPrettyJson } from "../../inspect/pretty-json.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import { digestValue } from "../../platform/digest.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { confirm } from "../shared/terminal/confirm.ts";
import { resolveDataDirectory } from "../shared/flags/resolve-data-directory.ts";
import { checkUrl, withPeer, type PeerContext, type PeerFlags } from "./peer-context.ts";

export interface DelegateFlags extends PeerFlags {
  readonly maxUsd?: number;
  readonly maxTokens?: number;
  readonly maxSeconds?: number;
  readonly maxToolCalls?: number;
  readonly approve?: string;
  readonly idempotencyKey?: string;
  readonly dataDir?: string;
}

interface Work {
  readonly url: string;
  readonly task: string;
}

/** Delegates a task: shows the plan, asks for its approval, and prints the result for review. */
export function runAgentsDelegate(
  work: Work,
  flags: DelegateFlags,
  io: CommandIo,
): Promise<number> {
  return withPeer(flags, io, async (peers) => {
    checkUrl(work.url);
    const { terminal, connect, signal } = peers;
    const directory = resolveDataDirectory(flags.dataDir, io, (line) => terminal.note(`${line}\n`));
    const records = await openDelegationStore(directory);
    try {
      const now = (): number => systemClock.now();
      const context: DelegationContext = { records, principal: "local", now, connect, signal };
      const envelope = await delegate(createRequest(work, flags), { flags, context, peers });
      const text = flags.json === true ? formatPrettyJson(envelope) : formatEnvelope(envelope);
      await terminal.write(`${text}\n`);
      return isClean(envelope) ? 0 : 1;
    } finally {
      await records.close();
    }
  });
}

function createRequest({ url, task }: Work, flags: DelegateFlags): DelegationRequest {
  const { maxUsd, maxTokens, maxSeconds, maxToolCalls, idempotencyKey } = flags;
  const budget: ExternalBudget = omitUndefined({
    max_usd: maxUsd,
    max_tokens: maxTokens,
    max_seconds: maxSeconds,
    max_tool_calls: maxToolCalls,
  });
  if (Object.keys(budget).length === 0)
    throw new SpanlineError(
      "invalid_option",
      "The delegation has no budget: expected --max-usd, --max-tokens, --max-seconds or --max-tool-calls",
    );
  // The same command is the same delegation, so a repeated command never pays twice.
  const key = idempotencyKey ?? `cli_${digestValue([url, task, budget]).slice(-26)}`;
  const details = { expected_scope: null, context: {}, metadata: {} };
  return { target: url, task, budget, idempotency_key: key, ...details };
}

interface DelegateContext {
  readonly flags: DelegateFlags;
  readonly context: DelegationContext;
  readonly peers: PeerContext;
}

async function delegate(
  request: DelegationRequest,
  { flags, context, peers }: DelegateContext,
): Promise<HandoffEnvelope> {
  const planned = await delegateToExternalAgent(request, { approved: false }, context);
  const { status, checkpoint } = planned;
  if (status !== "checkpoint_required" || checkpoint === null) return planned;
  const approval = await decide(request, checkpoint, { flags, peers });
  if (!approval.approved) return planned;
  peers.terminal.note("The agent works on the approved plan …\n");
  return delegateToExternalAgent(request, approval, context);
}

/** The person approves the shown plan. With `--approve`, the hash has to be the hash of this plan. */
async function decide(
  { target, budget }: DelegationRequest,
  checkpoint: Checkpoint,
  { flags, peers: { io, signal } }: Omit<DelegateContext, "context">,
): Promise<CheckpointApproval> {
  const { checkpoint_id, plan_hash } = checkpoint;
  if (flags.approve !== undefined)
    return { approved: true, checkpoint_id, plan_hash: flags.approve };
  const background = `Plan of ${target}:\n${formatPlan(checkpoint.plan)}\nBudget: ${formatBudget(budget)}\n`;
  const answer =
    flags.json === true ? null : await confirm("Pay for this plan?", { io, signal, background });
  return { approved: answer === true, checkpoint_id, plan_hash };
}

function isClean({ status, replay_of }: HandoffEnvelope): boolean {
  return (replay_of ?? status) === "completed";
}

function formatEnvelope(envelope: HandoffEnvelope): string {
  const { status, replay_of, reason, budget, checkpoint, handoff, artifacts, receipts } = envelope;
  if (status === "checkpoint_required" && checkpoint !== null) {
    return [
      `The agent has a plan, and waits for its approval:`,
      formatPlan(checkpoint.plan),
      `Fix: approve the plan with --approve ${checkpoint.plan_hash}`,
    ].join("\n");
  }
  const replay = replay_of === null ? "" : ` (result of an earlier call: ${replay_of})`;
  const used = budget.used === null ? "not reported" : formatUsed(budget.used);
  return [
    `${status}${replay}${reason === null ? "" : `: ${reason}`}`,
    ...(handoff === null ? [] : [formatPlan(handoff)]),
    ...artifacts.filter(({ kind }) => kind === "diff").map(({ content }) => formatPlan(content)),
    ...(status === "refused" ? [] : [`Used: ${used} (caps: ${formatBudget(budget.caps)})`]),
    ...receipts.slice(0, 20).map((receipt) => `Receipt: ${toSingleLine(toJsonText(receipt))}`),
  ].join("\n");
}

/** Text of the peer, as lines without control characters. At most 200 lines. */
function formatPlan(plan: JsonValue): string {
  const text = typeof plan === "string" ? plan : JSON.stringify(plan, null, 2);
  const lines = text.split("\n");
  const shown = lines.slice(0, MAX_LINES).map((line) => `  ${toSingleLine(line)}`);
  const omitted = lines.length - shown.length;
  return [...shown, ...(omitted > 0 ? [`  … ${omitted} more lines (see --json)`] : [])].join("\n");
}

const MAX_LINES = 200;

function formatBudget(budget: ExternalBudget): string {
  return Object.entries(budget)
    .map(([name, cap]) => `${cap} ${name.replace("max_", "").replace("_", " ")}`)
    .join(", ");
}

function formatUsed(used: BudgetUsed): string {
  return Object.entries(used)
    .map(([name, amount]) => `${amount} ${name.replace("_", " ")}`)
    .join(", ");
}
