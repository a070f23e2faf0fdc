import { jsonText } from "../domain/json.ts";
import type { ToolResult } from "../domain/tool.ts";

export interface KeptOutput {
  readonly result: ToolResult;
  readonly blobId?: string;
}

/** More than this of one result would crowd everything else out of a model's memory. */
export const MAX_OUTPUT_CHARACTERS = 100_000;

/** The result as the model gets it; where that is only its beginning, the whole is kept as a blob. */
export async function keepOutput(
  result: ToolResult,
  { toolCallId, attempt }: { readonly toolCallId: string; readonly attempt: number },
  { putBlob }: { readonly putBlob: (blobId: string, bytes: Uint8Array) => Promise<void> },
): Promise<KeptOutput> {
  const text = result.parts
    .map((part) =>
      part.type === "text" ? part.text : part.type === "json" ? jsonText(part.value) : "",
    )
    .join("\n");
  if (text.length <= MAX_OUTPUT_CHARACTERS) return { result };
  const blobId = `blob_${toolCallId}_${attempt}`;
  await putBlob(blobId, new TextEncoder().encode(text));
  const beginning = beginningOf(text);
  const rest = text.length - beginning.length;
  const shown = `${beginning}\n[${rest} more characters were left out]`;
  return { result: { ...result, parts: [{ type: "text", text: shown }] }, blobId };
}

/** Never half of a character that JavaScript counts as two. */
function beginningOf(text: string): string {
  const last = text.charCodeAt(MAX_OUTPUT_CHARACTERS - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, MAX_OUTPUT_CHARACTERS - (isHalf ? 1 : 0));
}
