import { silent, silentGroup } from "../../../domain/event-rules.ts";
import type { WakeReason } from "../../../domain/events/daemon-events.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type {
  InvocationFinished,
  MessageSent,
  PromptAccepted,
  TurnEvent,
  TurnFinished,
  TurnStarted,
} from "../../../domain/events/turn-events.ts";
import { deriveTitle } from "../../../domain/events/derive-title.ts";
import { formatPromptPart } from "../../../domain/prompt.ts";
import { RECOVERY_NOTICE } from "../../../domain/events/turn-events.ts";
import { addUsage } from "../../../domain/usage.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { QueuedItem } from "../session-view.ts";
import type { ViewDraft } from "../view-draft.ts";
import type { ViewRules } from "../view-rules.ts";
import { finishMessage, MESSAGE_RULES } from "./message-rules.ts";
import { endOpenTools } from "./tool-rules.ts";

/** Events of the slice `turn`. `message-rules.ts` has the rules for the output of the agent. */
export const TURN_RULES: ViewRules<TurnEvent> = {
  ...MESSAGE_RULES,
  "prompt.accepted": queuePrompt,
  "prompt.withdrawn": (draft, { promptId }) => takeFromQueue(draft, promptId),
  "prompt.hidden": silent("a hidden prompt stays part of the conversation"),
  "turn.started": startTurn,
  "turn.finished": finishTurn,
  "turn.paused": (draft) => {
    draft.setFacts({ isPaused: true });
    draft.updateStage();
  },
  "tool_results.submitted": (draft, { promptId, content = [] }, { at, seq, actor }) => {
    draft.setFacts({ isPaused: false });
    draft.updateStage();
    if (content.length === 0) return;
    const principal = actor?.principal ?? null;
    const key = `prompt:${promptId}`;
    draft.addItem({ kind: "user", key, at, seq, forkSeq: seq, content, principal });
  },
  ...silentGroup("the conversation at the provider is not shown", [
    "upstream.opened",
    "upstream.settled",
  ]),
  "invocation.started": (draft, { retryOf }, envelope) => {
    draft.setFacts({ isInvoking: true });
    draft.updateStage();
    if (retryOf !== undefined)
      draft.addNotice(envelope, "info", "The request to the agent is repeated");
  },
  "invocation.finished": finishInvocation,
  "invocation.lost": (draft, { failure }, envelope) => {
    draft.setFacts({ isInvoking: false });
    draft.updateStage();
    draft.addNotice(envelope, "warning", "The connection to the agent was lost", failure?.message);
  },
  "message.sent": showSentMessage,
  "usage.reported": silent("the end of the invocation has the usage"),
  "provider.activity": silent("the items of the thread show the activity"),
};

function queuePrompt(
  draft: ViewDraft,
  { promptId, content, messageId }: PromptAccepted,
  { at, actor }: Envelope,
): void {
  const { view } = draft;
  if (!view.facts.hasTitle && view.title === null) view.title = deriveTitle(content) ?? null;
  // An injected message becomes a prompt without a new actor.
  const message = view.queue.find(({ kind, id }) => kind === "message" && id === messageId);
  if (message !== undefined) takeFromQueue(draft, message.id);
  const sender = message?.kind === "message" ? message.principal : null;
  const principal = actor?.principal ?? sender;
  view.queue = [...view.queue, { kind: "prompt", id: promptId, content, principal, at }];
}

/** Removes a prompt, message or reminder from the queue. Ids are unique in the session. */
export function takeFromQueue(draft: ViewDraft, id: string): QueuedItem | undefined {
  const { queue } = draft.view;
  const item = queue.find((queued) => queued.id === id);
  if (item !== undefined) draft.view.queue = queue.filter((queued) => queued !== item);
  return item;
}

function startTurn(
  draft: ViewDraft,
  { turnId, promptId, wake }: TurnStarted,
  envelope: Envelope,
): void {
  const { at, seq } = envelope;
  const queued = takeFromQueue(draft, promptId);
  const prompt = queued?.kind === "prompt" ? queued : undefined;
  const principal = prompt?.principal ?? null;
  draft.setFacts({ isInvoking: false, isPaused: false });
  const start = { stage: "starting", end: null, startedAt: at, usage: null } as const;
  draft.addTurn({ turnId, promptId, principal, ...start, items: [] });
  if (prompt !== undefined) {
    const { content } = prompt;
    const key = `prompt:${promptId}`;
    draft.addItem({ kind: "user", key, at, seq, forkSeq: seq, content, principal });
  } else if (wake !== undefined) draft.addNotice(envelope, "info", WAKE_NOTICES[wake]);
}

const WAKE_NOTICES: { readonly [Reason in WakeReason]: string } = {
  message: "The agent continues because of a message",
  resume: "The agent was resumed",
  reminder: "The agent continues because of a reminder",
  timer: "The agent continues by its timer",
};

function finishTurn(
  draft: ViewDraft,
  { turnId, outcome, reason, usage, steps, failure }: TurnFinished,
  { at }: Envelope,
): void {
  const { view } = draft;
  for (const key of view.facts.streaming) finishMessage(draft, key, at);
  endOpenTools(draft);
  draft.setFacts({ isInvoking: false, isPaused: false, streaming: [] });
  if (draft.lastTurn?.turnId !== turnId) return;
  const end = { at, outcome, reason, usage, steps, ...omitUndefined({ failure }) };
  draft.changeLastTurn({ end, stage: "done", ...(usage !== null && { usage }) });
  if (usage !== null) view.usage = view.usage === null ? usage : addUsage(view.usage, usage);
}

function finishInvocation(draft: ViewDraft, { usage }: InvocationFinished): void {
  draft.setFacts({ isInvoking: false });
  draft.updateStage();
  const turn = draft.lastTurn;
  if (usage === null || turn === undefined || turn.end !== null) return;
  draft.changeLastTurn({ usage: turn.usage === null ? usage : addUsage(turn.usage, usage) });
}

function showSentMessage(
  draft: ViewDraft,
  { messageId, content, origin }: MessageSent,
  envelope: Envelope,
): void {
  switch (origin) {
    case "inject": {
      const queued = takeFromQueue(draft, messageId);
      const message = queued?.kind === "message" ? queued : undefined;
      const { at, seq, actor } = envelope;
      const principal = message?.principal ?? actor?.principal ?? null;
      const injected = message?.mode ?? "steer";
      const base = { kind: "user", key: `sent:${messageId}`, at, seq, forkSeq: seq } as const;
      return draft.addItem({ ...base, content, principal, injected });
    }
    case "recovery":
      return draft.addNotice(envelope, "info", RECOVERY_NOTICE);
    case "reprompt": {
      const text = content.map(formatPromptPart).join("\n");
      return draft.addNotice(envelope, "info", "The bridge asked the agent to continue", text);
    }
    // The thread already shows the prompt, the reminders and the reason of a wake.
    case "prompt":
    case "instructions":
    case "reminder":
    case "wake":
      return;
    default:
      return origin satisfies never;
  }
}
