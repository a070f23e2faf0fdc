import type { Anomaly } from "../anomaly.ts";
import type {
  Block,
  ToolCallBlock,
  MessageState,
  ReasoningBlock,
  ToolResultBlock,
  TextBlock,
} from "../../../domain/provider/turn-builder.ts";

/** The source of one item. Entries are in the order of the items. */
export type Entry = Passage | ReasoningBlock | ToolCallBlock | ToolResultBlock;

/** Adjacent text blocks of one message. */
export interface Passage {
  readonly kind: "passage";
  readonly role: "assistant" | "user";
  readonly message: number;
  readonly blocks: [TextBlock, ...TextBlock[]];
}

interface Entries {
  readonly entries: readonly Entry[];
  readonly anomalies: readonly Anomaly[];
}

/** Groups blocks into entries. Expects the blocks in the order of their start. */
export function groupEntries(
  blocks: readonly Block[],
  messages: ReadonlyMap<number, MessageState>,
): Entries {
  const entries: Entry[] = [];
  const anomalies: Anomaly[] = [];
  for (const block of blocks) {
    if (isEmptyBlock(block)) continue;
    if (block.kind !== "text") {
      entries.push(block);
      continue;
    }
    const role = messages.get(block.message)?.role ?? "other";
    if (role === "other") anomalies.push(createUnknownRoleAnomaly(block));
    else addText(entries, block, role);
  }
  return { entries, anomalies };
}

function isEmptyBlock(block: Block): boolean {
  if (block.kind === "text") return block.text === "";
  if (block.kind !== "reasoning") return false;
  return block.text === "" && !block.signature && !block.redacted;
}

/** The specification has no role for an unknown speaker. */
function createUnknownRoleAnomaly({ text }: TextBlock): Anomaly {
  return { code: "text_role_unknown", message: "The role of this text is unknown", text };
}

function addText(entries: Entry[], block: TextBlock, role: Passage["role"]): void {
  const last = entries.at(-1);
  if (last?.kind === "passage" && last.message === block.message) last.blocks.push(block);
  else entries.push({ kind: "passage", role, message: block.message, blocks: [block] });
}
