import { SSE_DONE } from "../../wire/responses/sse-text.ts";

/** What is sent of a stream, with the mark of its end. `end` is told when nothing more is, whoever ended it. */
export async function* streamTexts<Output>(
  outputs: AsyncIterable<readonly Output[]>,
  textOf: (output: Output) => string,
  end: () => void = () => {},
): AsyncGenerator<string> {
  try {
    for await (const batch of outputs) for (const output of batch) yield textOf(output);
    yield SSE_DONE;
  } finally {
    end();
  }
}
