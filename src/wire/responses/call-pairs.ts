import type { Anomaly } from "./anomaly.ts";
import { outputText } from "./tool-output.ts";
import type { Block, CallBlock, ResultBlock } from "../../domain/turn-state.ts";

interface PairedBlocks {
  readonly blocks: readonly Block[];
  readonly anomalies: readonly Anomaly[];
}

/**
 * Leaves one call and at most one result for every call id. A repeated id is one call: it has the place of its first
 * opening, the content of its last, and no result from before that.
 */
export function pairCalls(blocks: readonly Block[], openCalls: readonly string[]): PairedBlocks {
  const ids = idsOf(blocks);
  const kept: Block[] = [];
  const anomalies: Anomaly[] = [];
  for (const block of blocks) {
    const keep =
      block.kind === "call"
        ? keepCall(block, ids, anomalies)
        : block.kind === "result"
          ? keepResult(block, ids, anomalies)
          : block;
    if (keep) kept.push(keep);
  }
  checkPairs(ids, new Set(openCalls), anomalies);
  return { blocks: kept, anomalies };
}

interface Uses {
  readonly calls: CallBlock[];
  last: CallBlock | ResultBlock;
}

type UsesById = ReadonlyMap<string, Uses>;

function idsOf(blocks: readonly Block[]): UsesById {
  const ids = new Map<string, Uses>();
  for (const block of blocks) {
    if (block.kind !== "call" && block.kind !== "result") continue;
    const id = block.kind === "call" ? block.call.id : block.result.callId;
    if (id === "") continue;
    const uses = ids.get(id) ?? { calls: [], last: block };
    if (block.kind === "call") uses.calls.push(block);
    uses.last = block;
    ids.set(id, uses);
  }
  return ids;
}

function keepCall(call: CallBlock, ids: UsesById, anomalies: Anomaly[]): CallBlock | null {
  const { id: callId, name, inputText } = call.call;
  const lost = { name, arguments: inputText };
  const calls = ids.get(callId)?.calls;
  if (!calls) {
    anomalies.push({ code: "call_id_missing", message: "A call came without an id", ...lost });
    return null;
  }
  const latest = calls.at(-1) ?? call;
  if (call !== latest)
    anomalies.push({
      code: "call_repeated",
      message: "A later call has the same id",
      call_id: callId,
      ...lost,
    });
  return call === calls[0] ? { ...latest, key: call.key, order: call.order } : null;
}

function keepResult(block: ResultBlock, ids: UsesById, anomalies: Anomaly[]): ResultBlock | null {
  const { callId, parts } = block.result;
  const uses = ids.get(callId);
  if (!uses) {
    anomalies.push({
      code: "call_id_missing",
      message: "A result came without the id of its call",
      output: outputText(parts),
    });
    return null;
  }
  if (uses.last !== block) {
    anomalies.push({
      code: "result_superseded",
      message: "A later call or result has the same id",
      call_id: callId,
      output: outputText(parts),
    });
    return null;
  }
  return block;
}

function checkPairs(ids: UsesById, openCalls: ReadonlySet<string>, anomalies: Anomaly[]): void {
  for (const [call_id, { calls, last }] of ids) {
    if (calls.length === 0)
      anomalies.push({ code: "result_unmatched", message: "A result has no call", call_id });
    else if (last.kind === "call" && !openCalls.has(call_id))
      anomalies.push({
        code: "call_unanswered",
        message: "A call has no result and waits for none",
        call_id,
      });
  }
  for (const call_id of openCalls)
    if (!ids.get(call_id)?.calls.length)
      anomalies.push({
        code: "open_call_unknown",
        message: "The turn waits for a call that was never made",
        call_id,
      });
}
