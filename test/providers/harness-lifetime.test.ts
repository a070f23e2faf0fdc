import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import {
  AbortError,
  DeadlineExceededError,
  FirstEventTimeoutError,
} from "../../src/domain/provider/provider-error.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import {
  encodeAwsFrame,
  startEventStream,
  startPeer,
  encodeTextDelta,
  encodeTextTurn,
  type Peer,
} from "../support/server/scripted-peer.ts";
import {
  runInvocation,
  gather,
  openHarnessSession,
  PROMPT,
  catchRejection,
} from "../support/session/provider-session.ts";

const START = encodeAwsFrame("messageStart", { role: "assistant" });
const { signal } = new AbortController();

/** A server which starts a turn and then sends nothing. */
function silentPeer(...frames: readonly Buffer[]): Promise<Peer> {
  return startPeer((response) => {
    startEventStream(response);
    response.flushHeaders();
    if (frames.length > 0) response.write(Buffer.concat(frames));
  });
}

describe("Readers that stop early", () => {
  it("A reader that stops early closes its connection, also 500 times in a row [AC-65]", async () => {
    const peer = await silentPeer(START, encodeTextDelta("Hel"));
    const session = openHarnessSession(peer.url);
    for (let at = 0; at < 500; at++) {
      for await (const event of await session.invoke(PROMPT, { signal })) {
        if (event.type === "text.delta") break;
      }
    }
    await peer.waitUntilQuiet();
    expect(peer.requests).toHaveLength(500);
  });

  it.each([
    ["return()", (events: AsyncIterator<unknown>) => events.return?.()],
    [
      "throw()",
      (events: AsyncIterator<unknown>) =>
        catchRejection(Promise.resolve(events.throw?.(new Error("no")))),
    ],
  ])("A reader closes its connection by %s [AC-65]", async (_, leave) => {
    const peer = await silentPeer(START, encodeTextDelta("Hel"));
    const events = (await openHarnessSession(peer.url).invoke(PROMPT, { signal }))[
      Symbol.asyncIterator
    ]();
    await events.next();
    await leave(events);
    await peer.waitUntilQuiet();
    expect((await events.next()).done).toBe(true);
  });

  it("A reader that stops before the first event closes its connection [AC-65]", async () => {
    const peer = await silentPeer(START);
    const call = await openHarnessSession(peer.url).invoke(PROMPT, { signal });
    await call[Symbol.asyncIterator]().return?.();
    await peer.waitUntilQuiet();
    expect(() => call[Symbol.asyncIterator]()).toThrow("read only once");
  });

  it("An unread invocation can be closed [AC-65]", async () => {
    const peer = await silentPeer(START);
    (await openHarnessSession(peer.url).invoke(PROMPT, { signal })).close();
    await peer.waitUntilQuiet();
    expect(peer.requests).toHaveLength(1);
  });
});

describe("Aborts", () => {
  const reason = new Error("The user pressed a key");

  function expectAbort(error: unknown): void {
    expect(error).toBeInstanceOf(AbortError);
    expect(error).toMatchObject({ name: "AbortError", code: "aborted", cause: reason });
  }

  it("An abort before the invocation sends nothing [AC-66]", async () => {
    const peer = await silentPeer();
    const call = openHarnessSession(peer.url).invoke(PROMPT, { signal: AbortSignal.abort(reason) });
    const error = await catchRejection(call);
    expectAbort(error);
    expect(error).toMatchObject({ wasSent: false });
    expect(peer.requests).toEqual([]);
  });

  it("An abort before the response closes the connection [AC-66]", async () => {
    const controller = new AbortController();
    const peer = await startPeer(() => controller.abort(reason));
    const call = openHarnessSession(peer.url).invoke(PROMPT, { signal: controller.signal });
    const error = await catchRejection(call);
    expectAbort(error);
    expect(error).toMatchObject({ wasSent: true });
    await peer.waitUntilQuiet();
  });

  it("An abort or a deadline ends the wait for credentials, and nothing is sent [AC-66, AC-67]", async () => {
    const controller = new AbortController();
    const peer = await silentPeer();
    const never = (): Promise<never> => new Promise(() => {});
    const hanging = openHarnessSession(peer.url, { credentials: never });
    const call = hanging.invoke(PROMPT, { signal: controller.signal });
    controller.abort(reason);
    const error = await catchRejection(call);
    expectAbort(error);
    expect(error).toMatchObject({ wasSent: false });
    const clock = createFakeClock();
    const limited = openHarnessSession(peer.url, {
      credentials: never,
      clock,
      limits: { total: 10 },
    });
    const late = limited.invoke(PROMPT, { signal });
    clock.advance(10);
    expect(await catchRejection(late)).toMatchObject({
      code: "deadline_exceeded",
      phase: "connect",
    });
    expect(peer.requests).toEqual([]);
  });

  it.each([
    ["before the first event", []],
    ["inside a message", [START, encodeTextDelta("Hel")]],
  ])("An abort %s closes the connection and is thrown [AC-66]", async (_, frames) => {
    const controller = new AbortController();
    const peer = await silentPeer(...frames);
    const call = await openHarnessSession(peer.url).invoke(PROMPT, { signal: controller.signal });
    const reading = (async () => {
      for await (const event of call) if (event.type === "text.delta") controller.abort(reason);
    })();
    if (frames.length === 0) controller.abort(reason);
    expectAbort(await catchRejection(reading));
    await peer.waitUntilQuiet();
  });

  it("An abort after the end has no effect, and no listener remains on the signal [AC-66, AC-71]", async () => {
    const controller = new AbortController();
    const peer = await startPeer((response) => {
      startEventStream(response);
      response.end(Buffer.concat(encodeTextTurn("Hello")));
    });
    const turn = await runInvocation(openHarnessSession(peer.url), { signal: controller.signal });
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    controller.abort(reason);
    expect(turn.end?.outcome).toBe("completed");
  });
});

describe("Time limits", () => {
  const limits = { firstEvent: 1000, idle: 500, total: 10_000 };

  it("A missing first event fails with first_event_timeout, with or without a response [AC-67]", async () => {
    const clock = createFakeClock();
    const mute = await startPeer(() => clock.advance(1000));
    const error = await catchRejection(
      openHarnessSession(mute.url, { clock, limits }).invoke(PROMPT, { signal }),
    );
    expect(error).toBeInstanceOf(FirstEventTimeoutError);
    expect(error).toMatchObject({ message: "No event was received within 1 s", phase: "http" });
    await mute.waitUntilQuiet();

    const peer = await silentPeer();
    const call = await openHarnessSession(peer.url, { clock, limits }).invoke(PROMPT, { signal });
    const reading = gather(call);
    clock.advance(999);
    clock.advance(1);
    expect((await reading).at(-1)).toMatchObject({
      outcome: "failed",
      failure: { code: "first_event_timeout", details: { phase: "stream" } },
    });
    await peer.waitUntilQuiet();
  });

  it("Silence between events fails with idle_timeout and keeps the partial text [AC-67]", async () => {
    const clock = createFakeClock();
    const peer = await silentPeer(START, encodeTextDelta("Hel"));
    const call = await openHarnessSession(peer.url, { clock, limits }).invoke(PROMPT, { signal });
    const seen: string[] = [];
    for await (const event of call) {
      seen.push(event.type);
      if (event.type === "text.delta") {
        // The reader's own time does not count.
        clock.advance(5000);
        setImmediate(() => clock.advance(500));
      }
      if (event.type !== "end") continue;
      expect(event).toMatchObject({
        outcome: "failed",
        failure: { code: "idle_timeout", message: "No data was received for 0.5 s" },
      });
    }
    expect(seen).toContain("text.end");
    expect(seen.at(-1)).toBe("end");
    await peer.waitUntilQuiet();
  });

  it("The whole invocation fails with deadline_exceeded at its limit [AC-67]", async () => {
    const clock = createFakeClock();
    const peer = await silentPeer(START, encodeTextDelta("Hel"));
    const slow = { firstEvent: Infinity, idle: Infinity, total: 10_000 };
    const call = await openHarnessSession(peer.url, { clock, limits: slow }).invoke(PROMPT, {
      signal,
    });
    const events = [];
    for await (const event of call) {
      events.push(event);
      if (event.type === "text.delta") setImmediate(() => clock.advance(10_000));
    }
    expect(events.at(-1)).toMatchObject({
      failure: { code: "deadline_exceeded", message: "The request took longer than 10 s" },
    });
    const mute = await startPeer(() => clock.advance(10_000));
    const unlimited = { total: 10_000, firstEvent: Infinity };
    const error = await catchRejection(
      openHarnessSession(mute.url, { clock, limits: unlimited }).invoke(PROMPT, { signal }),
    );
    expect(error).toBeInstanceOf(DeadlineExceededError);
  });

  it("The time limits apply while the deployed tools are read [AC-67]", async () => {
    const clock = createFakeClock();
    const mute = await startPeer(() => clock.advance(1000));
    const tools = [{ name: "look", description: "Looks", schema: { type: "object" } }];
    const session = openHarnessSession(mute.url, { clock, limits });
    const error = await catchRejection(session.invoke(PROMPT, { signal, tools }));
    expect(error).toBeInstanceOf(FirstEventTimeoutError);
    expect(mute.requests).toMatchObject([{ method: "GET" }]);
    await mute.waitUntilQuiet();
  });

  interface Step {
    readonly advance: number;
    readonly jump: number;
  }

  it("Silence is measured by bytes or only by events, as configured [AC-68]", async () => {
    const outcome = async (idleCounts: "bytes" | "events", step: Step): Promise<unknown> => {
      const clock = createFakeClock();
      const delta = encodeTextDelta("lo");
      let rest: (() => void)[] = [];
      const peer = await startPeer((response) => {
        startEventStream(response);
        response.write(Buffer.concat([START, encodeTextDelta("Hel")]));
        // A frame in three chunks: bytes which are not an event yet.
        rest = [
          () => void response.write(delta.subarray(0, 20)),
          () => void response.write(delta.subarray(20, 40)),
          () =>
            void response.end(Buffer.concat([delta.subarray(40), ...encodeTextTurn().slice(1)])),
        ];
      });
      const session = openHarnessSession(peer.url, { clock, limits: { idle: 500, idleCounts } });
      const call = await session.invoke(PROMPT, { signal, tap: () => setImmediate(next) });
      const next = (): void => {
        clock.jump(step.jump);
        clock.advance(step.advance);
        rest.shift()?.();
      };
      const events = await gather(call);
      return events.at(-1);
    };
    const slow: Step = { advance: 300, jump: 0 };
    expect(await outcome("bytes", slow)).toMatchObject({ outcome: "completed" });
    expect(await outcome("events", slow)).toMatchObject({ failure: { code: "idle_timeout" } });
    // A change of the system time neither ends an invocation nor extends it.
    const ahead: Step = { advance: 100, jump: 3_600_000 };
    expect(await outcome("events", ahead)).toMatchObject({ outcome: "completed" });
    const back: Step = { advance: 300, jump: -3_600_000 };
    expect(await outcome("events", back)).toMatchObject({ failure: { code: "idle_timeout" } });
  });

  it("No timer remains after an invocation, however it ends [AC-71]", async () => {
    const clock = createFakeClock();
    const whole = await startPeer((response) => {
      startEventStream(response);
      response.end(Buffer.concat(encodeTextTurn("Hello")));
    });
    await runInvocation(openHarnessSession(whole.url, { clock }));
    expect(clock.pending).toBe(0);
    for await (const _ of await openHarnessSession(whole.url, { clock }).invoke(PROMPT, { signal }))
      break;
    expect(clock.pending).toBe(0);
    await catchRejection(
      openHarnessSession("http://127.0.0.1:9", { clock }).invoke(PROMPT, { signal }),
    );
    expect(clock.pending).toBe(0);
    (await openHarnessSession(whole.url, { clock }).invoke(PROMPT, { signal })).close();
    expect(clock.pending).toBe(0);
    const controller = new AbortController();
    const unread = await openHarnessSession(whole.url, { clock }).invoke(PROMPT, {
      signal: controller.signal,
    });
    controller.abort("enough");
    expect(clock.pending).toBe(0);
    expect(await catchRejection(gather(unread))).toMatchObject({
      code: "aborted",
      cause: "enough",
    });
  });
});
