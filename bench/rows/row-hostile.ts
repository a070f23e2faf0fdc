import { startGateway, startUpstream } from "../start-gateway.ts";
import { sendHostile } from "../hostile-requests.ts";
import { memoryUnder } from "../memory-samples.ts";
import type { Row } from "../report.ts";

const REQUESTS = 33_000;

/** Memory of the gateway while clients send invalid requests or disconnect in the middle. */
export async function hostileRow(count = REQUESTS): Promise<Row> {
  const upstream = await startUpstream();
  const gateway = await startGateway(upstream.url);
  upstream.pace = { words: 5, intervalMs: 1 };
  const url = new URL(gateway.url);
  try {
    return await memoryUnder(gateway, {
      title: "hostile requests",
      count,
      connections: 32,
      maxMs: 900_000,
      run: (at) => sendHostile(url, at),
    });
  } finally {
    await gateway.close();
    await upstream.close();
  }
}
