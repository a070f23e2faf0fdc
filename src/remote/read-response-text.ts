import { formatThrown } from "../domain/errors.ts";
import { createProviderError } from "../domain/provider/provider-error.ts";
import type { HttpResponse } from "../platform/http-client.ts";

const MAX_BYTES = 16 * 1024 * 1024;

/** An answer that is no stream, read whole. */
export async function readResponseText(response: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response.body) {
      length += chunk.length;
      if (length > MAX_BYTES) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    const message = `The connection was lost inside the answer: ${formatThrown(cause)}`;
    throw createProviderError("connection_lost", message, { phase: "http", cause });
  }
  if (length > MAX_BYTES) {
    const message = `The answer is larger than ${MAX_BYTES} bytes`;
    throw createProviderError("unexpected_answer", message, { phase: "http" });
  }
  return Buffer.concat(chunks).toString("utf8");
}
