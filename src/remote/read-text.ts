import { thrownMessage } from "../domain/errors.ts";
import { providerError } from "../domain/provider-error.ts";
import type { HttpAnswer } from "../platform/http-client.ts";

const MOST_BYTES = 16 * 1024 * 1024;

/** An answer that is no stream, read whole. */
export async function readText(answer: HttpAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of answer.body) {
      length += chunk.length;
      if (length > MOST_BYTES) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    const message = `The connection was lost inside the answer: ${thrownMessage(cause)}`;
    throw providerError("connection_lost", message, { phase: "http", cause });
  }
  if (length > MOST_BYTES) {
    const message = `The answer is larger than ${MOST_BYTES} bytes`;
    throw providerError("unexpected_answer", message, { phase: "http" });
  }
  return Buffer.concat(chunks).toString("utf8");
}
