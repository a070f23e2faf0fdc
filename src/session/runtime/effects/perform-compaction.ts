import { SpanlineError, formatThrown, type Failure } from "../../../domain/errors.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { createId } from "../../../domain/id.ts";
import type {
  CompactionPolicy,
  CompactionReceipt,
  TokenMeasurement,
} from "../../../domain/transcript/compaction.ts";
import {
  estimateMessagesTokens,
  estimateTextTokens,
} from "../../../domain/transcript/estimate-tokens.ts";
import { createTurnBuilder, addToTurn } from "../../../domain/provider/turn-builder.ts";
import { snapshotTurn } from "../../../domain/provider/turn.ts";
import { addUsage, type Usage } from "../../../domain/usage.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import { randomSeed } from "../../../platform/random.ts";
import type { BlobStore } from "../../../store/blob-store.ts";
import { formatValue } from "../../../text/format-value.ts";
import { pluralize } from "../../../text/pluralize.ts";
import type { Effect } from "../../due-effects.ts";
import type { CompactionResult, SessionInput } from "../../session-input.ts";
import type { Agent } from "../agent/agent.ts";
import type { Conversation, ConversationMessage } from "../history/conversation.ts";
import type { ReadConversation } from "../history/conversation-reader.ts";
import { formatArchive } from "../history/format-archive.ts";
import { loadMessageImages } from "../history/load-images.ts";
import {
  extendPlan,
  planCompaction,
  replaceArchived,
  type CompactionPlan,
} from "../history/plan-compaction.ts";
import { redactCopies } from "../history/redact-messages.ts";
import type { WriteRetry } from "../log/write-retry.ts";
import { stopConversation, type StopOptions } from "./stop-conversation.ts";

interface CompactionContext {
  readonly sessionId: string;
  readonly store: BlobStore;
  readonly agent: Agent;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  readonly readConversation: ReadConversation;
  readonly send: (input: SessionInput) => Promise<unknown>;
  readonly report: (error: unknown) => void;
  readonly retry: WriteRetry["retry"];
}

type CompactEffect = Extract<Effect, { readonly type: "compact" }>;

/** Compacts the conversation, and sends the receipt to the session. Nothing is removed from the log. */
export async function performCompaction(
  effect: CompactEffect,
  context: CompactionContext,
): Promise<void> {
  const { compactionId, attempt } = effect.compaction;
  const conversation = await context.readConversation(compactionId);
  const result = await compact(effect, conversation, context);
  if (context.signal.aborted) return;
  await context.send({ type: "compaction-finished", compactionId, attempt, result });
}

async function compact(
  { compaction, preserved }: CompactEffect,
  conversation: Conversation,
  context: CompactionContext,
): Promise<CompactionResult> {
  const { mode, policy } = compaction;
  const { messages } = conversation;
  const before = await measureTokens(conversation, messages, context);
  if (mode === "automatic" && (before.tokens ?? Infinity) <= policy.thresholdTokens)
    return { status: "skipped", reason: "below_threshold" };
  const planned = planCompaction(conversation, policy);
  if (planned === undefined) return { status: "skipped", reason: "nothing_to_archive" };
  const { recap, usage, failure } = await summarize(messages, planned, policy, context);
  const isOverHardLimit = (before.tokens ?? 0) > (policy.hardLimitTokens ?? Infinity);
  if (failure !== undefined && !isOverHardLimit)
    return { status: "failed", reason: "summary_failed", failure, ...omitUndefined({ usage }) };
  const plan = limitTokens(conversation, planned, policy, recap);
  const truncatedMessages = plan.end - (recap === null ? plan.keptHead : planned.end);
  const kept = [...messages.slice(0, plan.keptHead), ...messages.slice(plan.end)];
  const reminders = formatReminders(preserved, kept);
  const replacement = `${formatReplacement(recap, truncatedMessages)}${reminders}`;
  const compacted = replaceArchived(messages, plan, replacement);
  const after = await measureTokens(conversation, compacted.messages, context);
  const archived = messages.slice(plan.keptHead, plan.end);
  const snapshotAssetId = await storeArchive(compaction.compactionId, archived, context);
  const receipt: CompactionReceipt = {
    ...createReceiptHead(compaction, recap),
    keptHead: plan.keptHead,
    archivedMessages: archived.length,
    truncatedMessages,
    keptTail: messages.length - plan.end,
    before,
    after,
    replacement,
    recap,
    snapshotAssetId,
    ...omitUndefined({ failure }),
  };
  return { status: "compacted", receipt, usage: usage ?? null };
}

function createReceiptHead(
  { compactionId, mode, reason, policy }: CompactEffect["compaction"],
  recap: string | null,
) {
  const { strategy: requestedStrategy } = policy;
  const hasSummary = recap !== null;
  return {
    receiptId: compactionId,
    schemaVersion: 1,
    mode,
    reason,
    strategy: hasSummary ? requestedStrategy : "truncate",
    requestedStrategy,
    engineStrategy: hasSummary ? "llm" : "truncate",
    policy,
  } as const;
}

/** Counts with the tokenizer of the provider if there is one. A tokenizer which fails is replaced by the estimate. */
async function measureTokens(
  { pending }: Conversation,
  messages: readonly ConversationMessage[],
  { agent, signal, store, sessionId, report }: CompactionContext,
): Promise<TokenMeasurement> {
  const measuredMessages: readonly ConversationMessage[] =
    pending.length === 0 ? messages : [...messages, { role: "user", blocks: pending }];
  const { provider } = agent;
  if (provider.countTokens === undefined)
    return { source: "estimate", tokens: estimateMessagesTokens(measuredMessages) };
  try {
    // The tokenizer may be a service.
    const redacted = redactCopies(measuredMessages, agent.redactText);
    const loaded = await loadMessageImages(redacted, (blobId) => store.readBlob(sessionId, blobId));
    const tokens = await provider.countTokens(loaded, { signal });
    if (tokens === null) return { source: "not_measured", tokens: null };
    if (Number.isFinite(tokens) && tokens >= 0)
      return { source: "tokenizer", tokens: Math.ceil(tokens) };
    throw new SpanlineError(
      "protocol_error",
      `countTokens returned ${formatValue(tokens)}: expected a number from 0, or null`,
    );
  } catch (error) {
    if (!signal.aborted) report(error);
    return { source: "estimate", tokens: estimateMessagesTokens(measuredMessages) };
  }
}

interface SummaryResult {
  /** Null if the strategy needs no summary, or the summary failed. */
  readonly recap: string | null;
  readonly usage?: Usage;
  readonly failure?: Failure;
}

async function summarize(
  messages: readonly ConversationMessage[],
  { keptHead, end }: CompactionPlan,
  policy: CompactionPolicy,
  context: CompactionContext,
): Promise<SummaryResult> {
  if (policy.strategy === "truncate") return { recap: null };
  let summaryUsage: Usage | undefined;
  try {
    let recap: string | null = null;
    const contextTokens = context.agent.spec.contextTokens ?? DEFAULT_CONTEXT_TOKENS;
    const archive = redactCopies(messages.slice(keptHead, end), context.agent.redactText);
    for (const part of formatArchive(archive, contextTokens * CHARACTERS_PER_CONTEXT_TOKEN)) {
      const summary = await requestSummary(createSummaryPrompt(part, recap, policy), context);
      if (summary.usage !== null)
        summaryUsage =
          summaryUsage === undefined ? summary.usage : addUsage(summaryUsage, summary.usage);
      checkSummary(summary.text, `${recap ?? ""}${part}`);
      recap = summary.text;
    }
    return { recap, ...omitUndefined({ usage: summaryUsage }) };
  } catch (error) {
    const failure = toFailure(error);
    return { recap: null, ...omitUndefined({ usage: summaryUsage }), failure };
  }
}

/** Throws `protocol_error` if a summary is empty, or longer than the text which it replaces. */
function checkSummary(summary: string, source: string): void {
  if (summary === "")
    throw new SpanlineError("protocol_error", "The model returned an empty summary");
  const tokens = estimateTextTokens(summary);
  const limit = Math.max(estimateTextTokens(source), MIN_SUMMARY_LIMIT);
  if (tokens <= limit) return;
  const message = `The model returned a summary with ${tokens} tokens for a text with ${limit}`;
  throw new SpanlineError("protocol_error", message);
}

/** Tokens. A short conversation may have a longer summary. */
const MIN_SUMMARY_LIMIT = 1000;

function toFailure(error: unknown): Failure {
  if (error instanceof SpanlineError) return error.toFailure();
  const message = `The provider failed: ${formatThrown(error)}`;
  return { code: "service_failed", message, details: {} };
}

const DEFAULT_CONTEXT_TOKENS = 128_000;
/** About half of the context window, at about four characters per token. */
const CHARACTERS_PER_CONTEXT_TOKEN = 2;

function createSummaryPrompt(
  part: string,
  previous: string | null,
  { instructions }: CompactionPolicy,
): string {
  const earlier =
    previous === null ? "" : `\n\n<earlier_summary>\n${escapeTags(previous)}\n</earlier_summary>`;
  return `${instructions ?? DEFAULT_INSTRUCTIONS}${earlier}\n\n<conversation>\n${escapeTags(part)}\n</conversation>`;
}

/** Prevents a file or a tool from ending the conversation early and adding instructions for the summary. */
function escapeTags(text: string): string {
  return text.replaceAll(/<(?=[\s/]{0,8}(?:conversation|earlier_summary)\b)/gi, "&lt;");
}

const DEFAULT_INSTRUCTIONS =
  "Summarize the following conversation between a user and an agent, so that the agent can continue the work with " +
  "the summary alone. Keep the user's goals and constraints, decisions and their reasons, names of files and other " +
  "identifiers, results of tools which still matter, unsolved problems and the next steps. An earlier summary, if " +
  "present, is part of the conversation. Do not continue the conversation and do not call tools. Reply with the " +
  "summary only.";

/** Invokes the agent's own model in a new conversation without tools, so the invocation has no effects. */
async function requestSummary(
  text: string,
  { agent, signal, clock }: CompactionContext,
): Promise<{ readonly text: string; readonly usage: Usage | null }> {
  const { provider, spec } = agent;
  const canRefuseTools = spec.provider.capabilities?.allowedTools === true;
  if (!spec.provider.effectFree && !canRefuseTools) {
    throw new SpanlineError(
      "invalid_option",
      "The agent cannot write a summary, because its provider cannot disable its tools. Fix: use the strategy truncate",
    );
  }
  const id = createId("ses", clock.now(), randomSeed()).slice("ses_".length);
  const upstreamId = `spanline-summary-${id}`;
  const input = { type: "prompt", texts: [text] } as const;
  const builder = createTurnBuilder();
  try {
    const session = provider.open({ sessionId: upstreamId });
    const options = { signal, ...(canRefuseTools && { allowedTools: [] }) };
    for await (const event of await session.invoke(input, options)) addToTurn(builder, event);
  } finally {
    await stopSummarySession(upstreamId, { provider, clock });
  }
  const turn = snapshotTurn(builder);
  const { end, usage } = turn;
  if (end === null || end.outcome === "failed" || end.outcome === "action-required") {
    const failure = end?.failure;
    throw new SpanlineError(
      failure?.code ?? "protocol_error",
      failure?.message ?? "The model did not finish the summary",
    );
  }
  return { text: turn.text.trim(), usage: end.usage ?? usage };
}

/** The upstream session of a summary is not used again. An aborted compaction stops it, too. */
function stopSummarySession(
  upstreamId: string,
  parts: Pick<StopOptions, "provider" | "clock">,
): Promise<void> {
  const { signal } = new AbortController();
  return stopConversation(upstreamId, { ...parts, signal, timeoutMs: STOP_TIMEOUT_MS });
}

const STOP_TIMEOUT_MS = 30_000;

/** Archives more messages while the compacted conversation exceeds the hard limit. */
function limitTokens(
  conversation: Conversation,
  plan: CompactionPlan,
  { strategy, hardLimitTokens }: CompactionPolicy,
  recap: string | null,
): CompactionPlan {
  if (hardLimitTokens === null || strategy !== "hybrid") return plan;
  const note = { type: "text", text: formatReplacement(recap, plan.end) } as const;
  const noteTokens = estimateMessagesTokens([{ role: "user", blocks: [note] }]);
  return extendPlan(conversation, plan, hardLimitTokens - noteTokens);
}

function formatReplacement(recap: string | null, truncated: number): string {
  const removed =
    truncated === 0
      ? ""
      : `(${pluralize(truncated, "earlier message")} of this conversation ${truncated === 1 ? "was" : "were"} removed.)`;
  if (recap === null) return removed;
  const summary = `Summary of the earlier conversation:\n\n${recap}`;
  return removed === "" ? summary : `${summary}\n\n${removed}`;
}

/** Repeats the reminders which were set to survive a compaction, unless a kept message contains them. */
function formatReminders(
  preserved: CompactEffect["preserved"],
  kept: readonly ConversationMessage[],
): string {
  if (preserved.length === 0) return "";
  const keptTexts = kept.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])),
  );
  const lost = preserved.filter(({ body }) => !keptTexts.some((text) => text.includes(body)));
  const lines = lost.map(({ body }) => `- ${body}`);
  return lines.length === 0 ? "" : `\n\nReminders which still apply:\n${lines.join("\n")}`;
}

/** Stores the archived messages as JSON, for readers of the receipt. The log has their events, too. */
async function storeArchive(
  compactionId: string,
  messages: readonly ConversationMessage[],
  { store, sessionId, retry, report }: CompactionContext,
): Promise<string | null> {
  const blobId = `blob_${compactionId}`;
  const archive = { schema: "spanline.transcript_archive.v1", compactionId, messages };
  try {
    const bytes = new TextEncoder().encode(JSON.stringify(archive));
    await retry(() => store.putBlob(sessionId, blobId, bytes));
    return blobId;
  } catch (error) {
    report(error);
    return null;
  }
}
