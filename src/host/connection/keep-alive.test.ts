import { describe, expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../../test/support/fake-clock.ts";
import { createClient } from "../client/create-client.ts";
import type { ConnectionState } from "./reconnecting-connection.ts";
import { createScriptedRuntime } from "../scripted-runtime.ts";
import type { Transport } from "../transports/transport.ts";

const task = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A connection that stops responding without closing, like a machine that is switched off. */
function silenced(transport: Transport): { transport: Transport; fallSilent: () => void } {
  let isSilent = false;
  const send = (line: string): void => {
    if (!isSilent) transport.send(line);
  };
  return {
    transport: { ...transport, send, mayStall: true },
    fallSilent: () => void (isSilent = true),
  };
}

describe("An agent that stops responding without closing", () => {
  it("A client detects an unresponsive agent and reconnects [W-48]", async () => {
    const clock = createFakeClock();
    const states: ConnectionState["type"][] = [];
    const runtime = createScriptedRuntime();
    let fallSilent = (): void => {};
    const client = createClient(
      () => {
        const made = silenced(runtime.connect());
        ({ fallSilent } = made);
        return made.transport;
      },
      {
        clock,
        keepAlive: { intervalMs: 1000, timeoutMs: 500 },
        reconnect: { first: 10, longest: 10 },
        onState: ({ type }) => states.push(type),
      },
    );
    onTestFinished(() => client.close());
    await client.initialize();
    // Any response counts as alive, also "method not found".
    for (let round = 0; round < 5; round += 1) {
      clock.advance(1000);
      await task();
    }
    expect(states).toEqual(["connected"]);
    fallSilent();
    clock.advance(1000);
    clock.advance(499);
    await task();
    expect(states).toEqual(["connected"]);
    clock.advance(1);
    await task();
    clock.advance(10);
    await task();
    expect(states).toEqual(["connected", "lost", "connected"]);
  });

  it("A client detects an unresponsive agent while sessions are being resumed [W-48]", async () => {
    const clock = createFakeClock();
    const states: ConnectionState["type"][] = [];
    const runtime = createScriptedRuntime();
    let made = 0;
    const client = createClient(
      () => {
        made += 1;
        const { transport, fallSilent } = silenced(runtime.connect());
        const isGreetedOnly = made === 2;
        const send = (line: string): void => {
          transport.send(line);
          if (isGreetedOnly) fallSilent();
        };
        return { ...transport, send };
      },
      {
        clock,
        keepAlive: { intervalMs: 1000, timeoutMs: 500 },
        reconnect: { first: 10, longest: 10 },
        onState: ({ type }) => states.push(type),
      },
    );
    onTestFinished(() => client.close());
    await client.newSession({ workingDirectory: "/" });
    runtime.drop();
    for (const passed of [0, 10, 1000, 500, 10]) {
      clock.advance(passed);
      await task();
    }
    expect(states).toEqual(["connected", "lost", "lost", "connected"]);
  });

  it("No pings are sent over a transport that always reports its end", async () => {
    const clock = createFakeClock();
    const runtime = createScriptedRuntime();
    const client = createClient(runtime.connect, { clock });
    onTestFinished(() => client.close());
    await client.initialize();
    clock.advance(100_000);
    await task();
    expect(runtime.receivedMessages.map(({ method }) => method)).toEqual(["initialize"]);
  });
});
