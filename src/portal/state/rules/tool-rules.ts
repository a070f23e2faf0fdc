import { silentGroup } from "../../../domain/event-rules.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type {
  PolicyDecided,
  ToolCallPathsResolved,
  ToolCallReceived,
  ToolEvent,
  ToolFinished,
} from "../../../domain/events/tool-events.ts";
import { toJsonText } from "../../../data/json.ts";
import type { ToolItem } from "../session-view.ts";
import type { ViewDraft } from "../view-draft.ts";
import type { ViewRules } from "../view-rules.ts";
import { extendTexts } from "./message-rules.ts";
import { changeTool, createToolItem, findTool } from "./tool-item.ts";

export const TOOL_RULES: ViewRules<ToolEvent> = {
  "tool_call.opened": (draft, { toolCallId, messageId, name }, { at, seq }) => {
    addOpenTool(draft, toolCallId);
    draft.addItem(createToolItem({ toolCallId, messageId, name, at, seq }));
  },
  "tool_call.input.delta": (draft, { toolCallId, text }) => {
    const item = findTool(draft, toolCallId);
    if (item !== undefined) draft.replaceItem({ ...item, inputText: item.inputText + text });
  },
  "tool_call.received": receiveCall,
  "tool_call.paths_resolved": resolvePaths,
  "policy.decided": applyDecision,
  "tool.started": (draft, { toolCallId, attempt }, { at }) => {
    changeTool(draft, toolCallId, { stage: "running", attempt, startedAt: at });
    setRunning(draft, toolCallId, true);
  },
  "tool.waiting_for_host": (draft, { toolCallId }) => {
    changeTool(draft, toolCallId, { stage: "host" });
    setRunning(draft, toolCallId, true);
  },
  ...silentGroup("process groups are internal", ["tool.process_started", "tool.process_exited"]),
  "tool.progress": (draft, { toolCallId, text, amount }) =>
    changeTool(draft, toolCallId, { progress: { text, ...(amount !== undefined && { amount }) } }),
  "tool.finished": finishTool,
  "plan.updated": (draft, { entries, plan = null }) => {
    draft.view.plan = entries;
    draft.view.planDetails = plan;
  },
  "progress.reported": (draft, { message, progress, total }, { at, seq }) => {
    const notice = { kind: "notice", key: `notice:${seq}`, at, seq, level: "info" } as const;
    const amount =
      progress === null ? {} : { amount: { progress, ...(total !== null && { total }) } };
    draft.addItem({ ...notice, text: message, ...amount });
  },
  "log.reported": (draft, { level, message, fields }, envelope) => {
    const shown = level === "error" ? "error" : level === "warn" ? "warning" : "info";
    const details = Object.keys(fields).length === 0 ? undefined : toJsonText(fields);
    draft.addNotice(envelope, shown, message, details);
  },
};

/** Ends the calls which have no result at the end of their turn: their arguments were cut off. */
export function endOpenTools(draft: ViewDraft): void {
  for (const toolCallId of draft.view.facts.openTools) {
    const item = findTool(draft, toolCallId);
    if (item !== undefined && item.stage !== "ended")
      draft.replaceItem({ ...item, stage: "ended", ending: "cancelled", progress: null });
  }
  draft.setFacts({ openTools: [], runningTools: [] });
}

/** Counts a tool among the running ones, or no longer. */
export function setRunning(draft: ViewDraft, toolCallId: string, isRunning: boolean): void {
  const { runningTools } = draft.view.facts;
  if (runningTools.includes(toolCallId) !== isRunning) {
    const others = runningTools.filter((id) => id !== toolCallId);
    draft.setFacts({ runningTools: isRunning ? [...others, toolCallId] : others });
  }
  draft.updateStage();
}

function addOpenTool(draft: ViewDraft, toolCallId: string): void {
  const { openTools } = draft.view.facts;
  if (!openTools.includes(toolCallId)) draft.setFacts({ openTools: [...openTools, toolCallId] });
}

function receiveCall(
  draft: ViewDraft,
  { toolCallId, messageId, toolCall, problem, executor }: ToolCallReceived,
  { at, seq }: Envelope,
): void {
  addOpenTool(draft, toolCallId);
  const { name, inputText, runBy } = toolCall;
  const known =
    findTool(draft, toolCallId) ?? createToolItem({ toolCallId, messageId, name, at, seq });
  const change = { name, inputText, call: toolCall, ...(problem !== undefined && { problem }) };
  if (executor === "prompter") draft.addItem({ ...known, ...change, stage: "host" });
  else if (runBy === "server")
    draft.addItem({ ...known, ...change, stage: "running", startedAt: at });
  else draft.addItem({ ...known, ...change, stage: "received" });
}

function resolvePaths(
  draft: ViewDraft,
  { toolCallId, diffs, problem }: ToolCallPathsResolved,
): void {
  changeTool(draft, toolCallId, {
    ...(diffs !== undefined && { diffs }),
    ...(problem !== undefined && { problem }),
  });
}

function applyDecision(draft: ViewDraft, { toolCallId, decision }: PolicyDecided): void {
  const item = findTool(draft, toolCallId);
  if (item === undefined) return;
  const isAllowed = decision.action === "allow" && item.stage === "received";
  draft.replaceItem({ ...item, decision, ...(isAllowed && { stage: "allowed" }) });
}

function finishTool(
  draft: ViewDraft,
  { toolCallId, ending, result, durationMs, blobId, attachments }: ToolFinished,
  { at, seq }: Envelope,
): void {
  const { openTools } = draft.view.facts;
  if (openTools.includes(toolCallId))
    draft.setFacts({ openTools: openTools.filter((id) => id !== toolCallId) });
  setRunning(draft, toolCallId, false);
  const item = findTool(draft, toolCallId);
  if (item === undefined) return;
  const ended: ToolItem = {
    ...item,
    stage: "ended",
    ending,
    result,
    progress: null,
    durationMs: durationMs ?? (item.startedAt === null ? null : at - item.startedAt),
    // A tool that reports no changes leaves the planned ones, which an approver has seen.
    diffs: attachments?.diffs ?? item.diffs,
  };
  draft.replaceItem(blobId === undefined ? ended : { ...ended, blobId });
  extendTexts(draft, item.messageId, seq);
}
