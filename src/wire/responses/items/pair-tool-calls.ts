import type { Anomaly } from "../anomaly.ts";
import { formatToolOutput } from "./format-tool-output.ts";
import type {
  Block,
  ToolCallBlock,
  ToolResultBlock,
} from "../../../domain/provider/turn-builder.ts";

interface PairedBlocks {
  readonly blocks: readonly Block[];
  readonly anomalies: readonly Anomaly[];
}

/**
 * Reduces the blocks to one tool call and at most one result per id. A repeated id is one tool call with the position
 * of its first start and the content of its last start; results before the last start are dropped.
 */
export function pairToolCalls(
  blocks: readonly Block[],
  openCallIds: readonly string[],
): PairedBlocks {
  const ids = indexCallUses(blocks);
  const pairedBlocks: Block[] = [];
  const anomalies: Anomaly[] = [];
  for (const block of blocks) {
    const pairedBlock =
      block.kind === "tool-call"
        ? resolveCall(block, ids, anomalies)
        : block.kind === "tool-result"
          ? resolveResult(block, ids, anomalies)
          : block;
    if (pairedBlock) pairedBlocks.push(pairedBlock);
  }
  checkPairs(ids, new Set(openCallIds), anomalies);
  return { blocks: pairedBlocks, anomalies };
}

interface CallUses {
  readonly calls: ToolCallBlock[];
  last: ToolCallBlock | ToolResultBlock;
}

type UsesById = ReadonlyMap<string, CallUses>;

function indexCallUses(blocks: readonly Block[]): UsesById {
  const ids = new Map<string, CallUses>();
  for (const block of blocks) {
    if (block.kind !== "tool-call" && block.kind !== "tool-result") continue;
    const id = block.kind === "tool-call" ? block.toolCall.id : block.result.toolCallId;
    if (id === "") continue;
    const uses = ids.get(id) ?? { calls: [], last: block };
    if (block.kind === "tool-call") uses.calls.push(block);
    uses.last = block;
    ids.set(id, uses);
  }
  return ids;
}

function resolveCall(
  call: ToolCallBlock,
  ids: UsesById,
  anomalies: Anomaly[],
): ToolCallBlock | null {
  const { id: callId, name, inputText } = call.toolCall;
  const droppedCall = { name, arguments: inputText };
  const calls = ids.get(callId)?.calls;
  if (!calls) {
    anomalies.push({
      code: "call_id_missing",
      message: "A tool call has no id",
      ...droppedCall,
    });
    return null;
  }
  const latest = calls.at(-1) ?? call;
  if (call !== latest)
    anomalies.push({
      code: "call_repeated",
      message: "A later tool call has the same id",
      call_id: callId,
      ...droppedCall,
    });
  return call === calls[0] ? { ...latest, key: call.key, order: call.order } : null;
}

function resolveResult(
  block: ToolResultBlock,
  ids: UsesById,
  anomalies: Anomaly[],
): ToolResultBlock | null {
  const { toolCallId, parts } = block.result;
  const uses = ids.get(toolCallId);
  if (!uses) {
    anomalies.push({
      code: "call_id_missing",
      message: "A result has no tool call id",
      output: formatToolOutput(parts),
    });
    return null;
  }
  if (uses.last !== block) {
    anomalies.push({
      code: "result_superseded",
      message: "A later tool call or result has the same id",
      call_id: toolCallId,
      output: formatToolOutput(parts),
    });
    return null;
  }
  return block;
}

function checkPairs(ids: UsesById, openCalls: ReadonlySet<string>, anomalies: Anomaly[]): void {
  for (const [call_id, { calls, last }] of ids) {
    if (calls.length === 0)
      anomalies.push({ code: "result_unmatched", message: "A result has no tool call", call_id });
    else if (last.kind === "tool-call" && !openCalls.has(call_id))
      anomalies.push({
        code: "call_unanswered",
        message: "A tool call has no result, and none is expected",
        call_id,
      });
  }
  for (const call_id of openCalls)
    if (!ids.get(call_id)?.calls.length)
      anomalies.push({
        code: "open_call_unknown",
        message: "The turn waits for an unknown tool call",
        call_id,
      });
}
