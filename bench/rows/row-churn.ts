import { text } from "node:stream/consumers";
import { sendRequest, startGateway, startUpstream } from "../start-gateway.ts";
import { memoryUnder } from "../memory-samples.ts";
import type { Row } from "../report.ts";

const SESSIONS = 50_000;

/** Memory of the gateway while many callers open a session each, submit a single prompt and never return. */
export async function churnRow(count = SESSIONS): Promise<Row> {
  const upstream = await startUpstream();
  const gateway = await startGateway(upstream.url);
  upstream.pace = { words: 5, intervalMs: 0 };
  try {
    return await memoryUnder(gateway, {
      title: "sessions of one turn",
      count,
      connections: 32,
      maxMs: 1_500_000,
      async run(at) {
        const body = { model: "bench", input: `Hello ${at}` };
        const response = JSON.parse(
          await text(await sendRequest(`${gateway.url}/v1/responses`, body)),
        );
        if (response.status !== "completed") throw new Error(JSON.stringify(response));
      },
    });
  } finally {
    await gateway.close();
    await upstream.close();
  }
}
