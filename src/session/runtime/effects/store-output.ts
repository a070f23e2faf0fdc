import { toJsonText } from "../../../data/json.ts";
import type { ToolResult } from "../../../domain/tools/tool-call.ts";
import { digestBytes } from "../../../platform/digest.ts";
import { cutText } from "../../../text/cut-text.ts";

export interface StoredOutput {
  readonly result: ToolResult;
  readonly blobId?: string;
  /** SHA-256 of the blob. */
  readonly blobDigest?: string;
}

export interface OutputStore {
  readonly putBlob: (blobId: string, bytes: Uint8Array) => Promise<void>;
  readonly report: (error: unknown) => void;
}

/** Characters. A longer result would crowd other content out of the model's context. */
export const MAX_OUTPUT_CHARACTERS = 100_000;

/**
 * Returns the result for the model. A long result is cut, and its whole text stored as a blob. A failure to store it
 * does not fail the tool.
 */
export async function storeOutput(
  result: ToolResult,
  { toolCallId, attempt }: { readonly toolCallId: string; readonly attempt: number },
  { putBlob, report }: OutputStore,
): Promise<StoredOutput> {
  const text = result.parts
    .map((part) =>
      part.type === "text" ? part.text : part.type === "json" ? toJsonText(part.value) : "",
    )
    .join("\n");
  if (text.length <= MAX_OUTPUT_CHARACTERS) return { result };
  const blobId = `blob_${toolCallId}_${attempt}`;
  const bytes = new TextEncoder().encode(text);
  const isStored = await putBlob(blobId, bytes).then(
    () => true,
    (cause: unknown) => {
      report(new Error(`The whole output of ${toolCallId} could not be kept`, { cause }));
      return false;
    },
  );
  const beginning = cutText(text, MAX_OUTPUT_CHARACTERS);
  const omittedNote = `${text.length - beginning.length} more characters were left out`;
  const shortenedText = `${beginning}\n[${omittedNote}${isStored ? "" : ", and could not be kept"}]`;
  const cut = { ...result, parts: [{ type: "text", text: shortenedText }] } as const;
  return isStored ? { result: cut, blobId, blobDigest: digestBytes(bytes) } : { result: cut };
}
