import { silent } from "../../../domain/event-rules.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { HistoryImported, LifecycleEvent } from "../../../domain/events/lifecycle-events.ts";
import type { ModelBlock, ModelMessage } from "../../../domain/model/model-request.ts";
import type { TurnBlock } from "../../../domain/provider/turn.ts";
import { MODE_DESCRIPTIONS } from "../../../domain/session-mode.ts";
import type { ThreadItem } from "../session-view.ts";
import type { ViewDraft } from "../view-draft.ts";
import type { ViewRules } from "../view-rules.ts";
import { createToolItem } from "./tool-item.ts";

export const LIFECYCLE_RULES: ViewRules<LifecycleEvent> = {
  "session.opened": (draft, { agent, principal, title, workingDirectory, lineage }) => {
    draft.view.agent = agent;
    draft.view.owner = principal;
    draft.view.lineage = lineage ?? null;
    draft.view.workingDirectory = workingDirectory ?? null;
    if (title !== undefined) setTitle(draft, title);
  },
  "session.folders_changed": (draft, { folders }) => {
    draft.view.folders = folders;
  },
  "agent.configured": (draft, { spec }) => {
    draft.view.agentSpec = spec;
  },
  "session.recovered": (draft, _, envelope) =>
    draft.addNotice(envelope, "info", "The bridge restarted and resumed this session"),
  "session.title_changed": (draft, { title }) => setTitle(draft, title),
  "session.metadata_changed": silent("metadata is for the programs that set it"),
  "session.mode_changed": (draft, { mode }, envelope) => {
    draft.view.mode = mode;
    const { name, description } = MODE_DESCRIPTIONS[mode];
    const principal = envelope.actor?.principal;
    const by = principal === undefined ? "" : ` by ${principal}`;
    draft.addNotice(envelope, "info", `Mode changed to ${name}${by}`, description);
  },
  "history.imported": importHistory,
};

function setTitle(draft: ViewDraft, title: string): void {
  draft.view.title = title;
  draft.setFacts({ hasTitle: true });
}

function importHistory(
  draft: ViewDraft,
  { messages }: HistoryImported,
  { seq, at }: Envelope,
): void {
  const base = { at, seq };
  for (const [position, message] of messages.entries()) {
    const key = `import:${seq}:${position}`;
    if (message.role === "user") addImportedPrompt(draft, message, { ...base, key });
    for (const [block, content] of message.blocks.entries()) {
      if (content.type === "tool-result") addImportedResult(draft, content, seq);
      else if (message.role === "assistant")
        addImportedBlock(draft, content, { ...base, key: `${key}:${block}` });
    }
  }
}

type ItemBase = Pick<ThreadItem, "key" | "at" | "seq">;

function addImportedPrompt(draft: ViewDraft, { blocks }: ModelMessage, base: ItemBase): void {
  const content = blocks.flatMap((block) => {
    if (block.type === "text") return [{ type: "text", text: block.text } as const];
    return block.type === "image" ? [{ type: "text", text: "(An image)" } as const] : [];
  });
  if (content.length > 0)
    draft.addItem({ kind: "user", ...base, forkSeq: null, content, principal: null });
}

function addImportedBlock(draft: ViewDraft, block: ModelBlock, base: ItemBase): void {
  const isDone = { isStreaming: false } as const;
  if (block.type === "text") {
    const { text } = block;
    const message = { messageId: base.key, forkSeq: null };
    draft.addItem({ kind: "text", ...base, ...isDone, ...message, text, interrupted: false });
  } else if (block.type === "reasoning") {
    const { text } = block;
    draft.addItem({ kind: "thought", ...base, ...isDone, text, durationMs: null });
  } else if (block.type === "tool-call") {
    const { id, name, inputText } = block.toolCall;
    const toolCallId = `import:${base.seq}:${id}`;
    draft.addItem({
      ...createToolItem({ toolCallId, messageId: base.key, name, at: base.at, seq: base.seq }),
      stage: "ended",
      inputText,
      call: block.toolCall,
    });
  }
}

function addImportedResult(
  draft: ViewDraft,
  { result }: Extract<TurnBlock, { readonly type: "tool-result" }>,
  seq: number,
): void {
  const item = draft.findItem("tool", `tool:import:${seq}:${result.toolCallId}`);
  if (item === undefined) return;
  draft.replaceItem({ ...item, result, ending: result.isError ? "failed" : "succeeded" });
}
