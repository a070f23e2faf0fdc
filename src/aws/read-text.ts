import { providerError } from "../domain/provider-error.ts";
import type { HttpAnswer } from "../platform/http-client.ts";

const MOST_BYTES = 16 * 1024 * 1024;

/** An answer that is no stream, read whole. */
export async function readText(answer: HttpAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body) {
    length += chunk.length;
    if (length > MOST_BYTES) {
      const message = `The answer is larger than ${MOST_BYTES} bytes`;
      throw providerError("unknown_exception", message, { phase: "http" });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
