import { createServer, type AddressInfo } from "node:net";
import type { ServerResponse } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import type { ConnectionOptions } from "../../../src/aws/agentcore-client.ts";
import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import { createHttpClient } from "../../../src/platform/http-client.ts";
import type { InvocationLimits } from "../../../src/providers/agentcore/invocation-limits.ts";
import { harnessProvider } from "../../../src/providers/agentcore/harness-provider.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  encodeAwsFrame,
  startEventStream,
  startPeer,
  encodeTextDelta,
} from "../../support/server/scripted-peer.ts";
import { HARNESS_ARN, TEST_KEYS } from "../../support/session/provider-session.ts";
import { serveSessions } from "../support/serve-sessions.ts";
import { ask, errorIn, textIn, type Answered } from "./responses-world.ts";

const LONG = { connect: 60_000, firstEvent: 60_000, idle: 60_000, total: 60_000 };

/** The response of an agent at `endpoint` with one short time limit. */
async function runWithLimits(
  endpoint: string,
  short: InvocationLimits,
  connection: ConnectionOptions = {},
): Promise<Answered> {
  const limits = { ...LONG, ...short };
  const options = {
    harnessArn: HARNESS_ARN,
    endpoint,
    credentials: TEST_KEYS,
    limits,
    ...connection,
  };
  const provider = harnessProvider(options);
  const agents = [defineAgent({ name: "far", provider })];
  const served = await serveSessions({ agents, settings: { approvalMs: 1 } });
  return ask(served, { input: "Hi" });
}

/** A connection whose clock advances by `milliseconds` after the first text has arrived. */
function passingAfterWords(milliseconds: number): ConnectionOptions {
  const clock = createFakeClock();
  const client = createHttpClient();
  onTestFinished(() => client.close());
  const stallAfterHalf = async function* (
    body: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    let text = "";
    for await (const chunk of body) {
      yield chunk;
      text += Buffer.from(chunk).toString("latin1");
      if (text.includes("Half of")) setImmediate(() => clock.advance(milliseconds));
    }
  };
  return {
    clock,
    async send(request, signal) {
      const answer = await client.send(request, signal);
      return { ...answer, body: stallAfterHalf(answer.body) };
    },
  };
}

/** Accepts connections and never completes a handshake. */
async function startMute(): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return `https://127.0.0.1:${port}`;
}

function begins(response: ServerResponse): void {
  startEventStream(response);
  response.write(encodeAwsFrame("messageStart", { role: "assistant" }));
  response.write(encodeTextDelta("Half of"));
}

it("A connection timeout is reported as connect_failed and may be retried [OR-52] [OR-51]", async () => {
  const answer = await runWithLimits(await startMute(), { connect: 40 });
  expect([answer.status, errorIn(answer)["code"]]).toEqual([502, "connect_failed"]);
  expect(String(errorIn(answer)["message"])).toContain("0.04 s");
  expect(answer.headers.get("x-should-retry")).toBe("true");
});

it("A missing first event is reported as first_event_timeout [OR-52] [OR-51]", async () => {
  const clock = createFakeClock();
  const peer = await startPeer(() => clock.advance(40));
  const answer = await runWithLimits(peer.url, { firstEvent: 40 }, { clock });
  expect([answer.status, errorIn(answer)["code"]]).toEqual([504, "first_event_timeout"]);
  expect(answer.headers.get("x-should-retry")).toBe("false");
});

it("Silence within a stream is reported as idle_timeout, with the partial output [OR-52] [OR-22]", async () => {
  const peer = await startPeer(begins);
  const { status, body } = await runWithLimits(peer.url, { idle: 40 }, passingAfterWords(40));
  expect([status, textIn(body)]).toEqual([200, "Half of"]);
  expect(body).toMatchObject({ status: "failed", error: { code: "idle_timeout" } });
});

it("An invocation that exceeds its deadline is reported as deadline_exceeded, even while it sends text [OR-52] [OR-22]", async () => {
  const peer = await startPeer((response) => {
    begins(response);
    const timer = setInterval(() => response.write(encodeTextDelta(" it")), 5);
    response.on("close", () => clearInterval(timer));
  });
  const { status, body } = await runWithLimits(peer.url, { total: 300 }, passingAfterWords(300));
  expect([status, textIn(body).startsWith("Half of")]).toEqual([200, true]);
  expect(body).toMatchObject({ status: "failed", error: { code: "deadline_exceeded" } });
});
